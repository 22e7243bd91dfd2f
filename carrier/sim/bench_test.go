package sim_test

import (
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/sim"
	"waybill/carrier/sim/simserver"
)

// BenchmarkBuy is adapter and carrier together, over HTTP and with every charge on disk.
func BenchmarkBuy(b *testing.B) {
	server, err := simserver.Open(simserver.Config{LedgerPath: filepath.Join(b.TempDir(), "ledger.jsonl"), Now: time.Now})
	require.NoError(b, err)
	front := httptest.NewServer(server)
	adapter, err := sim.New(sim.Config{
		Name: "sim", BaseURL: front.URL, Account: "SIM-1", Currency: "USD", Capabilities: classes[simserver.Keyed],
	})
	require.NoError(b, err)
	b.Cleanup(func() {
		adapter.Close()
		front.Close()
		require.NoError(b, server.Close())
	})
	var n atomic.Int64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			id := strconv.FormatInt(n.Add(1), 10)
			r := adapter.Buy(b.Context(), carrier.Purchase{CarrierKey: "carrier:c:" + id, Reference: "R" + id, Shipment: shipment()})
			if r.Outcome != carrier.Bought {
				b.Errorf("purchase %s: %s %s", id, r.Outcome, r.Code)
			}
		}
	})
}
