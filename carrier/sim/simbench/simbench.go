// Package simbench is the bench of [carriertest] whose carrier is the simulator, in any of its
// dialects: it is the same for every adapter but for the adapter.
//
// It is for tests only.
package simbench

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/sim/simserver"
)

// Config says how the simulator behaves behind a bench.
type Config struct {
	Mode   simserver.Mode
	Secret string // what the adapter must know

	// Purchase tells a purchase from what is fetched on the way to one, such as tokens; nil takes
	// every request for one. Only a purchase is intercepted.
	Purchase func(*http.Request) bool

	// Now is the simulator's clock.
	Now func() time.Time
}

// PostTo is a [Config.Purchase] for a carrier that sells at one path only.
func PostTo(path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Path == path }
}

// New starts a simulator with a ledger of its own, and stops it with the test. The adapter is built
// twice, for the simulator's address and for one where nobody listens; without a path in either.
func New(t *testing.T, cfg Config, shipment carrier.Shipment, adapter func(baseURL string) carrier.Carrier) carriertest.Bench {
	t.Helper()
	hanging := make(chan struct{}, 1)
	server, err := simserver.Open(simserver.Config{
		LedgerPath: filepath.Join(t.TempDir(), "ledger.jsonl"),
		Secret:     cfg.Secret,
		Faults:     simserver.Faults{Mode: cfg.Mode},
		Now:        cfg.Now,
		OnHang:     func() { hanging <- struct{}{} },
	})
	require.NoError(t, err)
	var intercept atomic.Pointer[http.Handler]
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cfg.Purchase == nil || cfg.Purchase(r) {
			if h := intercept.Swap(nil); h != nil {
				(*h).ServeHTTP(w, r)
				return
			}
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Drain()
		front.Close()
		require.NoError(t, server.Close())
	})
	return carriertest.Bench{
		Carrier:     adapter(front.URL),
		Unreachable: adapter("http://" + carriertest.Nowhere(t)),
		Shipment:    shipment,
		Fail: func(f carriertest.Fault) {
			rule := simserver.Rule{Fault: simserver.Fault(f), Count: 1}
			require.NoError(t, server.SetFaults(simserver.Faults{Rules: []simserver.Rule{rule}}))
		},
		Intercept: func(h http.Handler) { intercept.Store(&h) },
		Charges:   func(reference string) []carriertest.Charge { return charges(server, reference) },
		Hanging:   hanging,
	}
}

func charges(server *simserver.Server, reference string) []carriertest.Charge {
	var found []carriertest.Charge
	for _, e := range server.Entries() {
		if e.Kind == simserver.Charge && e.Reference == reference {
			found = append(found, carriertest.Charge{
				TrackingNo: e.TrackingNo,
				Cost:       carrier.Money{Cents: e.AmountCents, Currency: e.Currency},
			})
		}
	}
	return found
}
