package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"waybill/carrier"
	"waybill/carrier/sim/simserver"
	"waybill/internal/testdb"
	"waybill/outbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSettingsAreRefusedBeforeAnythingIsOpened(t *testing.T) {
	t.Parallel()
	valid := map[string]string{
		"DATABASE_URL":     "postgres://nobody@127.0.0.1:1/none",
		"WAYBILL_CARRIERS": "/nowhere/carriers.yaml",
	}
	tests := map[string]struct{ name, value, says string }{
		"timeout as long as the lease": {"WAYBILL_CARRIER_TIMEOUT", "30s", "less than the lease"},
		"no lease":                     {"WAYBILL_LEASE", "1ms", "WAYBILL_LEASE"},
		"keys gone at once":            {"WAYBILL_KEY_TTL", "1s", "WAYBILL_KEY_TTL"},
		"no workers":                   {"WAYBILL_MAX_WORKERS", "0", "WAYBILL_MAX_WORKERS"},
		"an address without port":      {"WAYBILL_ADMIN_ADDR", "localhost", "HOST:PORT"},
		"an unknown level":             {"WAYBILL_LOG_LEVEL", "loud", "loud"},
		"no database":                  {"DATABASE_URL", "", "missing flags: --database-url"},
		"a broken database url":        {"DATABASE_URL", "postgres://u:secret@%zz", "DATABASE_URL"},
		"an unknown pooler":            {"WAYBILL_DB_POOLER", "session", "transaction"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := func(name string) string {
				if name == tt.name {
					return tt.value
				}
				return valid[name]
			}
			var stderr bytes.Buffer
			require.Equal(t, 2, run(t.Context(), nil, getenv, io.Discard, &stderr))
			require.Contains(t, stderr.String(), tt.says)
			require.NotContains(t, stderr.String(), "secret")
		})
	}
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestRun starts the whole command, lets it buy, looks at it as an operator would, and stops it.
func TestRun(t *testing.T) {
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
		"DATABASE_URL": url, "WAYBILL_CARRIERS": carriers, "WAYBILL_ADMIN_ADDR": "127.0.0.1:0",
	}

	db := testdb.Pool(t, url)
	box, err := outbox.New(context.WithoutCancel(t.Context()), db, outbox.Config{
		Logger: zaptest.NewLogger(t), Metrics: outbox.NewMetrics(prometheus.NewRegistry()), Now: time.Now,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close(context.WithoutCancel(t.Context()))) })
	address := carrier.Address{Name: "A B", Street1: "1 Main St", City: "Springfield", PostalCode: "62701", Country: "US"}
	accepted, err := box.Accept(t.Context(), outbox.Submission{
		CallerID: "fulfilment", Key: "label:1:1:v1", RequestID: "r1",
		Parcel: outbox.Parcel{OrderID: 1, ParcelNo: 1, LabelVersion: 1}, Carrier: "sim",
		Shipment: carrier.Shipment{Service: "ground", WeightG: 500, ShipFrom: address, ShipTo: address, Format: carrier.PDF},
	})
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var log syncBuffer
	exit := make(chan int, 1)
	go func() {
		exit <- run(ctx, nil, func(name string) string { return settings[name] }, io.Discard, &log)
	}()
	require.Eventually(t, func() bool {
		intent, err := box.Intent(t.Context(), "fulfilment", accepted.IntentID)
		return err == nil && intent.State == outbox.Purchased
	}, 20*time.Second, 5*time.Millisecond, "log: %s", &log)
	require.Len(t, sim.Entries(), 1)

	admin := regexp.MustCompile(`"admin_addr":"([^"]+)"`).FindStringSubmatch(log.String())
	require.NotNil(t, admin)
	for path, want := range map[string]string{
		"/healthz": "alive",
		"/readyz":  `{"status":"ready","breakers":{"sim":"closed"}}`,
		"/metrics": `waybill_carrier_call_seconds_count{carrier="sim",outcome="bought"} 1`,
	} {
		require.Contains(t, get(t, "http://"+admin[1]+path), want)
	}
	require.NotContains(t, log.String(), "Springfield")
	require.NotContains(t, log.String(), "label:1:1:v1")

	stop()
	require.Equal(t, 0, <-exit, "log: %s", &log)
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(body)
}
