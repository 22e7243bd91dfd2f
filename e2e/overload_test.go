//go:build overload

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/pgcluster"
	"waybill/internal/testdb"
	"waybill/migrations"
)

var overloadDuration = flag.Duration("overload.duration", time.Minute, "how long twice the capacity is offered; all else lasts a third of that, or twice as long")

const (
	// backWithin is how soon after an overload everything is as before.
	backWithin = 10 * time.Second

	// residentMost is what a program may take up of memory.
	residentMost = 256 << 20

	// warmUp is the part of a load that is not counted: connections are opened in it.
	warmUp = time.Second
)

// TestOverload measures what the service can do, offers it twice as much, and looks at what its callers
// and its operator see; then one caller that floods it, and a carrier that is away. Everything runs on
// this one machine, the load too, so only ratios within one run mean something.
//
//nolint:paralleltest // It wants the machine to itself.
func TestOverload(t *testing.T) {
	o := newOverload(t)
	o.flood()
	o.noise()
	o.outage()
	o.report()
}

// overload is one run: the service, and what was seen of it.
type overload struct {
	*verdicts

	t        *testing.T
	dir      string
	duration time.Duration
	db       *pgxpool.Pool
	env      []string
	carrier  *carrierBox
	api      *player
	worker   *player
	key      string
	load     *loader

	// capacity is what was accepted a second in a closed loop by so many clients.
	capacity float64
	clients  int

	loadBefore string

	// weighted is true if the load and the API got their processors before the others.
	weighted bool

	// What the flood was answered altogether.
	accepted, refused, unclear int

	mu   sync.Mutex
	peak map[string]int64 // resident memory, by program
}

func newOverload(t *testing.T) *overload {
	t.Helper()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{Log: t.Output(), Durable: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), cluster.URL("postgres")))
	o := &overload{
		verdicts:   &verdicts{},
		t:          t,
		dir:        t.ArtifactDir(),
		duration:   *overloadDuration,
		db:         testdb.Pool(t, cluster.URL("postgres")),
		peak:       map[string]int64{},
		loadBefore: loadAverage(),
		weighted:   goesFirst(os.Getpid()) == nil,
	}
	o.startCarrier()
	o.env = []string{
		"DATABASE_URL=" + cluster.URL("postgres"),
		"WAYBILL_CARRIERS=" + writeCarriers(t, o.carrier.url, "", 3*time.Second),
		"WAYBILL_API_ADDR=127.0.0.1:0", "WAYBILL_ADMIN_ADDR=127.0.0.1:0", "WAYBILL_MAX_WORKERS=100",
	}
	o.key = o.createKey("fulfilment")
	o.api = o.start("api", "api", o.env, "serve")
	o.worker = o.start("worker", "worker", o.env)
	o.load, err = newLoader(o.api.address(), 0)
	require.NoError(t, err)
	return o
}

func (o *overload) createKey(caller string) string {
	o.t.Helper()
	return (&stack{t: o.t, env: o.env}).createKey(caller)
}

// start starts a program and returns when it serves.
func (o *overload) start(name, program string, env []string, args ...string) *player {
	o.t.Helper()
	p := o.launch(name, program, env, args...)
	eventually(o.t, castTimeout, name+" is ready", func() bool {
		l := p.now()
		return l != nil && l.ready(o.t.Context())
	})
	return p
}

// launch starts a program.
func (o *overload) launch(name, program string, env []string, args ...string) *player {
	o.t.Helper()
	p := newPlayer(o.dir, name, program, env, args...)
	p.apart, p.first = true, program == "api"
	go p.supervise()
	o.t.Cleanup(p.close)
	return p
}

// startCarrier starts a carrier that answers after 10 to 30 ms.
func (o *overload) startCarrier() {
	o.t.Helper()
	addr := stablePort(o.t)
	o.carrier = &carrierBox{t: o.t, url: "http://" + addr, ledger: filepath.Join(o.dir, "ledger.jsonl")}
	o.launch("carrier", "carriersim", []string{"CARRIERSIM_ADDR=" + addr, "CARRIERSIM_LEDGER=" + o.carrier.ledger},
		"--latency", "10ms", "--latency-spread", "20ms")
}

// open offers so many requests a second for a time, and returns what came of it after the warm-up.
func (o *overload) open(perSecond float64, duration time.Duration) figures {
	o.t.Helper()
	shots, err := o.load.open(o.t.Context(), duration, source{o.key, perSecond})
	require.NoError(o.t, err)
	o.sum(shots)
	return count(shots, warmUp, duration, -1)
}

// closed lets so many clients do what they can, and returns what that was.
func (o *overload) closed(clients int, duration time.Duration) figures {
	o.t.Helper()
	shots, err := o.load.closed(o.t.Context(), duration, clients, o.key)
	require.NoError(o.t, err)
	o.sum(shots)
	return count(shots, warmUp, duration, -1)
}

func (o *overload) sum(shots []shot) {
	f := count(shots, 0, math.MaxInt64, -1)
	o.accepted, o.refused, o.unclear = o.accepted+f.accepted, o.refused+f.refused, o.unclear+f.other
}

// pending is how many intents are not bought yet.
func (o *overload) pending() int {
	o.t.Helper()
	var n int
	require.NoError(o.t, o.db.QueryRow(o.t.Context(), `
		SELECT count(*) FROM label_intents WHERE state IN ('pending', 'in_doubt')`).Scan(&n))
	return n
}

// drained waits until everything is bought, and returns how long that took. It looks seldom: to count
// what is left costs what it waits for.
func (o *overload) drained() time.Duration {
	o.t.Helper()
	began := time.Now()
	for o.pending() > 0 {
		require.Less(o.t, time.Since(began), 10*time.Minute, "everything is bought")
		time.Sleep(200 * time.Millisecond) //nolint:forbidigo // Each look is a measurement.
	}
	return time.Since(began)
}

// vitals are what a program takes up now.
func (o *overload) vitals(p *player) vitals {
	o.t.Helper()
	v, _, err := p.now().measure(o.t.Context())
	require.NoError(o.t, err)
	return v
}

// watch notes the memory that the programs take up, until the function that it returns is called.
func (o *overload) watch(players ...*player) (stop func()) {
	ctx, cancel := context.WithCancel(o.t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for ctx.Err() == nil {
			for _, p := range players {
				if v, _, err := p.now().measure(ctx); err == nil {
					o.mu.Lock()
					o.peak[p.program] = max(o.peak[p.program], v.resident)
					o.mu.Unlock()
				}
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// phase says on the way what was seen.
func (o *overload) phase(name string, f figures) {
	fmt.Printf("%-34s %5.0f/s offered, %5.0f/s accepted, p50 %s p99 %s; %d refused, p50 %s p99 %s; %d without an answer; sent %s late, p99\n",
		name, f.offered, f.goodput, ms(quantile(f.accepts, .5)), ms(quantile(f.accepts, .99)),
		f.refused, ms(quantile(f.refusals, .5)), ms(quantile(f.refusals, .99)), f.other, ms(quantile(f.lates, .99)))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }
