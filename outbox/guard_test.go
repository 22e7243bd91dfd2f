package outbox

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/testdb"
)

// awaitLock returns once something in the test's database waits for a lock.
func (b *testBundle) awaitLock() {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		return b.count(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	}, 20*time.Second, time.Millisecond)
}

// begin opens a transaction in which the test does what another process would.
func (b *testBundle) begin() pgx.Tx {
	b.t.Helper()
	tx, err := b.db.Begin(b.t.Context())
	require.NoError(b.t, err)
	return tx
}

// TestAcceptWaitsForTheWinner: whoever comes second is told what the first one ended in, whichever way
// that is, and never an error.
func TestAcceptWaitsForTheWinner(t *testing.T) {
	t.Parallel()
	for _, commits := range []bool{true, false} {
		t.Run(map[bool]string{true: "Commits", false: "RollsBack"}[commits], func(t *testing.T) {
			t.Parallel()
			b := setup(t, keyed)
			s := submission()
			winner := acceptItem{Submission: s, intentID: uuid.Must(uuid.NewV7()), request: []byte(`{}`)}
			tx := b.begin()
			_, err := b.box.accept(t.Context(), tx, []acceptItem{winner})
			require.NoError(t, err)

			second := make(chan Answer, 1)
			go func() { second <- b.accept(s) }()
			b.awaitLock()
			if !commits {
				require.NoError(t, tx.Rollback(t.Context()))
				require.Equal(t, Accepted, (<-second).Kind)
			} else {
				require.NoError(t, tx.Commit(t.Context()))
				require.Equal(t, Answer{Kind: InProgress, IntentID: winner.intentID}, <-second)
			}
			require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
			require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job`))
		})
	}
}

// TestRepeatsShareTransactions: 200 repeats while a call is slow cost the database a handful of
// transactions, and none of them fails in it.
func TestRepeatsShareTransactions(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed, func(c *Config) { c.Flushers = 1 })
	s, id := b.accepted()
	tx := b.begin()
	_, err := tx.Exec(t.Context(), `LOCK TABLE idempotency_keys IN EXCLUSIVE MODE`)
	require.NoError(t, err)
	before := b.batches("accept")
	answers := make(chan Answer, 200)
	repeat := func() { answers <- b.accept(s) }
	go repeat() // it holds the one flusher at the lock, so that the others queue
	b.awaitLock()
	for range cap(answers) - 1 {
		go repeat()
	}
	require.Eventually(t, func() bool { return b.box.accepting.Depth() == cap(answers)-1 }, 20*time.Second, time.Millisecond)
	require.NoError(t, tx.Rollback(t.Context()))
	for range cap(answers) {
		require.Equal(t, Answer{Kind: InProgress, IntentID: id}, <-answers)
	}
	require.LessOrEqual(t, b.batches("accept")-before, uint64(12))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM idempotency_keys`))
}

// TestClaimReadsWhatTheLastHolderLeft: a claim that waits for the holder's commit sees what it committed,
// and does not act on what it saw before.
func TestClaimReadsWhatTheLastHolderLeft(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	_, id := b.accepted()
	first, err := b.box.claim(t.Context(), id, b.carrier)
	require.NoError(t, err)
	label := b.carrier.charge(carrier.Purchase{Reference: first.order.reference, CarrierKey: id.String()})
	label.Service, label.Document.Format = "ground", carrier.PDF
	b.expireLease(id) // free to be taken, were it not for the holder's commit under way
	tx := b.begin()
	results, err := b.box.complete(t.Context(), tx, []completeItem{{
		lease: first.lease, order: first.order, account: "SIM-1", began: first.before.now, boughtAt: first.before.now,
		labelID:    uuid.Must(uuid.NewV7()),
		conclusion: concludeCall(first.before, carrier.Result{Outcome: carrier.Bought, Label: &label}, keyed, b.box.cfg.Policy),
	}})
	require.NoError(t, err)
	require.Equal(t, []completion{stored}, results)

	second := make(chan error, 1)
	go func() { second <- b.work(id) }()
	b.awaitLock()
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-second)
	require.Zero(t, b.carrier.callCount())
	require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
}

// TestALeaseAlwaysEnds: there is no lease without an end, and one that ended is as good as none.
func TestALeaseAlwaysEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	_, id := b.accepted()
	for _, broken := range []string{
		`UPDATE idempotency_keys SET lease_token = gen_random_uuid()`,
		`UPDATE idempotency_keys SET locked_until = now()`,
	} {
		_, err := b.db.Exec(t.Context(), broken)
		var refused *pgconn.PgError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "idempotency_keys_lease", refused.ConstraintName)
	}
	// Taken with nothing left of it: over at once.
	b.exec(`UPDATE idempotency_keys SET lease_token = gen_random_uuid(), locked_until = clock_timestamp()`)
	require.NoError(t, b.work(id))
	require.Equal(t, Purchased, b.row(id).State)
}

// TestAnotherBodyTouchesNothing: neither a row nor its version changes, whatever the intent is at.
func TestAnotherBodyTouchesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, byLookup)
	versions := func(s Submission) (v string) {
		require.NoError(t, b.db.QueryRow(t.Context(), `
			SELECT concat_ws(' ', i.ctid, i.xmin, k.ctid, k.xmin, i.*::text, k.*::text)
			FROM label_intents AS i
			LEFT JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
			WHERE i.caller_id = $1 AND i.idem_key = $2`, s.CallerID, s.Key).Scan(&v))
		return v
	}
	s, id := b.accepted()
	requireUntouched := func() {
		t.Helper()
		before, jobs := versions(s), b.count(`SELECT count(*) FROM river_job`)
		other := s.withBody("another")
		require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, b.accept(other))
		other.Parcel.OrderID = 1 << 40
		require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, b.accept(other))
		a, err := b.box.Lookup(t.Context(), s.CallerID, s.Key, nil)
		require.NoError(t, err)
		require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, a)
		require.Equal(t, before, versions(s))
		require.Equal(t, jobs, b.count(`SELECT count(*) FROM river_job`))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
	}
	requireUntouched()
	b.carrier.will(reply{charge: true, answer: unknown})
	b.carrier.onCall = requireUntouched // while it is leased
	requireSnooze(t, b.work(id))
	requireUntouched() // in doubt
	b.workUntilSettled(id)
	requireUntouched()
	b.purge()
	requireUntouched()
	require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys`))
	require.Equal(t, Final, b.accept(s).Kind)
}

// TestEachGuardHoldsAlone takes one guard away and proves that the one behind it holds.
func TestEachGuardHoldsAlone(t *testing.T) {
	t.Parallel()

	storm := func(b *testBundle, s Submission) map[AnswerKind]int {
		second := setupOn(b.t, b.db, b.carrier)
		tally := map[AnswerKind]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 64 {
			box := []*Outbox{b.box, second.box}[i%2]
			wg.Go(func() {
				a, err := box.Accept(b.t.Context(), s)
				require.NoError(b.t, err)
				mu.Lock()
				defer mu.Unlock()
				tally[a.Kind]++
			})
		}
		wg.Wait()
		return tally
	}

	t.Run("TheKeyWithoutTheIntentsConstraints", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.exec(`ALTER TABLE label_intents DROP CONSTRAINT label_intents_caller_key, DROP CONSTRAINT label_intents_parcel`)
		require.Equal(t, map[AnswerKind]int{Accepted: 1, InProgress: 63}, storm(b, submission()))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
	})

	// Every key that is taken vanishes at once.
	t.Run("TheIntentsConstraintsWithoutTheKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.exec(`
			CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN DELETE FROM idempotency_keys WHERE idem_key = NEW.idem_key; RETURN NULL; END $$`)
		b.exec(`
			CREATE CONSTRAINT TRIGGER forget AFTER INSERT ON idempotency_keys DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION forget()`)
		require.Equal(t, 1, storm(b, submission())[Accepted])
		require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
		require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys`))
	})

	t.Run("TheLeaseWithoutTheUniquenessOfJobs", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		_, id := b.accepted()
		var wg sync.WaitGroup
		for range 16 { // as many jobs at once
			wg.Go(func() { _ = b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: id, Carrier: "sim"})) })
		}
		wg.Wait()
		require.Equal(t, 1, b.carrier.callCount())
		require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
	})

	t.Run("TheLabelsConstraintWithoutTheLease", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		require.NoError(t, b.work(id))
		_, err := b.db.Exec(t.Context(), `
			INSERT INTO labels SELECT (jsonb_populate_record(l, jsonb_build_object(
				'label_id', gen_random_uuid(), 'carrier_label_id', 'another'))).* FROM labels AS l`)
		var refused *pgconn.PgError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "23505", refused.Code)
	})
}

// TestTheProcessClockJudgesNoLease: a process whose clock is an hour ahead, or behind, steals nothing.
func TestTheProcessClockJudgesNoLease(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"Ahead": time.Hour, "Behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, keyed)
			skewed := setupOn(t, b.db, b.carrier, func(c *Config) {
				c.Now = func() time.Time { return time.Now().Add(skew) }
			})
			_, id := b.accepted()
			b.claimed(id)
			wait := requireSnooze(t, skewed.work(id))
			require.InDelta(t, b.box.cfg.Lease, wait, float64(10*time.Second))
			b.expireLease(id)
			require.NoError(t, skewed.work(id))
			require.Equal(t, Purchased, b.row(id).State)
			require.Equal(t, 1, b.count(`SELECT count(*) FROM labels
				WHERE bought_at BETWEEN now() - interval '1 minute' AND now() + interval '1 second'`))
			require.Equal(t, 1, b.count(`SELECT count(*) FROM idempotency_keys
				WHERE expires_at BETWEEN now() + interval '23 hours' AND now() + interval '24 hours'`))
		})
	}
}

// TestOppositeOrders: two processes claim and complete the same intents, each in its own order.
func TestOppositeOrders(t *testing.T) {
	t.Parallel()
	const n = 150
	b := setup(t, byLookup)
	second := setupOn(t, b.db, b.carrier)
	ids := make([]uuid.UUID, n)
	for i := range ids {
		_, ids[i] = b.accepted()
	}
	reversed := slices.Clone(ids)
	slices.Reverse(reversed)
	round := func(box *Outbox, ids []uuid.UUID) {
		claims := make([]claimItem, len(ids))
		for i, id := range ids {
			claims[i] = claimItem{intentID: id, token: uuid.New(), carrier: "sim", account: "SIM-1", caps: byLookup}
		}
		granting, err := box.claimAll(t.Context(), claims)
		require.NoError(t, err)
		var items []completeItem
		for _, c := range granting {
			if c.status == granted {
				items = append(items, completeItem{
					lease: c.lease, order: c.order, began: c.before.now, labelID: uuid.New(),
					conclusion: concludeCall(c.before, notBought, byLookup, box.cfg.Policy),
				})
			}
		}
		_, err = box.completeAll(t.Context(), items)
		require.NoError(t, err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { round(b.box, ids) })
		wg.Go(func() { round(second.box, reversed) })
	}
	wg.Wait()
	require.Zero(t, b.count(`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys WHERE lease_token IS NOT NULL`))
	require.Equal(t, n, b.count(`SELECT count(*) FROM label_intents WHERE open_calls = 0 AND calls > 0`))
}

// TestOneConnectionIsEnough: nothing that holds a connection waits for another. The whole life of an
// intent passes through a pool of one.
func TestOneConnectionIsEnough(t *testing.T) {
	t.Parallel()
	cfg, err := pgxpool.ParseConfig(testdb.URL(t))
	require.NoError(t, err)
	cfg.MaxConns = 1
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	b := setupOn(t, db, newFakeCarrier(t, blind))
	b.carrier.will(reply{answer: unknown})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			s := submission()
			a, err := b.box.Accept(t.Context(), s)
			require.NoError(t, err)
			err = b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: a.IntentID, Carrier: "sim"}))
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			_, err = b.box.Wait(ctx, a.IntentID)
			require.NoError(t, err)
		})
		wg.Go(func() {
			_, err := b.box.Ring(t.Context())
			require.NoError(t, err)
			_, err = b.box.SweepKeys(t.Context())
			require.NoError(t, err)
			require.NoError(t, b.box.Gauge(t.Context()))
		})
	}
	wg.Wait()
	var doubtful uuid.UUID
	require.NoError(t, db.QueryRow(t.Context(), `SELECT intent_id FROM label_intents WHERE state = 'in_doubt'`).Scan(&doubtful))
	require.NoError(t, b.box.Settle(t.Context(), Settlement{IntentID: doubtful, Verdict: VerdictTryAgain, Actor: "ops", Why: "not on the list"}))
	require.NoError(t, b.work(doubtful))
	require.Equal(t, 32, b.count(`SELECT count(*) FROM labels`))
}
