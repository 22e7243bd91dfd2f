package main

import (
	"context"
	"io"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"waybill/carrier/sim/simserver"
	"waybill/internal/testdb"
	"waybill/outbox"
)

// TestAHangingCarrierHoldsUpNoOther: every call to one carrier hangs, as many as may be under way at
// once, and as many again wait. The other carrier's labels are bought all the same.
func TestAHangingCarrierHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	const atOnce = 2
	hanging := make(chan struct{}, 10*atOnce)
	dead := startSim(t, simserver.Config{
		Faults: simserver.Faults{Rules: []simserver.Rule{{Fault: simserver.HangBeforeCharge}}},
		OnHang: func() { hanging <- struct{}{} },
	})
	alive := startSim(t, simserver.Config{})
	url := testdb.URL(t)
	env := map[string]string{
		"DATABASE_URL": url, "WAYBILL_ADMIN_ADDR": "127.0.0.1:0", "WAYBILL_MAX_WORKERS": "2",
		"WAYBILL_CARRIERS": carriersFile(t, map[string]string{"sim": alive.url, "dead": dead.url}, ""),
	}
	db := testdb.Pool(t, url)
	box, err := outbox.New(context.WithoutCancel(t.Context()), db, outbox.Config{
		Logger: zaptest.NewLogger(t), Metrics: outbox.NewMetrics(prometheus.NewRegistry()), Now: time.Now,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close(context.WithoutCancel(t.Context()))) })
	for n := range int64(2 * atOnce) {
		accept(t, box, n+1, "dead")
	}
	ctx, stop := context.WithCancel(t.Context())
	var log syncBuffer
	exit := make(chan int, 1)
	go func() { exit <- run(ctx, nil, func(name string) string { return env[name] }, io.Discard, &log) }()
	for range atOnce {
		<-hanging
	}
	const orders = 3 * atOnce
	for n := range int64(orders) {
		accept(t, box, 100+n, "sim")
	}
	require.Eventually(t, func() bool { return len(alive.Entries()) == orders },
		30*time.Second, 5*time.Millisecond, "log: %s", &log)
	dead.Drain() // lets the calls under way end
	stop()
	require.Equal(t, 0, <-exit, "log: %s", &log)
	require.Empty(t, dead.Entries())
}

// simBox is a carrier in a box on a port of its own.
type simBox struct {
	*simserver.Server

	url string
}

func startSim(t *testing.T, cfg simserver.Config) simBox {
	t.Helper()
	cfg.LedgerPath, cfg.Now = filepath.Join(t.TempDir(), "ledger.jsonl"), time.Now
	sim, err := simserver.Open(cfg)
	require.NoError(t, err)
	server := httptest.NewServer(sim)
	t.Cleanup(func() {
		sim.Drain()
		server.Close()
		require.NoError(t, sim.Close())
	})
	return simBox{Server: sim, url: server.URL}
}
