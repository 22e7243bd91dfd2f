package outbox

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
)

// requireCleanPool proves that no transaction was left open and that no connection went back broken.
func (b *testBundle) requireCleanPool() {
	b.t.Helper()
	require.Zero(b.t, b.db.Stat().AcquiredConns())
	for range b.db.Stat().TotalConns() + 1 {
		require.Equal(b.t, 1, b.count(`SELECT 1`))
	}
	require.Zero(b.t, b.count(`SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND state LIKE 'idle in transaction%'`))
}

func TestTransaction(t *testing.T) {
	t.Parallel()

	// COMMIT of an aborted transaction is answered with ROLLBACK, which is no error of the server's.
	t.Run("AbortedIsNoSuccess", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed, func(c *Config) { c.Patience = time.Nanosecond })
		err := b.box.inTx(t.Context(), "test", func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `CREATE TABLE planted ()`); err != nil {
				return err
			}
			_, _ = tx.Exec(ctx, `SELECT 1/0`) // swallowed, as nobody should
			return nil
		})
		require.ErrorIs(t, err, ErrUnavailable)
		require.Zero(t, b.count(`SELECT count(*) FROM pg_tables WHERE tablename = 'planted'`))
		b.requireCleanPool()
	})

	t.Run("AFailedCommitLeavesNothingBehind", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.exec(`
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE EXCEPTION 'planted'; END $$`)
		b.exec(`
			CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON label_intents DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION refuse()`)
		s := submission()
		_, err := b.box.Accept(t.Context(), s)
		require.ErrorContains(t, err, "planted")
		b.requireCleanPool()
		require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys`))
		b.exec(`DROP TRIGGER refuse ON label_intents`)
		require.Equal(t, Accepted, b.accept(s).Kind)
	})

	t.Run("IsRolledBackThoughItsContextHasEnded", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		ctx, cancel := context.WithCancel(t.Context())
		err := b.box.inTx(ctx, "test", func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE`)
			require.NoError(t, err)
			cancel()
			return ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
		b.requireCleanPool()
		b.accepted() // nothing holds the table
	})

	t.Run("IsBounded", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		require.NoError(t, b.box.inTx(t.Context(), "test", func(ctx context.Context, tx pgx.Tx) error {
			for _, setting := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
				var value string
				require.NoError(t, tx.QueryRow(ctx, `SELECT current_setting($1)`, setting).Scan(&value))
				require.Equal(t, "5s", value, setting)
			}
			return nil
		}))
	})

	t.Run("NoneIsOpenDuringACall", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		_, id := b.accepted()
		called := false
		b.carrier.onCall = func() {
			called = true
			require.Zero(t, b.count(`SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`))
			require.Zero(t, b.count(`SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
				WHERE a.datname = current_database() AND pid <> pg_backend_pid()`))
		}
		require.NoError(t, b.work(id))
		require.True(t, called)
	})

	t.Run("TheListenerIsInNone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		require.Eventually(t, func() bool {
			return b.count(`SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND query = 'LISTEN waybill_ended' AND state = 'idle'`) == 1
		}, 20*time.Second, time.Millisecond)
	})
}

// blackHole is a network that, once it is closed, takes everything and answers nothing.
type blackHole struct{ closed atomic.Bool }

func (h *blackHole) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if h.closed.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	return &holeConn{Conn: conn, hole: h}, err
}

type holeConn struct {
	net.Conn

	hole *blackHole
}

func (c *holeConn) Write(b []byte) (int, error) {
	if c.hole.closed.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// TestAServerThatVanishedWithoutAWord: everything ends in time, by an error that says so, and goes on
// by itself when the server is back.
func TestAServerThatVanishedWithoutAWord(t *testing.T) {
	t.Parallel()
	var hole blackHole
	cfg, err := pgxpool.ParseConfig(testdb.URL(t))
	require.NoError(t, err)
	cfg.ConnConfig.DialFunc = hole.dial
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	b := setupOn(t, db, newFakeCarrier(t, keyed), func(c *Config) { c.Patience = time.Nanosecond; c.Listen = false })
	s, id := b.accepted()

	hole.closed.Store(true)
	ends := map[string]func() error{
		"accept": func() error { _, err := b.box.Accept(t.Context(), submission()); return err },
		"lookup": func() error { _, err := b.box.Lookup(t.Context(), s.CallerID, s.Key, nil); return err },
		"intent": func() error { _, err := b.box.Intent(t.Context(), s.CallerID, id); return err },
		"key":    func() error { _, err := b.box.IntentByKey(t.Context(), s.CallerID, s.Key); return err },
		"label":  func() error { _, err := b.box.Label(t.Context(), s.CallerID, id); return err },
		"labels": func() error {
			_, _, err := b.box.Labels(t.Context(), s.CallerID, LabelFilter{}, Page{Limit: 1})
			return err
		},
		"place": func() error {
			_, _, err := b.box.Intents(t.Context(), s.CallerID, IntentFilter{InDoubt: true}, Page{After: id, Limit: 1})
			return err
		},
		"revise": func() error {
			_, err := b.box.Revise(t.Context(), s.CallerID, id, Change{}, nil)
			return err
		},
		"bytes": func() error { _, err := b.box.Document(t.Context(), s.CallerID, id); return err },
		"ring":  func() error { _, err := b.box.Ring(t.Context()); return err },
		"sweep": func() error { _, err := b.box.SweepKeys(t.Context()); return err },
		"gauge": func() error { return b.box.Gauge(t.Context()) },
		"job": func() error {
			return b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: id, Carrier: "whose?"}))
		},
	}
	type end struct {
		what string
		err  error
	}
	ended := make(chan end, len(ends))
	for what, do := range ends {
		go func() { ended <- end{what, do()} }()
	}
	deadline := time.After(4 * tryTimeout) // two tries' time, on a busy machine
	for range ends {
		select {
		case e := <-ended:
			require.Error(t, e.err, e.what)
			if e.what != "gauge" && e.what != "job" {
				require.ErrorIs(t, e.err, ErrUnavailable, e.what)
			}
		case <-deadline:
			t.Fatal("something waits for a server that is not there")
		}
	}
	hole.closed.Store(false)
	require.Eventually(t, func() bool {
		a, err := b.box.Accept(t.Context(), s)
		return err == nil && a.Kind == InProgress
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, b.work(id))
}
