package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"waybill/carrier"
	"waybill/carrier/sim/simserver"
	"waybill/internal/testdb"
	"waybill/outbox"
)

// TestRiverSettings: River's clocks are set, all of them, and none runs out before a lease.
func TestRiverSettings(t *testing.T) {
	t.Parallel()
	for _, lease := range []time.Duration{minLease, 30 * time.Second, time.Hour} {
		w := worker{settings: settings{MaxWorkers: 7}, logger: zaptest.NewLogger(t), longestLease: lease}
		s := w.settingsForRiver()
		require.GreaterOrEqual(t, s.config.JobTimeout, lease)
		require.GreaterOrEqual(t, s.config.JobStuckThreshold, lease)
		require.Greater(t, s.config.RescueStuckJobsAfter, s.config.JobTimeout, "a job that runs is not rescued")
		require.True(t, s.config.PollOnly, "nobody waits for a notification")
	}
}

// TestEveryProcessHasANameOfItsOwn: whoever starts again on the same machine is not who died there.
func TestEveryProcessHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	box, err := outbox.New(t.Context(), db, outbox.Config{
		Logger: zaptest.NewLogger(t), Metrics: outbox.NewMetrics(prometheus.NewRegistry()), Now: time.Now,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close(context.WithoutCancel(t.Context()))) })
	buyer, err := box.NewBuyer(nil)
	require.NoError(t, err)
	w := worker{settings: settings{MaxWorkers: 1}, logger: zaptest.NewLogger(t), longestLease: time.Second}
	names := map[string]bool{}
	for range 3 {
		client, err := newRiver(db, buyer, box.NewFetcher(nil), box.NewVoider(nil), w.settingsForRiver())
		require.NoError(t, err)
		names[client.ID()] = true
	}
	require.Len(t, names, 3)
}

// TestTheHeadOfTheQueueStopsNobody: the oldest jobs, more of them than the worker takes at once, fail
// for ever: of a carrier nobody knows, of args nobody can read, of a kind nobody works. What comes
// behind them is bought all the same.
func TestTheHeadOfTheQueueStopsNobody(t *testing.T) {
	t.Parallel()
	sim, err := simserver.Open(simserver.Config{
		LedgerPath: filepath.Join(t.TempDir(), "ledger.jsonl"),
		Carrier:    "sim", Account: "SIM-1", Currency: "USD",
		Faults: simserver.Faults{Mode: simserver.Keyed},
		Now:    time.Now, Logger: zaptest.NewLogger(t),
	})
	require.NoError(t, err)
	server := httptest.NewServer(sim)
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, sim.Close())
	})
	carriers := filepath.Join(t.TempDir(), "carriers.yaml")
	require.NoError(t, os.WriteFile(carriers, fmt.Appendf(nil, `
default_carrier: sim
carriers:
  - {name: sim, kind: sim, base_url: %q, account: SIM-1, currency: USD, class: keyed}
`, server.URL), 0o600))
	url := testdb.URL(t)
	settings := map[string]string{
		"DATABASE_URL": url, "WAYBILL_CARRIERS": carriers, "WAYBILL_ADMIN_ADDR": "127.0.0.1:0", "WAYBILL_MAX_WORKERS": "2",
	}
	db := testdb.Pool(t, url)
	box, err := outbox.New(context.WithoutCancel(t.Context()), db, outbox.Config{
		Logger: zaptest.NewLogger(t), Metrics: outbox.NewMetrics(prometheus.NewRegistry()), Now: time.Now,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close(context.WithoutCancel(t.Context()))) })

	const head = 20
	for n := range int64(head) {
		accept(t, box, n+1, "dove")
	}
	_, err = db.Exec(t.Context(), `
		INSERT INTO river_job (state, args, kind, max_attempts, queue)
		SELECT 'available', '{"intent_id": 7}', kind, 100, 'labels'
		FROM generate_series(1, $1) AS n, (VALUES ('buy_label'), ('sell_label')) AS k (kind)`, head)
	require.NoError(t, err)
	behind := accept(t, box, head+1, "sim")

	ctx, stop := context.WithCancel(t.Context())
	var log syncBuffer
	exit := make(chan int, 1)
	go func() {
		exit <- run(ctx, nil, func(name string) string { return settings[name] }, io.Discard, &log)
	}()
	require.Eventually(t, func() bool {
		intent, err := box.Intent(t.Context(), "fulfilment", behind.IntentID)
		return err == nil && intent.State == outbox.Purchased
	}, 30*time.Second, 5*time.Millisecond, "log: %s", &log)
	stop()
	require.Equal(t, 0, <-exit, "log: %s", &log)
	require.Len(t, sim.Entries(), 1)
}

// accept orders a label of a carrier.
func accept(t *testing.T, box *outbox.Outbox, order int64, name string) outbox.Answer {
	t.Helper()
	address := carrier.Address{Name: "A B", Street1: "1 Main St", City: "Springfield", PostalCode: "62701", Country: "US"}
	accepted, err := box.Accept(t.Context(), outbox.Submission{
		CallerID: "fulfilment", Key: fmt.Sprintf("label:%d:1:v1", order), RequestID: "r1",
		Parcel: outbox.Parcel{OrderID: order, ParcelNo: 1, LabelVersion: 1}, Carrier: name,
		Shipment: carrier.Shipment{Service: "ground", WeightG: 500, ShipFrom: address, ShipTo: address, Format: carrier.PDF},
	})
	require.NoError(t, err)
	return accepted
}
