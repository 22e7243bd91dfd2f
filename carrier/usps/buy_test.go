package usps

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// stand is a carrier that gives out numbered tokens and leaves the rest to the test.
type stand struct {
	access, payments atomic.Int64
	label            http.HandlerFunc
}

func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/oauth2/v3/token":
		_, _ = fmt.Fprintf(w, `{"access_token": "a%d", "token_type": "Bearer", "expires_in": 28799}`, s.access.Add(1))
	case "/payments/v3/payment-authorization":
		_, _ = fmt.Fprintf(w, `{"paymentAuthorizationToken": "p%d"}`, s.payments.Add(1))
	default:
		s.label(w, r)
	}
}

func newStand(t *testing.T, change func(*Config), label http.HandlerFunc) (*Adapter, *stand) {
	t.Helper()
	s := &stand{label: label}
	server := httptest.NewServer(s)
	cfg := goodConfig()
	cfg.BaseURL = server.URL
	change(&cfg)
	a, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		a.Close()
		server.Close()
	})
	return a, s
}

func keyed(c *Config) {
	c.HonoursKey, c.Capabilities.Key = true, &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour}
}

func blind(*Config) {}

func TestRefusedTokensAreForgotten(t *testing.T) {
	t.Parallel()
	a, s := newStand(t, blind, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer a2" || r.Header.Get("X-Payment-Authorization-Token") != "p2" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", labelsJSON)
		_, _ = w.Write([]byte(goodLabel))
	})
	p := goodPurchase()
	first, second := a.Buy(t.Context(), p), a.Buy(t.Context(), p)
	require.Equal(t, carrier.NotBought, first.Outcome)
	require.Equal(t, carrier.Bought, second.Outcome, second.Message)
	require.EqualValues(t, 2, s.access.Load())
	require.EqualValues(t, 2, s.payments.Load())
}

func TestPaymentIsAuthorisedOnce(t *testing.T) {
	t.Parallel()
	now := new(atomic.Int64)
	a, s := newStand(t, func(c *Config) {
		c.Now = func() time.Time { return time.Unix(now.Load(), 0) }
	}, http.NotFound)
	var waiting sync.WaitGroup
	for range 20 {
		waiting.Go(func() {
			made := a.Prepare(t.Context(), carrier.Purchase{})
			require.Equal(t, "1970-01-01", made.RemoteID, "%s", made.Refusal.Message)
		})
	}
	waiting.Wait()
	require.EqualValues(t, 1, s.payments.Load())
	now.Add(int64(paymentAge / time.Second))
	a.Prepare(t.Context(), carrier.Purchase{})
	require.EqualValues(t, 2, s.payments.Load())
	require.EqualValues(t, 1, s.access.Load())
}

// TestMailingDate: the date is chosen once, and a repeat past midnight has the bytes of the first call.
func TestMailingDate(t *testing.T) {
	t.Parallel()
	evening := time.Date(2026, 12, 1, 23, 59, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		config func(*Config)
		sent   int64 // calls that went out
	}{
		"Keyed": {keyed, 2},
		"Blind": {blind, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var now atomic.Pointer[time.Time]
			set := func(at time.Time) { now.Store(&at) }
			set(evening)
			var calls atomic.Int64
			a, _ := newStand(t, func(c *Config) {
				tt.config(c)
				c.MailingDays, c.Now = 1, func() time.Time { return *now.Load() }
			}, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(refused))
			})
			p := goodPurchase()
			p.RemoteID = a.Prepare(t.Context(), p).RemoteID
			require.Equal(t, "2026-12-02", p.RemoteID)
			set(evening.Add(24 * time.Hour)) // the mailing date itself is not over
			require.Equal(t, carrier.Rejected, a.Buy(t.Context(), p).Outcome)
			set(evening.Add(25 * time.Hour))
			r := a.Buy(t.Context(), p)
			require.Equal(t, carrier.NotBought, r.Outcome)
			require.True(t, r.Renew)
			require.True(t, r.AboutOrder)
			require.Equal(t, tt.sent, calls.Load())
		})
	}
}

func TestNothingIsBoughtWithoutADate(t *testing.T) {
	t.Parallel()
	a, _ := newStand(t, keyed, func(http.ResponseWriter, *http.Request) { t.Error("an order went out") })
	for _, id := range []string{"", "2026-12-01x", "shp_1"} {
		p := goodPurchase()
		p.RemoteID = id
		r := a.Buy(t.Context(), p)
		require.Equal(t, carrier.NotBought, r.Outcome)
		require.True(t, r.Renew)
		require.True(t, r.AboutOrder)
	}
}

// TestReprintOfAnother: a key that names another label prints nothing on this one's parcel.
func TestReprintOfAnother(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"labelMetadata": {"trackingNumber": "92055"}, "labelImage": "JVBERi0="}`: "",
		`{"trackingNumber": "92055", "labelImage": "JVBERi0="}`:                    "",
		`{"labelMetadata": {"trackingNumber": "92056"}, "labelImage": "JVBERi0="}`: "another label",
		`{"trackingNumber": "92056", "labelImage": "JVBERi0="}`:                    "another label",
		`{"labelMetadata": "?", "labelImage": "JVBERi0="}`:                         "not readable",
		`{"labelMetadata": {"labelImage": "JVBERi0="}}`:                            "not a file of format pdf",
	} {
		a, _ := newStand(t, keyed, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		d, err := a.Document(t.Context(), carrier.DocumentRequest{TrackingNo: "92055", CarrierKey: "carrier:c:k", Format: carrier.PDF})
		if want == "" {
			require.NoError(t, err, body)
			continue
		}
		require.ErrorContains(t, err, want, body)
		require.ErrorIs(t, err, carrier.ErrNoDocument, "it was printed, and must not be again")
		require.Empty(t, d.Content, body)
	}
}

// TestReprintThatIsCutOffIsAskedForAgain, and so is one that was refused.
func TestReprintThatIsCutOffIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for want, reply := range map[string]http.HandlerFunc{
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4096")
			_, _ = w.Write([]byte(`{"labelImage": "JVBERi0=`))
		},
		"not the carrier's": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>OK</html>"))
		},
		"status 503": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	} {
		a, _ := newStand(t, keyed, reply)
		_, err := a.Document(t.Context(), carrier.DocumentRequest{TrackingNo: "92055", CarrierKey: "carrier:c:k", Format: carrier.PDF})
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, carrier.ErrNoDocument)
	}
}

// TestReprint: by key where one is honoured, else by tracking number.
func TestReprint(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config    func(*Config)
		path, key string
	}{
		"Keyed": {keyed, "/labels/v3/label-reprint", wireKey("carrier:c:k")},
		"Blind": {blind, "/labels/v3/label-reprint/92055", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := newStand(t, tt.config, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != tt.path || r.Header.Get("X-Idempotency-Key") != tt.key || r.Header.Get("Accept") != labelsJSON {
					w.WriteHeader(http.StatusTeapot)
				}
				_, _ = w.Write([]byte(`{"labelMetadata": {}, "labelImage": "JVBERi0=", "reprintInfo": {"reprintNumber": 1, "reprintLimit": 3}}`))
			})
			d, err := a.Document(t.Context(), carrier.DocumentRequest{TrackingNo: "92055", CarrierKey: "carrier:c:k", Format: carrier.PDF})
			require.NoError(t, err)
			require.Equal(t, "%PDF-", string(d.Content))
			_, err = a.Document(t.Context(), carrier.DocumentRequest{TrackingNo: "92055", CarrierKey: "carrier:c:k", Format: carrier.PNG})
			require.ErrorContains(t, err, "not a file of format png")
		})
	}
}
