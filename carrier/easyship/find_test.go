package easyship

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// newStand is an adapter in front of the handler.
func newStand(t *testing.T, handle http.HandlerFunc) *Adapter {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		handle(w, r)
	}))
	cfg := goodConfig()
	cfg.BaseURL = server.URL + "/2023-01"
	cfg.Capabilities.Lookup = &carrier.Lookup{}
	a, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		a.Close()
		server.Close()
	})
	return a
}

func listed(shipments ...string) string {
	return `{"shipments": [` + strings.Join(shipments, ",") + `], "meta": {"pagination": {"page": 1, "next": null}}}`
}

func named(id, at string) string {
	return strings.NewReplacer("ESUS222372744", id, "2026-12-01T10:00:00Z", at).Replace(goodShipment)
}

func TestFind(t *testing.T) {
	t.Parallel()
	other := strings.Replace(goodShipment, "REF1", "REF2", 1)
	for name, tt := range map[string]struct {
		status int
		body   string
		want   []string // ids
		err    string
	}{
		"None":            {200, listed(), nil, ""},
		"One":             {200, listed(goodShipment), []string{"ESUS222372744"}, ""},
		"OldestFirst":     {200, listed(named("B", "2026-12-01T10:00:01Z"), named("A", "2026-12-01T10:00:00Z")), []string{"A", "B"}, ""},
		"Fractions":       {200, listed(named("B", "2026-12-01T10:00:00.1Z"), named("A", "2026-12-01T10:00:00Z")), []string{"A", "B"}, ""},
		"OddTimes":        {200, listed(named("B", ""), named("A", "today")), []string{"A", "B"}, ""},
		"SameSecond":      {200, listed(named("B", "2026-12-01T10:00:00Z"), named("A", "2026-12-01T10:00:00Z")), []string{"A", "B"}, ""},
		"OtherReference":  {200, listed(other, goodShipment), nil, "of another reference"},
		"OnlyOthers":      {200, listed(other), nil, "of another reference"},
		"OtherUnsold":     {200, listed(strings.Replace(withState("failed"), "REF1", "REF2", 1)), nil, "of another reference"},
		"NoOrder":         {200, listed(strings.Replace(goodShipment, `"order_data"`, `"order"`, 1)), nil, "without an order number"},
		"NoOrderNumber":   {200, listed(strings.Replace(goodShipment, `"REF1"`, `null`, 1)), nil, "without an order number"},
		"OddOrderNumber":  {200, listed(strings.Replace(goodShipment, `"REF1"`, `7`, 1)), nil, "not a list"},
		"NeverBought":     {200, listed(withState("not_created")), nil, ""},
		"Failed":          {200, listed(withState("failed")), nil, ""},
		"Pending":         {200, listed(withState("pending")), nil, "still being made"},
		"Generating":      {200, listed(goodShipment, withState("generating")), nil, "still being made"},
		"TechnicalFailed": {200, listed(withState("technical_failed")), nil, "still being made"},
		"AnotherState":    {200, listed(withState("done")), nil, "still being made"},
		"NoState":         {200, listed(withState("")), nil, "cannot be read"},
		"NoTracking":      {200, listed(strings.Replace(goodShipment, "9405509104250026972189", "", 1)), nil, "not complete"},
		"NoPrice":         {200, listed(strings.Replace(goodShipment, "6.45", "null", 1)), nil, "not complete"},
		"OtherMoney":      {200, listed(strings.ReplaceAll(goodShipment, "USD", "CAD")), nil, "account's currency"},
		"NoMember":        {200, `{}`, nil, "not a list"},
		"NullMember":      {200, `{"shipments": null}`, nil, "not a list"},
		"NotFound":        {404, listed(), nil, "status 404"},
		"Page":            {200, `<html>`, nil, "not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newStand(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/2023-01/shipments" || r.URL.Query().Get("platform_order_number") != "REF1" {
					w.WriteHeader(http.StatusTeapot)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			})
			labels, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.NotNil(t, labels)
			var ids []string
			for _, l := range labels {
				ids = append(ids, l.ID)
			}
			require.Equal(t, tt.want, ids)
		})
	}
}

func TestFindVoided(t *testing.T) {
	t.Parallel()
	a := newStand(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(listed(withState(stateVoided)))) })
	labels, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.NoError(t, err)
	require.True(t, labels[0].Voided)
}

// TestFindCountsALabelOnce: pages shift while they are read, and nothing was bought twice.
func TestFindCountsALabelOnce(t *testing.T) {
	t.Parallel()
	a := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		next := map[string]string{"1": "2", "2": "null"}[r.URL.Query().Get("page")]
		_, _ = fmt.Fprintf(w, `{"shipments": [%s], "meta": {"pagination": {"next": %s}}}`, named("S1", "2026-12-01T10:00:00Z"), next)
	})
	labels, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.NoError(t, err)
	require.Len(t, labels, 1)
}

// TestFindReadsAllPages: the label that matters may stand on the last. After that none is asked for.
func TestFindReadsAllPages(t *testing.T) {
	t.Parallel()
	full := strings.Repeat(withState("failed")+",", perPage-1)
	for name, metas := range map[string][]string{
		"Numbers":  {`{"pagination": {"page": 1, "next": 2}}`, `{"pagination": {"next": 3}}`, `{"pagination": {"next": null}}`},
		"Links":    {`{"pagination": {"next": "https://x/?page=2"}}`, `{"pagination": {"next": "https://x/?page=3"}}`, `{"pagination": {"next": null}}`},
		"NoWord":   {`{}`, `{"request_id": "r"}`, ``},
		"NoNumber": {`{"pagination": {"count": 300}}`, `{"pagination": {"count": 300}}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newStand(t, func(w http.ResponseWriter, r *http.Request) {
				page, err := strconv.Atoi(r.URL.Query().Get("page"))
				if err != nil || page > len(metas) {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				body := full + named(fmt.Sprintf("S%d", page), fmt.Sprintf("2026-12-01T10:00:0%dZ", page))
				if metas[page-1] == "" {
					_, _ = w.Write([]byte(`{"shipments": []}`))
					return
				}
				_, _ = fmt.Fprintf(w, `{"shipments": [%s], "meta": %s}`, body, metas[page-1])
			})
			labels, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(labels), 2)
			require.Equal(t, "S1", labels[0].ID)
			require.Equal(t, fmt.Sprintf("S%d", len(labels)), labels[len(labels)-1].ID)
		})
	}
}

func TestFindThatNeverEndsIsAnError(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	a := newStand(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = w.Write([]byte(`{"shipments": [], "meta": {"pagination": {"next": 2}}}`))
	})
	_, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.ErrorContains(t, err, "not all were seen")
	require.EqualValues(t, maxPages, calls.Load())
}

// TestVoidTwice: the second is refused without a code of its own, and the state tells why.
func TestVoidTwice(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]carrier.VoidState{stateVoided: carrier.Voided, "generated": carrier.VoidRefused} {
		a := newStand(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = w.Write([]byte(failure("invalid_content")))
				return
			}
			_, _ = w.Write([]byte(`{"shipment": ` + withState(state) + `}`))
		})
		require.Equal(t, want, a.Void(t.Context(), "ESUS222372744").State)
	}
}

// TestDocument: inline, or from an allowed host.
func TestDocument(t *testing.T) {
	t.Parallel()
	const inline = `"base64_encoded_strings": ["JVBERi0="]`
	for name, tt := range map[string]struct {
		with string // in the place of the inline document; HOST is the carrier's own
		want string
		err  string
	}{
		"Inline":        {inline, "%PDF-", ""},
		"AtTheCarrier":  {`"url": "HOST/files/label.pdf"`, "%PDF-1.7", ""},
		"Elsewhere":     {`"url": "http://elsewhere.example/x"`, "", "does not allow"},
		"Nowhere":       {`"url": null`, "", "has none of format pdf"},
		"NotAPDFInline": {`"base64_encoded_strings": ["PGh0bWw+"]`, "", "has none of format pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a *Adapter
			a = newStand(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/files/label.pdf" {
					_, _ = w.Write([]byte("%PDF-1.7"))
					return
				}
				document := strings.Replace(tt.with, "HOST", strings.TrimSuffix(a.cfg.BaseURL, version), 1)
				_, _ = w.Write([]byte(strings.Replace(goodLabel, inline, document, 1)))
			})
			d, err := a.Document(t.Context(), carrier.DocumentRequest{LabelID: "ESUS222372744", Format: carrier.PDF})
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, string(d.Content))
			_, err = a.Document(t.Context(), carrier.DocumentRequest{LabelID: "ESUS1", Format: carrier.PDF})
			require.ErrorContains(t, err, "not the shipment")
		})
	}
}
