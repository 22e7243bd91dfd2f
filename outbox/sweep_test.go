package outbox

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestSweepKeys(t *testing.T) {
	t.Parallel()

	t.Run("NeverAStartedKeyHoweverOld", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, id := b.accepted()
		b.exec(`UPDATE idempotency_keys SET created_at = now() - interval '1 year'`)
		b.purge()
		require.Equal(t, "started", b.row(id).KeyState)
		require.Equal(t, InProgress, b.accept(s).Kind)
	})

	t.Run("CompletedKeysLiveForTheirTTL", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed, func(c *Config) { c.KeyTTL = time.Hour })
		_, id := b.accepted()
		b.workUntilSettled(id)
		n, err := b.box.SweepKeys(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM idempotency_keys
			WHERE expires_at BETWEEN now() + interval '59 minutes' AND now() + interval '1 hour'`))
	})

	t.Run("TwoSweepersShareTheWork", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.exec(`
			INSERT INTO idempotency_keys (caller_id, idem_key, request_hash, state, response_status, response_body, expires_at)
			SELECT 'fulfilment', 'k' || n, sha256('x'), 'completed', 201, '{}', now() - interval '1 second'
			FROM generate_series(1, 5000) AS n`)
		var wg sync.WaitGroup
		swept := make([]int, 2)
		for i := range swept {
			box := setupOn(t, b.db, b.carrier).box
			wg.Go(func() {
				for {
					n, err := box.SweepKeys(t.Context())
					require.NoError(t, err)
					swept[i] += n
					if n == 0 {
						return
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, 5000, swept[0]+swept[1])
		require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys`))
		require.Zero(t, b.count(`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	})

	// Between choosing a row and deleting it another process gives it more time.
	t.Run("AKeyThatIsGivenMoreTimeStays", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		b.workUntilSettled(id)
		b.exec(`UPDATE idempotency_keys SET expires_at = now() - interval '1 second'`)
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `UPDATE idempotency_keys SET expires_at = now() + interval '1 day'`)
		require.NoError(t, err)
		for _, end := range []func(context.Context) error{func(context.Context) error { return nil }, tx.Commit} {
			require.NoError(t, end(t.Context()))
			n, err := b.box.SweepKeys(t.Context())
			require.NoError(t, err)
			require.Zero(t, n)
		}
		require.Equal(t, "completed", b.row(id).KeyState)
	})

	t.Run("NothingHangsOnAKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		require.Zero(t, b.count(`SELECT count(*) FROM pg_constraint
			WHERE contype = 'f' AND confrelid = 'idempotency_keys'::regclass`))
		_, id := b.accepted()
		b.workUntilSettled(id)
		b.purge()
		require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "purged", Labels: 1, Jobs: 1}, b.row(id))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE created_by_key <> ''`))
	})

	// However much comes in: the sweeper waits for nothing, and nothing waits for it.
	t.Run("UnderSteadyTraffic", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.exec(`
			INSERT INTO idempotency_keys (caller_id, idem_key, request_hash, state, response_status, response_body, expires_at)
			SELECT 'fulfilment', 'k' || n, sha256('x'), 'completed', 201, '{}', now() - interval '1 second'
			FROM generate_series(1, 5000) AS n`)
		var swept atomic.Bool
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for !swept.Load() {
					a, err := b.box.Accept(t.Context(), submission())
					require.NoError(t, err)
					require.NoError(t, b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: a.IntentID, Carrier: "sim"})))
				}
			})
		}
		for n := 1; n > 0; {
			var err error
			n, err = b.box.SweepKeys(t.Context())
			require.NoError(t, err)
		}
		swept.Store(true)
		wg.Wait()
		require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys WHERE expires_at < now()`))
		require.Zero(t, b.count(`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	})
}

func TestRing(t *testing.T) {
	t.Parallel()

	ring := func(b *testBundle) int {
		n, err := b.box.Ring(b.t.Context())
		require.NoError(b.t, err)
		return n
	}
	old := func(b *testBundle) {
		b.exec(`UPDATE label_intents SET created_at = created_at - interval '1 minute'`)
	}
	liveJobs := func(b *testBundle, id uuid.UUID) int {
		return b.count(`SELECT count(*) FROM river_job
			WHERE (args ->> 'intent_id')::uuid = $1 AND state IN ('available', 'running')`, id)
	}

	t.Run("EveryUnfinishedIntentGetsALostJobBack", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		b.carrier.will(reply{answer: unknown})
		_, doubtful := b.accepted()
		requireSnooze(t, b.work(doubtful))
		_, pending := b.accepted()
		_, finished := b.accepted()
		b.workUntilSettled(finished)
		old(b)
		b.exec(`DELETE FROM river_job`)
		require.Equal(t, 2, ring(b))
		require.Equal(t, 1, liveJobs(b, doubtful))
		require.Equal(t, 1, liveJobs(b, pending))
		require.Equal(t, 0, liveJobs(b, finished))
		require.Zero(t, ring(b), "ringing again changes nothing")
	})

	t.Run("ADoubtLeftToAPersonIsLeftAlone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		b.carrier.will(reply{answer: unknown})
		_, id := b.accepted()
		require.NoError(t, b.work(id))
		old(b)
		b.exec(`DELETE FROM river_job`)
		require.Zero(t, ring(b))
	})

	t.Run("AFinishedJobOfAnUnfinishedIntentIsReplaced", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		old(b)
		b.exec(`UPDATE river_job SET state = 'discarded', finalized_at = now()`)
		require.Equal(t, 1, ring(b))
		require.Equal(t, 1, liveJobs(b, id))
	})

	t.Run("AnAbandonedJobIsRevivedOnceItsLeaseHasEnded", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		b.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '2 minutes', attempted_by = '{dead}'`)
		_, err := b.box.claim(t.Context(), id, b.carrier)
		require.NoError(t, err)
		old(b)
		require.Zero(t, ring(b), "its lease lives")
		b.expireLease(id)
		require.Equal(t, 1, ring(b))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job WHERE state = 'available' AND scheduled_at <= now()`))
		require.Zero(t, ring(b))
	})

	t.Run("ARunningJobIsGivenTheTimeOfALease", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.accepted()
		old(b)
		b.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{busy}'`)
		require.Zero(t, ring(b))
	})

	t.Run("ABacklogDoesNotStopTheRinger", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		b.exec(`
			INSERT INTO label_intents (intent_id, caller_id, idem_key, request_hash, request_id,
				order_id, parcel_no, label_version, carrier, reference, request)
			SELECT gen_random_uuid(), 'bulk', 'k' || n, sha256('x'), 'r', 1000000000 + n, 1, 1, 'sim', 'WB' || n, '{}'
			FROM generate_series(1, 20000) AS n`)
		b.exec(`INSERT INTO idempotency_keys (caller_id, idem_key, request_hash)
			SELECT caller_id, idem_key, request_hash FROM label_intents WHERE caller_id = 'bulk'`)
		b.exec(`
			INSERT INTO river_job (state, args, kind, max_attempts, queue)
			SELECT 'available', jsonb_build_object('intent_id', intent_id, 'carrier', 'sim'), 'buy_label', 10000, 'labels'
			FROM label_intents WHERE caller_id = 'bulk'`)
		b.exec(`DELETE FROM river_job WHERE (args ->> 'intent_id')::uuid = $1`, id)
		old(b)
		b.exec(`ANALYZE label_intents, river_job, idempotency_keys`)
		require.Equal(t, 1, ring(b))
		require.Equal(t, 1, liveJobs(b, id))
	})

	t.Run("TwoRingersInsertEachJobOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		for range 200 {
			b.accepted()
		}
		old(b)
		b.exec(`DELETE FROM river_job`)
		var wg sync.WaitGroup
		for range 4 {
			box := setupOn(t, b.db, b.carrier).box
			wg.Go(func() {
				_, err := box.Ring(t.Context())
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.Equal(t, 200, b.count(`SELECT count(*) FROM river_job`))
		require.Zero(t, b.count(`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	})
}
