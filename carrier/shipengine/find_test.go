package shipengine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
)

// talk is an adapter before a carrier that knows these answers, by method, path and query.
func talk(t *testing.T, answers map[string]string) (*Adapter, *[]string) {
	t.Helper()
	baseURL, asked := carriertest.Talk(t, answers, errorBody("not_found"), errorBody("some_code"))
	cfg := good()
	cfg.BaseURL = baseURL
	a, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a, asked
}

func list(total, pages int, labels ...string) string {
	return fmt.Sprintf(`{"labels": [%s], "total": %d, "page": 1, "pages": %d, "links": {}}`, strings.Join(labels, ","), total, pages)
}

func numbered(n int) string { return strings.Replace(sold, "se-9", fmt.Sprintf("se-9%d", n), 1) }

func pageURL(n int) string {
	return fmt.Sprintf("GET /labels?page=%d&page_size=25&shipment_id=se-1", n)
}

func TestFind(t *testing.T) {
	t.Parallel()
	const byReference = "GET /shipments/external_shipment_id/REF1"
	const known = `{"shipment_id": "se-1", "external_shipment_id": "REF1"}`
	failed := `{"label_id": "se-8", "status": "error", "shipment_id": "se-1"}`
	byID := carrier.Query{Reference: "REF1", RemoteID: "se-1"}
	byRef := carrier.Query{Reference: "REF1"}
	for name, tt := range map[string]struct {
		query   carrier.Query
		answers map[string]string
		want    []string // label ids; nil for an error
	}{
		"None":                {byID, map[string]string{pageURL(1): list(0, 0)}, []string{}},
		"One":                 {byID, map[string]string{pageURL(1): list(1, 1, sold)}, []string{"se-9"}},
		"OldestFirst":         {byID, map[string]string{pageURL(1): list(2, 1, numbered(2), numbered(1))}, []string{"se-91", "se-92"}},
		"TwoPages":            {byID, map[string]string{pageURL(1): list(2, 2, numbered(2)), pageURL(2): list(2, 2, numbered(1))}, []string{"se-91", "se-92"}},
		"SecondPageFails":     {byID, map[string]string{pageURL(1): list(2, 2, sold), pageURL(2): "status 429"}, nil},
		"FewerThanCounted":    {byID, map[string]string{pageURL(1): list(2, 1, sold)}, nil},
		"OneTwiceOneNot":      {byID, map[string]string{pageURL(1): list(2, 2, sold), pageURL(2): list(2, 2, sold)}, nil},
		"OneListedTwice":      {byID, map[string]string{pageURL(1): list(1, 2, sold), pageURL(2): list(1, 2, sold)}, []string{"se-9"}},
		"OtherMoney":          {byID, map[string]string{pageURL(1): list(1, 1, strings.ReplaceAll(sold, "usd", "cad"))}, nil},
		"NoneButCounted":      {byID, map[string]string{pageURL(1): list(1, 1)}, nil},
		"NotAList":            {byID, map[string]string{pageURL(1): `{"total": 0, "pages": 0}`}, nil},
		"DoesNotCount":        {byID, map[string]string{pageURL(1): `{"labels": [], "pages": 0}`}, nil},
		"DoesNotSayItsPages":  {byID, map[string]string{pageURL(1): `{"labels": [], "total": 0}`}, nil},
		"FilterWasIgnored":    {byID, map[string]string{pageURL(1): list(1, 1, strings.Replace(sold, "se-1", "se-2", 1))}, nil},
		"StillBeingMade":      {byID, map[string]string{pageURL(1): list(1, 1, strings.Replace(sold, "completed", "processing", 1))}, nil},
		"MakingFailed":        {byID, map[string]string{pageURL(1): list(2, 1, failed, sold)}, []string{"se-9"}},
		"FailedWithTracking":  {byID, map[string]string{pageURL(1): list(1, 1, strings.Replace(sold, "completed", "error", 1))}, nil},
		"NewStatus":           {byID, map[string]string{pageURL(1): list(1, 1, strings.Replace(sold, "completed", "queued", 1))}, nil},
		"WithoutTracking":     {byID, map[string]string{pageURL(1): list(1, 1, strings.Replace(sold, `"tracking_number"`, `"x"`, 1))}, nil},
		"OtherAccount":        {byID, map[string]string{pageURL(1): list(1, 1, strings.Replace(sold, "se-5", "se-6", 1))}, nil},
		"NotFoundIsNotNone":   {byID, nil, nil},
		"ForeignRemoteID":     {carrier.Query{Reference: "REF1", RemoteID: "shp_1,rate_1"}, nil, nil},
		"ByReference":         {byRef, map[string]string{byReference: known, pageURL(1): list(1, 1, sold)}, []string{"se-9"}},
		"NoSuchReference":     {byRef, nil, []string{}},
		"ReferenceOfAnother":  {byRef, map[string]string{byReference: strings.Replace(known, "REF1", "REF2", 1)}, nil},
		"ReferenceCannotBe":   {byRef, map[string]string{byReference: "status 500"}, nil},
		"ReferenceIsNoObject": {byRef, map[string]string{byReference: `[]`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := talk(t, tt.answers)
			found, err := a.Find(t.Context(), tt.query)
			require.Equal(t, tt.want == nil, err != nil, "%v", err)
			if tt.want == nil {
				return
			}
			ids := []string{}
			for _, l := range found {
				require.Equal(t, "REF1", l.Reference)
				ids = append(ids, l.ID)
			}
			require.Equal(t, tt.want, ids)
		})
	}
}

// TestFindSaysThatALabelIsStillBeingMade: whoever reads the intent's evidence knows what to wait for.
func TestFindSaysThatALabelIsStillBeingMade(t *testing.T) {
	t.Parallel()
	a, _ := talk(t, map[string]string{pageURL(1): list(1, 1, strings.Replace(sold, "completed", "processing", 1))})
	_, err := a.Find(t.Context(), carrier.Query{Reference: "REF1", RemoteID: "se-1"})
	require.EqualError(t, err, "looking up reference REF1: a label is still being made")
}

func TestFindShowsVoidedLabels(t *testing.T) {
	t.Parallel()
	for _, body := range []string{strings.Replace(sold, "completed", "voided", 1), strings.Replace(sold, `"voided": false`, `"voided": true`, 1)} {
		a, _ := talk(t, map[string]string{pageURL(1): list(1, 1, body)})
		found, err := a.Find(t.Context(), carrier.Query{Reference: "REF1", RemoteID: "se-1"})
		require.NoError(t, err)
		require.True(t, found[0].Voided)
	}
}

// TestFindGivesUpOnAnEndlessList: what was not seen to its end is not "none".
func TestFindGivesUpOnAnEndlessList(t *testing.T) {
	t.Parallel()
	answers := map[string]string{}
	for n := range maxPages + 1 {
		answers[pageURL(n+1)] = list(1000, 1000, sold)
	}
	a, asked := talk(t, answers)
	_, err := a.Find(t.Context(), carrier.Query{Reference: "REF1", RemoteID: "se-1"})
	require.ErrorContains(t, err, "not all were seen")
	require.Len(t, *asked, maxPages)
}

func TestFindWithoutLookup(t *testing.T) {
	t.Parallel()
	a := adapter()
	a.cfg.Capabilities.Lookup = nil
	_, err := a.Find(t.Context(), carrier.Query{Reference: "REF1"})
	require.ErrorIs(t, err, carrier.ErrNoLookup)
}

func TestVoidNotOffered(t *testing.T) {
	t.Parallel()
	a := adapter()
	a.cfg.Capabilities.Void = false
	require.Equal(t, "not_offered", a.Void(t.Context(), "se-9").Code)
}

func TestProbe(t *testing.T) {
	t.Parallel()
	a, _ := talk(t, map[string]string{"GET /labels?page_size=1": list(0, 0)})
	require.NoError(t, a.Probe(t.Context()))
	a, _ = talk(t, map[string]string{"GET /labels?page_size=1": "status 401"})
	require.ErrorContains(t, a.Probe(t.Context()), "status 401")
}

func TestDocumentOnlyFromAllowedHosts(t *testing.T) {
	t.Parallel()
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("API-Key") != "" {
			t.Error("the key went to another host")
		}
		_, _ = w.Write([]byte("%PDF-"))
	}))
	t.Cleanup(files.Close)
	body := `{"label_id": "se-9", "label_format": "pdf", "label_download": {"href": "` + files.URL + `/1.pdf"}}`
	a, _ := talk(t, map[string]string{"GET /labels/se-9": body, "GET /labels/se-8": body})
	r := carrier.DocumentRequest{LabelID: "se-9", Format: carrier.PDF}
	_, err := a.Document(t.Context(), r)
	require.ErrorContains(t, err, "document_hosts")

	a.cfg.DocumentHosts = []string{files.Listener.Addr().String()}
	d, err := a.Document(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, carrier.PDF, d.Format)

	for id, want := range map[string]string{"se-8": "not the label", "se-7": "status 404", "../x": "not an id of this carrier"} {
		_, err = a.Document(t.Context(), carrier.DocumentRequest{LabelID: id, Format: carrier.PDF})
		require.ErrorContains(t, err, want)
	}
	r.Format = carrier.ZPL
	_, err = a.Document(t.Context(), r)
	require.ErrorContains(t, err, "no document of format zpl")
}
