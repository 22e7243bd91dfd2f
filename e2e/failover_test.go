package e2e

import (
	"maps"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
	"waybill/migrations"
)

// replicated is a primary, a standby, and the one address under which the service reaches whichever
// of them is the primary.
type replicated struct {
	t                *testing.T
	primary, standby *pgcluster.Cluster
	proxy            *toxiproxy.Proxy
}

func startReplicated(t *testing.T) *replicated {
	t.Helper()
	primary, err := pgcluster.Start(t.Context(), pgcluster.Config{Replicated: true, Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, primary.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), primary.URL("postgres")))
	standby, err := primary.Standby(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, standby.Close()) })
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	r := &replicated{
		t: t, primary: primary, standby: standby,
		proxy: toxiproxy.NewProxy(server, "postgres", "127.0.0.1:0", addressOf(primary)),
	}
	require.NoError(t, r.proxy.Start())
	t.Cleanup(r.proxy.Stop)
	return r
}

func addressOf(c *pgcluster.Cluster) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port()))
}

// url is where the service finds the database, before and after a failover.
func (r *replicated) url() string {
	u, err := url.Parse(r.primary.URL("postgres"))
	require.NoError(r.t, err)
	u.Host = r.proxy.Listen
	return u.String()
}

// configure changes a server's settings while it runs.
func (r *replicated) configure(c *pgcluster.Cluster, setting string) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), c.URL("postgres"))
	require.NoError(r.t, err)
	for _, sql := range []string{`ALTER SYSTEM SET ` + setting, `SELECT pg_reload_conf()`} {
		_, err = conn.Exec(r.t.Context(), sql)
		require.NoError(r.t, err)
	}
	require.NoError(r.t, conn.Close(r.t.Context()))
}

// awaitReplication waits until the primary sees so many standbys in a state of pg_stat_replication.
func (r *replicated) awaitReplication(n int, state string) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.primary.URL("postgres"))
	require.NoError(r.t, err)
	eventually(r.t, startTimeout, "the standby is "+state, func() bool {
		var found int
		err := conn.QueryRow(r.t.Context(),
			`SELECT count(*) FROM pg_stat_replication WHERE sync_state = $1`, state).Scan(&found)
		return err == nil && found == n
	})
	require.NoError(r.t, conn.Close(r.t.Context()))
}

// failOver loses the primary for good and puts the standby in its place.
func (r *replicated) failOver() {
	r.t.Helper()
	r.proxy.Stop()
	r.primary.Stop(pgcluster.Immediate)
	require.NoError(r.t, r.standby.Promote(r.t.Context()))
	r.switchTo(r.standby)
}

// switchTo leads the service to another server.
func (r *replicated) switchTo(c *pgcluster.Cluster) {
	r.t.Helper()
	r.proxy.Stop()
	r.proxy.Upstream = addressOf(c)
	require.NoError(r.t, r.proxy.Start())
}

// lost are the orders whose callers were told an intent that is not there.
func (s *stack) lost() []string {
	s.t.Helper()
	s.mu.Lock()
	heard := maps.Clone(s.heard) // before the intents are read: others may be ordering
	s.mu.Unlock()
	known := map[string]bool{}
	for _, i := range s.intents() {
		known[i.ID.String()] = true
	}
	var lost []string
	for key, answers := range heard {
		for _, a := range answers {
			if id := a.intentID(); id != "" && !known[id] {
				lost = append(lost, key)
				break
			}
		}
	}
	return lost
}

// TestFailover: with a synchronous standby a failover loses nothing that was acknowledged, and buys
// nothing twice. The carrier tells no repeats apart, so that a call which was forgotten would show.
func TestFailover(t *testing.T) {
	t.Parallel()
	const orders, before = 200, 60
	r := startReplicated(t)
	r.configure(r.primary, `synchronous_standby_names = '`+pgcluster.StandbyName+`'`)
	r.awaitReplication(1, "sync")
	charges := make(chan struct{}, 2*orders)
	carrier := startCarrier(t, simserver.Faults{Mode: simserver.Lookup, LatencyMS: 20, LatencySpreadMS: 60},
		hooks{charged: func(simserver.Entry) { charges <- struct{}{} }})
	s := newStack(t, carrier, settings{
		class: simserver.Lookup, processing: time.Second, database: r.url(),
		lease: 3 * time.Second, timeout: time.Second,
	})
	s.startAll()
	accepted := make(chan error, 1)
	go func() { accepted <- s.submitAll(1, orders+1) }()
	for range before {
		<-charges
	}
	r.failOver()
	require.NoError(t, <-accepted)
	s.db.Reset()
	require.Empty(t, s.lost())
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
}

// TestFailoverWithoutSynchronousStandby is the control: the same checks see what is lost where commits
// wait for nobody.
func TestFailoverWithoutSynchronousStandby(t *testing.T) {
	t.Parallel()
	const orders = 20
	r := startReplicated(t)
	r.awaitReplication(1, "async")
	carrier := startCarrier(t, simserver.Faults{}, hooks{})
	s := newStack(t, carrier, settings{database: r.url()})
	s.startAll()
	require.NoError(t, s.submitAll(1, orders+1))
	s.awaitSettled()
	eventually(t, startTimeout, "the standby has heard of them", func() bool {
		return r.countOn(r.standby, `SELECT count(*) FROM labels`) == orders
	})
	r.configure(r.standby, `primary_conninfo = ''`)
	r.awaitReplication(0, "async")

	require.NoError(t, s.submitAll(orders+1, 2*orders+1))
	s.awaitSettled()
	r.failOver()
	s.db.Reset()
	require.Len(t, s.lost(), orders, "the standby heard of none of them, and their callers were told")
	charges := carrier.charges()
	require.Len(t, charges, 2*orders)
	for _, i := range s.intents() {
		delete(charges, i.Reference)
	}
	require.Len(t, charges, orders, "charges that nothing here explains")
}

func (r *replicated) countOn(c *pgcluster.Cluster, sql string) (n int) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), c.URL("postgres"))
	require.NoError(r.t, err)
	require.NoError(r.t, conn.QueryRow(r.t.Context(), sql).Scan(&n))
	require.NoError(r.t, conn.Close(r.t.Context()))
	return n
}
