package e2e

import (
	"encoding/json/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"waybill/carrier/sim/simserver"
)

// carrierBox is the carrier: in this process where a test needs its hooks, else a program.
type carrierBox struct {
	t      *testing.T
	url    string
	ledger string // the witness

	// sim is nil if the carrier is a program.
	sim *simserver.Server
}

// hooks are called by the carrier in the middle of a purchase.
type hooks struct {
	charged func(simserver.Entry)
	hangs   func()

	// gate, if there is one, is where charges are held.
	gate *gate

	// around may answer in the carrier's place.
	around func(http.Handler) http.Handler
}

// startCarrier starts the carrier in this process.
func startCarrier(t *testing.T, faults simserver.Faults, h hooks) *carrierBox {
	t.Helper()
	c := &carrierBox{t: t, ledger: filepath.Join(t.TempDir(), "ledger.jsonl")}
	if h.gate != nil {
		h.charged = h.gate.charged
	}
	var err error
	c.sim, err = simserver.Open(simserver.Config{
		LedgerPath: c.ledger,
		Faults:     faults,
		Seed:       1,
		Now:        time.Now,
		Logger:     zap.NewNop(),
		OnCharge:   h.charged,
		OnHang:     h.hangs,
	})
	require.NoError(t, err)
	var handler http.Handler = c.sim
	if h.around != nil {
		handler = h.around(c.sim)
	}
	server := httptest.NewServer(handler)
	c.url = server.URL
	t.Cleanup(func() {
		if h.gate != nil {
			h.gate.open()
		}
		c.sim.Drain()
		server.Close()
		require.NoError(t, c.sim.Close())
	})
	return c
}

// startCarrierProgram starts the carrier as the program that it is in the demonstration.
func startCarrierProgram(t *testing.T, args ...string) *carrierBox {
	t.Helper()
	c := &carrierBox{t: t, ledger: filepath.Join(t.TempDir(), "ledger.jsonl")}
	p := start(t, []string{"CARRIERSIM_ADDR=127.0.0.1:0", "CARRIERSIM_LEDGER=" + c.ledger}, "carriersim", args...)
	const announces = "carriersim: listening on "
	eventually(t, startTimeout, "carriersim says where it listens", func() bool {
		for text := range strings.Lines(p.log.String()) {
			if url, ok := strings.CutPrefix(text, announces); ok && strings.HasSuffix(url, "\n") {
				c.url = strings.TrimSpace(url)
			}
		}
		return c.url != ""
	})
	return c
}

// charges reads the witness: every charge, by reference.
func (c *carrierBox) charges() map[string][]simserver.Entry {
	c.t.Helper()
	return c.entries(simserver.Charge)
}

// voids reads the labels that were voided, as charges does.
func (c *carrierBox) voids() map[string][]simserver.Entry {
	c.t.Helper()
	return c.entries(simserver.Void)
}

func (c *carrierBox) entries(kind simserver.Kind) map[string][]simserver.Entry {
	c.t.Helper()
	content, err := os.ReadFile(c.ledger)
	require.NoError(c.t, err)
	entries := map[string][]simserver.Entry{}
	for text := range strings.Lines(string(content)) {
		var e simserver.Entry
		require.NoError(c.t, json.Unmarshal([]byte(text), &e))
		require.Contains(c.t, []simserver.Kind{simserver.Charge, simserver.Void}, e.Kind)
		if e.Kind == kind {
			entries[e.Reference] = append(entries[e.Reference], e)
		}
	}
	return entries
}

// gate holds the carrier's answers back after each charge, until it is opened.
type gate struct {
	reached chan simserver.Entry
	opened  chan struct{}
	once    sync.Once
}

func newGate() *gate {
	return &gate{reached: make(chan simserver.Entry, 1024), opened: make(chan struct{})}
}

func (g *gate) charged(e simserver.Entry) {
	g.reached <- e
	<-g.opened
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }
