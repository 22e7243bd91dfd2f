package outbox

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/durable"
	"waybill/internal/pgcluster"
	"waybill/migrations"
)

// pair is a primary and the standby that its commits wait for.
type pair struct {
	t                *testing.T
	primary, standby *pgcluster.Cluster
}

func startPair(t *testing.T) *pair {
	t.Helper()
	primary, err := pgcluster.Start(t.Context(), pgcluster.Config{Replicated: true, Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, primary.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), primary.URL("postgres")))
	standby, err := primary.Standby(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, standby.Close()) })
	p := &pair{t: t, primary: primary, standby: standby}
	p.exec(`ALTER SYSTEM SET synchronous_standby_names = '` + pgcluster.StandbyName + `'`)
	p.exec(`SELECT pg_reload_conf()`)
	require.Eventually(t, func() bool {
		return p.ask(`SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`) == 1
	}, 30*time.Second, 10*time.Millisecond)
	return p
}

// exec and ask use connections of their own, which wait for nothing.
func (p *pair) exec(sql string) {
	p.t.Helper()
	conn := p.connect(p.primary)
	_, err := conn.Exec(p.t.Context(), sql)
	require.NoError(p.t, err)
	require.NoError(p.t, conn.Close(p.t.Context()))
}

func (p *pair) ask(sql string) (n int) {
	p.t.Helper()
	conn := p.connect(p.primary)
	require.NoError(p.t, conn.QueryRow(p.t.Context(), sql).Scan(&n))
	require.NoError(p.t, conn.Close(p.t.Context()))
	return n
}

func (p *pair) connect(c *pgcluster.Cluster) *pgx.Conn {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), c.URL("postgres"))
	require.NoError(p.t, err)
	return conn
}

// box is an outbox on the primary, as the services connect to it.
func (p *pair) box(patience time.Duration) *testBundle {
	p.t.Helper()
	cfg, err := pgxpool.ParseConfig(p.primary.URL("postgres"))
	require.NoError(p.t, err)
	durable.Configure(cfg.ConnConfig)
	db, err := pgxpool.NewWithConfig(p.t.Context(), cfg)
	require.NoError(p.t, err)
	p.t.Cleanup(db.Close)
	return setupOn(p.t, db, newFakeCarrier(p.t, blind), func(c *Config) { c.Patience = patience })
}

const waitingCommits = `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%commit'`

func (p *pair) awaitCommit() {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return p.ask(waitingCommits) == 1 },
		20*time.Second, 10*time.Millisecond)
}

// requireRefused: no answer that promises anything.
func requireRefused(t *testing.T, b *testBundle, s Submission) {
	t.Helper()
	_, err := b.box.Accept(t.Context(), s)
	require.ErrorIs(t, err, ErrUnavailable)
}

// TestStandby: while the standby that commits wait for is away, nothing is acknowledged, whatever
// ends the waiting; once it is back, the repeat is told the truth.
func TestStandby(t *testing.T) {
	t.Parallel()
	inProgress := func(t *testing.T, b *testBundle, s Submission) {
		t.Helper()
		require.Eventually(t, func() bool {
			a, err := b.box.Accept(t.Context(), s)
			return err == nil && a.Kind == InProgress
		}, 20*time.Second, 10*time.Millisecond)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
	}

	// The service itself gives up no commit: Postgres would go on without the standby.
	t.Run("NoAnswerBeforeItIsBack", func(t *testing.T) {
		t.Parallel()
		p := startPair(t)
		b := p.box(time.Nanosecond)
		p.standby.Stop(pgcluster.Fast)
		s := submission()
		requireRefused(t, b, s)
		p.awaitCommit()
		require.NoError(t, p.standby.Restart(t.Context(), pgcluster.Fast))
		inProgress(t, b, s)
	})

	// Postgres answers a commit whose wait was cancelled with success, and a warning.
	t.Run("ACancelledWaitIsNoCommit", func(t *testing.T) {
		t.Parallel()
		p := startPair(t)
		b := p.box(10 * time.Second)
		p.standby.Stop(pgcluster.Fast)
		s := submission()
		answer := make(chan Answer, 1)
		go func() {
			a, err := b.box.Accept(t.Context(), s)
			if err == nil {
				answer <- a
			}
		}()
		p.awaitCommit()
		p.exec(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
		// The rerun finds its own rows, and waits for the standby all the same.
		require.Eventually(t, func() bool { return p.ask(`SELECT count(*) FROM label_intents`) == 1 },
			20*time.Second, 10*time.Millisecond)
		p.awaitCommit()
		require.Empty(t, answer)
		require.NoError(t, p.standby.Restart(t.Context(), pgcluster.Fast))
		require.Equal(t, Accepted, (<-answer).Kind)
		inProgress(t, b, s)
	})

	// After a restart everyone sees what the standby lacks. Whoever only reads it must wait too.
	t.Run("ARestartProvesNothing", func(t *testing.T) {
		t.Parallel()
		p := startPair(t)
		b := p.box(time.Nanosecond)
		p.standby.Stop(pgcluster.Fast)
		s := submission()
		refused := make(chan error, 1)
		go func() {
			_, err := b.box.Accept(t.Context(), s)
			refused <- err
		}()
		p.awaitCommit()
		require.NoError(t, p.primary.Restart(t.Context(), pgcluster.Immediate))
		require.ErrorIs(t, <-refused, ErrUnavailable)
		require.Equal(t, 1, p.ask(`SELECT count(*) FROM label_intents`))
		b.db.Reset()
		requireRefused(t, b, s)
		require.NoError(t, p.standby.Restart(t.Context(), pgcluster.Fast))
		inProgress(t, b, s)
	})
}
