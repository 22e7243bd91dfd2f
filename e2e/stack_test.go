package e2e

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/testdb"
)

// settings are what tests choose of a stack; the zero value is a good one.
type settings struct {
	// class is what carriers.yaml says of the carrier; keyed if empty. The carrier itself is told
	// by its faults.
	class simserver.Mode

	// lease and timeout bound an attempt and its call; 4 s and 2 s if zero.
	lease, timeout time.Duration

	// processing is how long a purchase may take effect after we stopped waiting; 3 s if zero.
	processing time.Duration

	// database is where the database is; a fresh one if empty.
	database string

	// pooled puts a PgBouncer between the programs and the database.
	pooled bool

	// real makes the carrier one of the world.
	real *realCarrier

	// env is more of the programs' environment.
	env []string
}

// stack is one service: a database, a carrier, and any number of programs between them.
type stack struct {
	t       *testing.T
	env     []string
	db      *pgxpool.Pool
	carrier *carrierBox
	key     string // the caller's API key
	client  *http.Client

	// turn spreads requests over the APIs.
	turn atomic.Uint64

	mu   sync.Mutex
	apis []*process

	// programs are all that were started, also those that have ended.
	programs []*process

	// heard is every answer that a client has got, by idempotency key; orders is what it had sent.
	heard  map[string][]answer
	orders map[string]order
}

// newStack makes a service without any programs running yet.
func newStack(t *testing.T, c *carrierBox, s settings) *stack {
	t.Helper()
	if s.database == "" {
		s.database = testdb.URL(t)
	}
	st := &stack{
		t:       t,
		db:      testdb.Pool(t, s.database+"&application_name=witness"),
		carrier: c,
		heard:   map[string][]answer{},
		orders:  map[string]order{},
	}
	if s.pooled || *allPooled {
		s.database = startPooler(t, s.database)
		s.env = append(s.env, "WAYBILL_DB_POOLER=transaction")
	}
	st.env = append([]string{
		// Many stacks share one Postgres.
		"DATABASE_URL=" + s.database + "&pool_max_conns=6",
		"WAYBILL_CARRIERS=" + s.writeCarriers(t, c.url),
		"WAYBILL_API_ADDR=127.0.0.1:0",
		"WAYBILL_ADMIN_ADDR=127.0.0.1:0",
		"WAYBILL_LEASE=" + cmp.Or(s.lease, 4*time.Second).String(),
		"WAYBILL_CARRIER_TIMEOUT=" + cmp.Or(s.timeout, 2*time.Second).String(),
		"WAYBILL_MAX_WORKERS=100",
		// A machine that runs all these tests at once is slow, and that is not what they are about.
		"WAYBILL_ACCEPT_WAIT=30s",
	}, s.env...)
	t.Cleanup(st.explain)
	transport := &http.Transport{MaxIdleConnsPerHost: 128}
	t.Cleanup(transport.CloseIdleConnections)
	st.client = &http.Client{Transport: transport, Timeout: 40 * time.Second}
	st.key = st.createKey("fulfilment")
	return st
}

// writeCarriers writes carriers.yaml with the carrier that the test has chosen.
func (s settings) writeCarriers(t *testing.T, url string) string {
	t.Helper()
	processing := cmp.Or(s.processing, 3*time.Second)
	if s.real != nil {
		return writeEntry(t, s.real.yaml(url, processing))
	}
	return writeCarriers(t, url, s.class, processing)
}

// writeCarriers writes carriers.yaml with one carrier, of the reference protocol.
func writeCarriers(t *testing.T, url string, class simserver.Mode, processing time.Duration) string {
	t.Helper()
	entry := fmt.Sprintf("{name: sim, kind: sim, base_url: %q, account: SIM-1, currency: USD, class: %s", url, cmp.Or(class, simserver.Keyed))
	if class != simserver.Blind {
		entry += ", lookup_processing: " + processing.String()
	}
	return writeEntry(t, entry+"}")
}

// writeEntry writes carriers.yaml with one carrier.
func writeEntry(t *testing.T, entry string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "carriers.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`
default_ship_from: {name: Dispatch, street1: 1 Dock Road, city: Reno, state: NV, postal_code: "89501", country: US,
  phone: "7755550100", email: dock@example.com}
carriers:
  - `+entry+"\n"), 0o600))
	return path
}

// createKey makes an API key as an operator does.
func (s *stack) createKey(caller string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(binaries, "api"),
		"keys", "create", "--caller", caller, "--scopes", "labels:write,labels:read")
	cmd.Env = s.env
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(s.t, err, said.String())
	return strings.TrimSpace(string(out))
}

// startAPI starts an API and returns when it can serve; clients use it from now on.
func (s *stack) startAPI() *process {
	s.t.Helper()
	p := start(s.t, s.env, "api", "serve")
	l := p.awaitLine("where it listens", func(l line) bool { return l.Msg == "listening" })
	p.url, p.admin = "http://"+l.APIAddr, "http://"+l.AdminAddr
	p.awaitReady()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apis, s.programs = append(s.apis, p), append(s.programs, p)
	return p
}

// startWorker starts a worker and returns when it works.
func (s *stack) startWorker() *process {
	s.t.Helper()
	p := start(s.t, s.env, "worker")
	l := p.awaitLine("that it works", func(l line) bool { return l.Msg == "working" })
	p.admin = "http://" + l.AdminAddr
	p.awaitReady()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programs = append(s.programs, p)
	return p
}

// startAll starts two APIs and two workers.
func (s *stack) startAll() {
	s.t.Helper()
	s.startAPI()
	s.startAPI()
	s.startWorker()
	s.startWorker()
}

// api is the API whose turn it is among those that run.
func (s *stack) api() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := uint64(len(s.apis))
	first := s.turn.Add(1)
	for i := range n {
		if p := s.apis[(first+i)%n]; p.running() {
			return p
		}
	}
	return s.apis[0]
}

// count asks the database for a number.
func (s *stack) count(query string) int {
	s.t.Helper()
	var n int
	require.NoError(s.t, s.db.QueryRow(s.t.Context(), query).Scan(&n))
	return n
}

// awaitCount waits until the database gives the number.
func (s *stack) awaitCount(want int, query string) {
	s.t.Helper()
	what := fmt.Sprintf("%s is %d", query, want)
	eventually(s.t, 40*time.Second, what, func() bool { return s.count(query) == want })
}

// explain shows, of a test that failed, what the service wrote down about its carrier calls.
func (s *stack) explain() {
	if !s.t.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), startTimeout)
	defer cancel()
	var text string
	err := s.db.QueryRow(ctx, `
		SELECT coalesce(string_agg(concat_ws(' ', n, kind, outcome, reason, carrier_code, carrier_message), E'\n'), 'none')
		FROM (
			SELECT count(*) AS n, kind, outcome, reason, carrier_code, carrier_message
			FROM carrier_calls
			GROUP BY kind, outcome, reason, carrier_code, carrier_message
			ORDER BY n DESC
			LIMIT 30
		) AS c`).Scan(&text)
	s.t.Logf("the evidence (%v):\n%s", err, text)
}
