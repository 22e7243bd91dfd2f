package shipengine_test

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
	"waybill/carrier/shipengine"
	"waybill/carrier/sim/simserver"
)

const secret = "TEST_secret"

func TestConformance(t *testing.T) {
	t.Parallel()
	carriertest.Run(t, newBench)
}

func newBench(t *testing.T) carriertest.Bench {
	t.Helper()
	hanging := make(chan struct{}, 1)
	server, err := simserver.Open(simserver.Config{
		LedgerPath: filepath.Join(t.TempDir(), "ledger.jsonl"),
		Secret:     secret,
		Faults:     simserver.Faults{Mode: simserver.Lookup},
		Now:        time.Now,
		OnHang:     func() { hanging <- struct{}{} },
	})
	require.NoError(t, err)
	var intercept atomic.Pointer[http.Handler]
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := intercept.Swap(nil); h != nil {
			(*h).ServeHTTP(w, r)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Drain()
		front.Close()
		require.NoError(t, server.Close())
	})
	return carriertest.Bench{
		Carrier:     newAdapter(t, front.URL),
		Unreachable: newAdapter(t, "http://"+carriertest.Nowhere(t)),
		Shipment:    shipment(),
		Fail: func(f carriertest.Fault) {
			rule := simserver.Rule{Fault: simserver.Fault(f), Count: 1}
			require.NoError(t, server.SetFaults(simserver.Faults{Rules: []simserver.Rule{rule}}))
		},
		Intercept: func(h http.Handler) { intercept.Store(&h) },
		Charges:   func(reference string) []carriertest.Charge { return charges(server, reference) },
		Hanging:   hanging,
		Unique:    true,
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

func newAdapter(t *testing.T, baseURL string) *shipengine.Adapter {
	t.Helper()
	a, err := shipengine.New(shipengine.Config{
		Name:         "shipengine",
		BaseURL:      baseURL + "/shipengine/v1",
		Account:      "SIM-1",
		Currency:     "USD",
		Capabilities: carrier.Capabilities{Lookup: &carrier.Lookup{Processing: time.Minute}, Void: true},
		Secret:       secret,
		CarrierID:    "se-123456",
	})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func shipment() carrier.Shipment {
	return carrier.Shipment{
		Service:    "usps_ground_advantage",
		WeightG:    1450,
		Dimensions: &carrier.Dimensions{Length: 300, Width: 200, Height: 120},
		ShipFrom: carrier.Address{
			Name: "Dispatch", Company: "Northwind Depot", Street1: "1 Dock Road", City: "Reno",
			State: "NV", PostalCode: "89501", Country: "US",
		},
		ShipTo: carrier.Address{
			Name: "Zoë Müller", Street1: "12 Fable Street", Street2: "Flat 3", City: "Springfield",
			State: "IL", PostalCode: "62701", Country: "US", Phone: "+1 555 0100",
		},
		Format:       carrier.PDF,
		MaxCostCents: new(int64(2500)),
	}
}
