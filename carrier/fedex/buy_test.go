package fedex

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// newStand is an adapter in front of a carrier that gives out numbered tokens and leaves the rest to the
// test.
func newStand(t *testing.T, ship http.HandlerFunc) (*Adapter, *atomic.Int64) {
	t.Helper()
	var issued atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/oauth/token" {
			_, _ = fmt.Fprintf(w, `{"access_token": "t%d", "token_type": "bearer", "expires_in": 3599, "scope": "CXS"}`, issued.Add(1))
			return
		}
		ship(w, r)
	}))
	cfg := goodConfig()
	cfg.BaseURL = server.URL
	a, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		a.Close()
		server.Close()
	})
	return a, &issued
}

func TestRefusedTokenIsForgotten(t *testing.T) {
	t.Parallel()
	a, issued := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t2" || r.Header.Get("X-Customer-Transaction-Id") != "REF1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(goodLabel))
	})
	first, second := a.Buy(t.Context(), goodPurchase()), a.Buy(t.Context(), goodPurchase())
	require.Equal(t, carrier.NotBought, first.Outcome)
	require.Equal(t, carrier.Bought, second.Outcome, second.Message)
	require.EqualValues(t, 2, issued.Load())
}

func TestProbeAsksPastTheCache(t *testing.T) {
	t.Parallel()
	a, issued := newStand(t, func(http.ResponseWriter, *http.Request) { t.Error("the probe ships") })
	require.NoError(t, a.Probe(t.Context()))
	before := issued.Load()
	require.NoError(t, a.Probe(t.Context()))
	require.Greater(t, issued.Load(), before)
}
