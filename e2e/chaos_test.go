package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json/v2"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
	"waybill/internal/testdb"
	"waybill/migrations"
)

var (
	chaosSeed     = flag.Uint64("chaos.seed", 1, "seed of everything that the chaos test does; 0 takes one from the clock")
	chaosDuration = flag.Duration("chaos.duration", 0, "how long the chaos lasts at least; it goes on, three times as long at most, until all that must happen has. 0 is a short run, in which the classes share what must happen")
	chaosWorld    = flag.Bool("chaos.world", false, "play with carriers of the world, as they speak: USPS (keyed), EasyPost (lookup), FedEx (blind)")
	chaosClass    = flag.String("chaos.class", "", "run the chaos for one class of carrier only: keyed, lookup or blind")
)

// longest is how many times as long as it was asked to a run may last.
const longest = 3

// castTimeout is how long all programs may take to start on a machine with much else to do.
const castTimeout = 2 * time.Minute

// settleLimit is law L8's: once faults stop, everything is settled within this.
const settleLimit = 60 * time.Second

// TestChaos: everything fails at once, for as long as you like, and no law is broken. One seed decides
// what is done, when, and to whom; which of two programs is faster stays the machine's affair. The
// run ends with a table. What was planned and never happened makes the run unknown: it has not passed.
// Without a duration the three classes deal out among themselves what must happen, and each is short.
func TestChaos(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(time.Now().Unix())
	}
	for _, class := range classes {
		if *chaosClass != "" && *chaosClass != string(class) {
			continue
		}
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			duration, mine := *chaosDuration, wholeShare(class)
			if duration == 0 {
				if *chaosClass == "" {
					mine = dealtShare(seed, class)
				}
				duration = mine.roundTime() * 11 / 10
			}
			c := newChaos(t, class, seed, duration, mine)
			t.Logf("repeat with: %s", c.again())
			c.rehearse()
			c.perform()
			c.judge()
		})
	}
}

// again is how to repeat the run. A short run of one class is a part of one of all classes.
func (c *chaos) again() string {
	if c.share.short {
		return fmt.Sprintf("make chaos SEED=%d DURATION=0 CLASS=", c.seed)
	}
	return fmt.Sprintf("make chaos SEED=%d DURATION=%s CLASS=%s", c.seed, *chaosDuration, c.class)
}

// chaos is one run: the cast, the links between them, and what they all saw.
type chaos struct {
	t        *testing.T
	class    simserver.Mode
	world    *realCarrier // nil: the reference protocol
	seed     uint64
	duration time.Duration
	share    share
	dir      string

	cluster *pgcluster.Cluster
	db      *pgxpool.Pool
	ledger  string
	links   map[string]*link
	box     *player
	apis    []*player
	workers []*player
	secrets map[string]string
	witness *witness
	nemesis *nemesis

	// previous builds the programs as they were a commit ago.
	previous func() (string, error)

	// rolling keeps two rolling restarts apart, clocking two steps of the clock, and troubled two
	// troubles of one link in one direction.
	rolling, clocking sync.Mutex
	troubled          map[string]*sync.Mutex

	base    map[string]vitals // by player, before anything happened
	settled time.Duration     // how long it took after the faults
	alerted time.Duration     // how long until every doubt showed

	// spent is what each part of the run took.
	began time.Time
	spent []string
}

func newChaos(t *testing.T, class simserver.Mode, seed uint64, duration time.Duration, mine share) *chaos {
	t.Helper()
	c := &chaos{
		t: t, class: class, seed: seed, duration: duration, share: mine, dir: t.ArtifactDir(), began: time.Now(),
		secrets: map[string]string{}, base: map[string]vitals{},
		previous: sync.OnceValues(buildPrevious), troubled: map[string]*sync.Mutex{},
	}
	if mine.short {
		c.previous = sync.OnceValues(buildPreviousForAll)
	}
	if *chaosWorld {
		c.world = worldOf[class]
	}
	for _, link := range links {
		for _, direction := range directions {
			c.troubled[link+direction] = new(sync.Mutex)
		}
	}
	c.ledger = filepath.Join(c.dir, "ledger.jsonl")
	file, err := os.Create(filepath.Join(c.dir, "history.jsonl"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	c.witness = newWitness(file)
	c.nemesis = &nemesis{
		chaos: c, fired: map[deed]int{}, toxics: map[toxic]int{}, kills: map[string]int{}, clocks: map[time.Duration]int{},
	}
	c.cluster, err = pgcluster.Start(t.Context(), pgcluster.Config{Log: t.Output(), Clock: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.cluster.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), c.cluster.URL("postgres")))
	c.db = testdb.Pool(t, c.cluster.URL("postgres"))
	c.cast()
	return c
}

// cast makes the players, without starting them, and the links between them.
func (c *chaos) cast() {
	c.t.Helper()
	addr := stablePort(c.t)
	postgres := fmt.Sprintf("127.0.0.1:%d", c.cluster.Port())
	c.links = map[string]*link{
		workerCarrier:  newLink(c.t, addr),
		workerPostgres: newLink(c.t, postgres),
		apiPostgres:    newLink(c.t, postgres),
	}
	through := func(name string) string {
		return strings.Replace(c.cluster.URL("postgres"), postgres, c.links[name].listen, 1) + "&pool_max_conns=6"
	}
	args := []string{
		"--mode", string(c.class), "--late", chaosLate.String(), "--latency-spread", "20ms",
		"--seed", fmt.Sprint(randomOf(c.seed, c.class, forCarrier).Uint32()),
	}
	for _, r := range c.share.rules() {
		args = append(args, "--fault", fmt.Sprintf("%s:%v:%d", r.Fault, r.Probability, r.Count))
	}
	c.box = newPlayer(c.dir, "carrier", "carriersim", []string{"CARRIERSIM_ADDR=" + addr, "CARRIERSIM_LEDGER=" + c.ledger}, args...)
	carriers := settings{class: c.class, real: c.world, processing: chaosProcessing}
	env := []string{
		"WAYBILL_CARRIERS=" + carriers.writeCarriers(c.t, "http://"+c.links[workerCarrier].listen),
		"WAYBILL_ADMIN_ADDR=127.0.0.1:0",
		"CARRIER_SECRET=s3cret",
	}
	for i := range 2 {
		c.apis = append(c.apis, newPlayer(c.dir, fmt.Sprintf("api-%d", i+1), "api",
			append([]string{"DATABASE_URL=" + through(apiPostgres), "WAYBILL_API_ADDR=127.0.0.1:0"}, env...), "serve"))
		c.workers = append(c.workers, newPlayer(c.dir, fmt.Sprintf("worker-%d", i+1), "worker",
			append([]string{
				"DATABASE_URL=" + through(workerPostgres), "WAYBILL_MAX_WORKERS=100",
				"WAYBILL_LEASE=" + chaosLease.String(), "WAYBILL_CARRIER_TIMEOUT=" + chaosTimeout.String(),
			}, env...)))
	}
	keys := stack{t: c.t, env: append([]string{"DATABASE_URL=" + c.cluster.URL("postgres")}, env...)}
	for _, caller := range chaosCallers {
		c.secrets[caller] = keys.createKey(caller)
	}
}

// stablePort finds an address that stays free while its program is dead: the system hands out ports
// for outgoing connections above these.
func stablePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
		if err == nil {
			require.NoError(t, l.Close())
			return addr
		}
	}
	require.Fail(t, "no free port")
	return ""
}

func (c *chaos) players() []*player {
	return append(append([]*player{c.box}, c.apis...), c.workers...)
}

// services are the players that have an admin listener.
func (c *chaos) services() []*player { return append(append([]*player{}, c.apis...), c.workers...) }

// rehearse starts everything and measures it at rest.
func (c *chaos) rehearse() {
	c.t.Helper()
	for _, p := range c.players() {
		go p.supervise()
		c.t.Cleanup(p.close)
	}
	for _, p := range c.services() {
		require.True(c.t, c.nemesis.awaitReady(c.t.Context(), p, castTimeout), "%s is ready", p.name)
	}
	for _, p := range c.services() {
		v, _, err := p.now().measure(c.t.Context())
		require.NoError(c.t, err)
		c.base[p.name] = v
	}
	c.lap("start")
	if c.share.short {
		return // Whoever needs the previous build waits for it, and the others need not.
	}
	// Building takes a while, and is to be no part of the run.
	_, _ = c.previous() // Whether it can be done is told by the deed.
	c.lap("previous build")
}

// lap notes how long a part of the run took.
func (c *chaos) lap(part string) {
	c.spent = append(c.spent, fmt.Sprintf("%s %.1f s", part, time.Since(c.began).Seconds()))
	c.began = time.Now()
}

// perform lets clients and nemesis loose on each other, and returns when both have ended.
func (c *chaos) perform() {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	defer cancel()
	transport := &http.Transport{
		MaxIdleConnsPerHost: 64,
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	defer transport.CloseIdleConnections()
	var clients sync.WaitGroup
	for i := range chaosClients {
		one := &client{
			witness: c.witness,
			world:   c.world,
			number:  i + 1,
			random:  randomOf(c.seed, c.class, forClients+uint64(i)),
			apis:    c.apis,
			http:    &http.Client{Transport: transport},
			secrets: c.secrets,
			caller:  chaosCallers[i%len(chaosCallers)],
		}
		clients.Go(func() { one.run(ctx) })
	}
	c.nemesis.run(c.t.Context(), planOf(c.seed, c.class, c.share, longest*c.duration))
	cancel()
	clients.Wait()
	c.lap("chaos")
}

// tellCarrier replaces the carrier's faults; without rules there are none.
func (c *chaos) tellCarrier(ctx context.Context, rules []simserver.Rule) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	text, err := json.Marshal(simserver.Faults{LatencySpreadMS: 20, LateMS: int(chaosLate.Milliseconds()), Rules: rules})
	if err != nil {
		return err
	}
	sender := stack{client: http.DefaultClient}
	a, err := sender.do(ctx, http.MethodPut, "http://"+c.links[workerCarrier].upstream+"/_sim/faults", string(text))
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("the carrier answers %d: %s", a.status, a.body)
	}
	return err
}
