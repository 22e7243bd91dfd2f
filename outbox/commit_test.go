package outbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
)

// cutter cuts the connection at one COMMIT: before it is sent, so that it did not happen, or after,
// so that it did and nobody was told.
type cutter struct {
	armed atomic.Bool
	after bool
	cuts  atomic.Int64

	// atOnce closes as soon as the COMMIT is sent, while it may still be under way.
	atOnce bool
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	return &cutConn{Conn: conn, cutter: c}, err
}

type cutConn struct {
	net.Conn

	cutter *cutter
	dead   atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if !bytes.Contains(b, []byte("commit\x00")) || !c.cutter.armed.CompareAndSwap(true, false) {
		return c.Conn.Write(b)
	}
	c.cutter.cuts.Add(1)
	if !c.cutter.after {
		return 0, c.Close()
	}
	if c.cutter.atOnce {
		n, err := c.Conn.Write(b)
		return n, errors.Join(err, c.Close())
	}
	c.dead.Store(true)
	return c.Conn.Write(b)
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.dead.Load() && err == nil { // the reply to COMMIT is here, and lost
		return 0, closing(c.Conn)
	}
	return n, err
}

func closing(c io.Closer) error {
	if err := c.Close(); err != nil {
		return err
	}
	return io.EOF
}

func setupCut(t *testing.T, cut *cutter, patience time.Duration) (*testBundle, *cutter) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(testdb.URL(t))
	require.NoError(t, err)
	cfg.ConnConfig.DialFunc = cut.dial
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return setupOn(t, db, newFakeCarrier(t, blind), func(c *Config) { c.Patience = patience }), cut
}

// TestLostCommit runs every transaction with a COMMIT that failed without effect, and one that failed
// although it happened. Either way the truth comes out, and one label is bought.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		applied := map[bool]string{false: "NotApplied", true: "Applied"}[after]

		setupCut := func(t *testing.T, patience time.Duration) (*testBundle, *cutter) {
			t.Helper()
			return setupCut(t, &cutter{after: after}, patience)
		}

		t.Run("Accept/"+applied, func(t *testing.T) {
			t.Parallel()
			b, cut := setupCut(t, 5*time.Second)
			cut.armed.Store(true)
			s, id := b.accepted()
			require.EqualValues(t, 1, cut.cuts.Load())
			require.Equal(t, row{State: Pending, KeyState: "started", Jobs: 1}, b.row(id))
			require.Equal(t, InProgress, b.accept(s).Kind)
		})

		t.Run("AcceptWithoutPatience/"+applied, func(t *testing.T) {
			t.Parallel()
			b, cut := setupCut(t, time.Nanosecond)
			cut.armed.Store(true)
			s := submission()
			_, err := b.box.Accept(t.Context(), s)
			require.ErrorIs(t, err, ErrUnavailable)
			want := map[bool]AnswerKind{false: Accepted, true: InProgress}[after]
			require.Eventually(t, func() bool { // a backend that lost its client ends a moment later
				a, err := b.box.Accept(t.Context(), s)
				return err == nil && a.Kind == want
			}, 10*time.Second, time.Millisecond)
			require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
			require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job`))
		})

		t.Run("Claim/"+applied, func(t *testing.T) {
			t.Parallel()
			b, cut := setupCut(t, 5*time.Second)
			_, id := b.accepted()
			cut.armed.Store(true)
			require.NoError(t, b.work(id))
			require.EqualValues(t, 1, cut.cuts.Load())
			require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
			require.Equal(t, 1, b.carrier.callCount())
		})

		// Out of patience, the same claim is repeated: the lease may be ours already.
		t.Run("ClaimWithoutPatience/"+applied, func(t *testing.T) {
			t.Parallel()
			b, cut := setupCut(t, time.Nanosecond)
			_, id := b.accepted()
			cut.armed.Store(true)
			require.NoError(t, b.work(id))
			require.EqualValues(t, 1, cut.cuts.Load())
			require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
		})

		t.Run("Complete/"+applied, func(t *testing.T) {
			t.Parallel()
			b, cut := setupCut(t, 5*time.Second)
			_, id := b.accepted()
			b.carrier.onCall = func() { cut.armed.Store(true) }
			require.NoError(t, b.work(id))
			require.EqualValues(t, 1, cut.cuts.Load())
			require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
			require.Equal(t, 1, b.carrier.callCount())
			require.Zero(t, b.count(`SELECT count(*) FROM carrier_calls`))
		})

		t.Run("Settle/"+applied, func(t *testing.T) {
			t.Parallel()
			b, cut := setupCut(t, 5*time.Second)
			_, id := b.accepted()
			b.carrier.will(reply{answer: unknown})
			require.NoError(t, b.work(id))
			cut.armed.Store(true)
			require.NoError(t, b.box.Settle(t.Context(), Settlement{
				IntentID: id, Verdict: VerdictTryAgain, Actor: "ops", Why: "the carrier's list shows nothing",
			}))
			require.EqualValues(t, 1, cut.cuts.Load())
			require.Equal(t, Pending, b.row(id).State)
			require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls WHERE kind = 'settle'`))
		})
	}
}

// A commit can still be under way when its transaction is run again: the second run waits for it and
// sees what it did.
func TestCommitUnderWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	slowCommits := func(b *testBundle, table string) {
		b.exec(`
			CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$`)
		b.exec(`
			CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON ` + table + ` DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION slow()`)
	}

	t.Run("Accept", func(t *testing.T) {
		t.Parallel()
		b, cut := setupCut(t, &cutter{after: true, atOnce: true}, 10*time.Second)
		slowCommits(b, "label_intents")
		cut.armed.Store(true)
		_, id := b.accepted()
		require.EqualValues(t, 1, cut.cuts.Load())
		require.Equal(t, row{State: Pending, KeyState: "started", Jobs: 1}, b.row(id))
	})

	t.Run("Complete", func(t *testing.T) {
		t.Parallel()
		b, cut := setupCut(t, &cutter{after: true, atOnce: true}, 10*time.Second)
		slowCommits(b, "labels")
		_, id := b.accepted()
		b.carrier.onCall = func() { cut.armed.Store(true) }
		require.NoError(t, b.work(id))
		require.EqualValues(t, 1, cut.cuts.Load())
		require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
		require.Zero(t, b.count(`SELECT count(*) FROM carrier_calls`))
	})

	t.Run("Settle", func(t *testing.T) {
		t.Parallel()
		b, cut := setupCut(t, &cutter{after: true, atOnce: true}, 10*time.Second)
		_, id := b.accepted()
		b.carrier.will(reply{answer: unknown})
		require.NoError(t, b.work(id))
		slowCommits(b, "carrier_calls")
		cut.armed.Store(true)
		require.NoError(t, b.box.Settle(t.Context(), Settlement{
			IntentID: id, Verdict: VerdictTryAgain, Actor: "ops", Why: "the carrier's list shows nothing",
		}))
		require.EqualValues(t, 1, cut.cuts.Load())
		require.Equal(t, Pending, b.row(id).State)
	})
}

// A failover can lead to a server that is read-only for a while: a label in hand is not let go.
func TestBoughtOutlastsAReadOnlyServer(t *testing.T) {
	t.Parallel()
	b := setup(t, blind, func(c *Config) { c.Patience = time.Nanosecond })
	_, id := b.accepted()
	name := b.db.Config().ConnConfig.Database
	b.carrier.onCall = func() {
		b.exec(`ALTER DATABASE ` + name + ` SET default_transaction_read_only = on`)
		b.db.Reset()
	}
	done := make(chan error, 1)
	go func() { done <- b.work(id) }()
	admin := testdb.Pool(t, b.db.Config().ConnString())
	require.Eventually(t, func() bool { // the completion has been refused at least once
		return b.batches("complete") > 1
	}, 10*time.Second, time.Millisecond)
	tx, err := admin.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SET TRANSACTION READ WRITE`)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `ALTER DATABASE `+name+` RESET default_transaction_read_only`)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
	b.db.Reset()
	require.NoError(t, <-done)
	require.Equal(t, Purchased, b.row(id).State)
	require.Equal(t, 1, b.carrier.callCount())
}
