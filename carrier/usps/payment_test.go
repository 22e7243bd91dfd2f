package usps

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// TestRefusedPayment: without an authorisation nothing goes out, and nothing of the answer gets about.
func TestRefusedPayment(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		access int64 // tokens fetched for two attempts
	}{
		"Refused":      {400, `{"error": {"code": "400", "message": "account 1000405525 is closed"}}`, 1},
		"Unauthorised": {401, `{"error": {"code": "401", "message": "token a1 is no good"}}`, 2},
		"ServerError":  {500, ``, 1},
		"NoToken":      {200, `{}`, 1},
		"NotJSON":      {200, `p1`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var issued, other atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch r.URL.Path {
				case "/oauth2/v3/token":
					_, _ = fmt.Fprintf(w, `{"access_token": "a%d", "token_type": "Bearer", "expires_in": 28799}`, issued.Add(1))
				case "/payments/v3/payment-authorization":
					w.WriteHeader(tt.status)
					_, _ = w.Write([]byte(tt.body))
				default:
					other.Add(1)
				}
			}))
			cfg := goodConfig()
			cfg.BaseURL = server.URL
			a, err := New(cfg)
			require.NoError(t, err)
			t.Cleanup(func() {
				a.Close()
				server.Close()
			})

			made := a.Prepare(t.Context(), goodPurchase())
			r := a.Buy(t.Context(), goodPurchase())

			require.Empty(t, made.RemoteID)
			require.Equal(t, carrier.NotBought, made.Refusal.Outcome)
			require.Equal(t, carrier.NotBought, r.Outcome)
			require.Equal(t, errNoPayment.Error(), r.Message)
			require.Equal(t, carrier.VoidUnknown, a.Void(t.Context(), "92055").State)
			_, err = a.Document(t.Context(), carrier.DocumentRequest{TrackingNo: "92055", Format: carrier.PDF})
			require.ErrorIs(t, err, errNoPayment)
			require.ErrorIs(t, a.Probe(t.Context()), errNoPayment)
			require.Zero(t, other.Load())
			require.GreaterOrEqual(t, issued.Load(), tt.access)
		})
	}
}

// TestTokensRefusedAtAVoid are forgotten too, and so are those refused at a reprint.
func TestTokensRefusedAtAVoid(t *testing.T) {
	t.Parallel()
	a, s := newStand(t, blind, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Payment-Authorization-Token") != "p3" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"trackingNumber": "92055", "status": "CANCELED"}`))
	})
	require.Equal(t, carrier.VoidUnknown, a.Void(t.Context(), "92055").State)
	_, err := a.Document(t.Context(), carrier.DocumentRequest{TrackingNo: "92055", Format: carrier.PDF})
	require.ErrorContains(t, err, "status 401")
	require.Equal(t, carrier.Voided, a.Void(t.Context(), "92055").State)
	require.EqualValues(t, 3, s.access.Load())
}
