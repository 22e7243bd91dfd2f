package outbox

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

var keyed = carrier.Capabilities{Key: &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour}}

func TestAccept(t *testing.T) {
	t.Parallel()

	t.Run("CommitsKeyIntentAndJobTogether", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		require.Equal(t, row{State: Pending, KeyState: "started", Jobs: 1}, b.row(id))
	})

	t.Run("SameKeySameBodyIsInProgress", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, id := b.accepted()
		require.Equal(t, Answer{Kind: InProgress, IntentID: id}, b.accept(s))
		require.Equal(t, 1, b.row(id).Jobs)
	})

	t.Run("SameKeyDifferentBodyIsReused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, id := b.accepted()
		require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, b.accept(s.withBody("another")))
		b.workUntilSettled(id)
		require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, b.accept(s.withBody("another")))
	})

	t.Run("AnotherKeyForTheParcelIsRefusedAndLeavesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, id := b.accepted()
		other := s
		other.Key += ":again"
		require.Equal(t, Answer{Kind: ParcelLabelled, IntentID: id}, b.accept(other.withBody("another")))
		foreign := other
		foreign.CallerID = "returns"
		require.Equal(t, Answer{Kind: ParcelLabelled}, b.accept(foreign))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM idempotency_keys`))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job`))
		require.InDelta(t, 2, value(b.box.cfg.Metrics.parcelConflicts), 0)
	})

	t.Run("AnotherKeySameCallerSameBodyGetsTheIntentsAnswer", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, id := b.accepted()
		other := s
		other.Key += ":again"
		require.Equal(t, Answer{Kind: InProgress, IntentID: id, OtherKey: true}, b.accept(other))
		b.workUntilSettled(id)
		first, again := b.accept(s), b.accept(other)
		require.Equal(t, Final, again.Kind)
		require.Equal(t, first.Body, again.Body)
		require.True(t, again.OtherKey)
	})

	t.Run("EqualKeysOfTwoCallersAreTwoIntents", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, id := b.accepted()
		other := submission()
		other.CallerID, other.Key = "returns", s.Key
		a := b.accept(other)
		require.Equal(t, Accepted, a.Kind)
		b.workUntilSettled(id)
		b.workUntilSettled(a.IntentID)
		require.Equal(t, 2, b.carrier.charges())
		require.InDelta(t, 0, value(b.box.cfg.Metrics.callerMismatches), 0)
	})
}

func TestAcceptConcurrently(t *testing.T) {
	t.Parallel()

	// each submits all at once, over two processes, and collects the answers.
	each := func(t *testing.T, submissions []Submission) (*testBundle, []Answer) {
		t.Helper()
		b := setup(t, keyed)
		second := setupOn(t, b.db, b.carrier)
		answers := make([]Answer, len(submissions))
		var wg sync.WaitGroup
		for i, s := range submissions {
			box := []*Outbox{b.box, second.box}[i%2]
			wg.Go(func() {
				var err error
				answers[i], err = box.Accept(t.Context(), s)
				require.NoError(t, err)
			})
		}
		wg.Wait()
		return b, answers
	}

	tally := func(answers []Answer) map[AnswerKind]int {
		n := map[AnswerKind]int{}
		for _, a := range answers {
			n[a.Kind]++
		}
		return n
	}

	t.Run("OneKeySixtyFourTimesIsOneIntent", func(t *testing.T) {
		t.Parallel()
		s := submission()
		submissions := make([]Submission, 64)
		for i := range submissions {
			submissions[i] = s
		}
		b, answers := each(t, submissions)
		require.Equal(t, map[AnswerKind]int{Accepted: 1, InProgress: 63}, tally(answers))
		for _, a := range answers {
			require.Equal(t, answers[0].IntentID, a.IntentID)
		}
		require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job`))
	})

	t.Run("SixtyFourKeysForOneParcelAreOneIntent", func(t *testing.T) {
		t.Parallel()
		s := submission()
		submissions := make([]Submission, 64)
		for i := range submissions {
			submissions[i] = s.withBody("body " + itoa(int64(i)))
			submissions[i].Key += ":" + itoa(int64(i))
		}
		b, answers := each(t, submissions)
		require.Equal(t, map[AnswerKind]int{Accepted: 1, ParcelLabelled: 63}, tally(answers))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM idempotency_keys`))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
		require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job`))
	})

	// Keys and parcels in opposite orders would make two batches wait for each other.
	t.Run("OppositeOrdersDoNotDeadlock", func(t *testing.T) {
		t.Parallel()
		const n = 200
		var submissions []Submission
		for range n {
			submissions = append(submissions, submission())
		}
		for i := range n {
			s := submission()
			s.Parcel = submissions[n-1-i].Parcel
			submissions = append(submissions, s)
		}
		b, answers := each(t, submissions)
		require.Equal(t, map[AnswerKind]int{Accepted: n, ParcelLabelled: n}, tally(answers))
		require.Equal(t, 0, b.count(`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	})
}

// The same, with every row so slow that two batches surely meet halfway.
func TestParcelsAreLockedInOneOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	b.exec(`
		CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END $$`)
	b.exec(`CREATE TRIGGER slow BEFORE INSERT ON label_intents FOR EACH ROW EXECUTE FUNCTION slow()`)
	one, other := submission(), submission()
	batches := make([][]acceptItem, 2)
	for i, parcels := range [][]Parcel{{one.Parcel, other.Parcel}, {other.Parcel, one.Parcel}} {
		for n, parcel := range parcels {
			s := submission()
			s.Key, s.Parcel = "batch"+itoa(int64(i))+":"+itoa(int64(n)), parcel
			batches[i] = append(batches[i], acceptItem{
				Submission: s, intentID: uuid.Must(uuid.NewV7()), request: []byte(`{}`),
			})
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, len(batches))
	for i, batch := range batches {
		tx := b.begin()
		wg.Go(func() {
			_, err := b.box.accept(t.Context(), tx, batch)
			errs[i] = errors.Join(err, tx.Rollback(t.Context()))
		})
	}
	wg.Wait()
	require.Equal(t, make([]error, 2), errs)
}

func TestAcceptBatch(t *testing.T) {
	t.Parallel()

	items := func(submissions ...Submission) []acceptItem {
		var items []acceptItem
		for _, s := range submissions {
			items = append(items, acceptItem{Submission: s, intentID: uuid.Must(uuid.NewV7()), request: []byte(`{}`)})
		}
		return items
	}

	t.Run("AKeyTwiceInOneBatch", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s := submission()
		batch := items(s, s, s.withBody("another"))
		answers, err := b.box.acceptAll(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, []Answer{
			{Kind: Accepted, IntentID: batch[0].intentID},
			{Kind: InProgress, IntentID: batch[0].intentID},
			{Kind: KeyReused, IntentID: batch[0].intentID},
		}, answers)
	})

	// The first is refused its parcel and gives the key back; the second may have it.
	t.Run("AKeyForTwoParcelsOfWhichOneIsTaken", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		taken, id := b.accepted()
		refused, free, innocent := submission(), submission(), submission()
		refused.Parcel, free.Key, innocent.CallerID = taken.Parcel, refused.Key, "returns"
		batch := items(refused, free, free, refused, innocent)
		answers, err := b.box.acceptAll(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, []Answer{
			{Kind: ParcelLabelled, IntentID: id},
			{Kind: Accepted, IntentID: batch[1].intentID},
			{Kind: InProgress, IntentID: batch[1].intentID},
			{Kind: ParcelLabelled, IntentID: id},
			{Kind: Accepted, IntentID: batch[4].intentID},
		}, answers)
		require.Equal(t, 3, b.count(`SELECT count(*) FROM idempotency_keys`))
		require.Equal(t, 3, b.count(`SELECT count(*) FROM river_job`))
	})

	// A commit whose reply was lost is run again: the batch recognises what it had stored.
	t.Run("RunTwiceGivesTheSameAnswers", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, taken := b.accepted()
		repeat := submission()
		repeat.Parcel.OrderID = int64(b.count(`SELECT order_id FROM label_intents WHERE intent_id = $1`, taken))
		batch := items(submission(), repeat, submission())
		first, err := b.box.acceptAll(t.Context(), batch)
		require.NoError(t, err)
		again, err := b.box.acceptAll(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Equal(t, 3, b.count(`SELECT count(*) FROM river_job`))
	})

	t.Run("APoisonRowFailsAlone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		poison := submission()
		b.exec(`
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
			BEGIN RAISE EXCEPTION 'planted'; END $$`)
		b.exec(`
			CREATE TRIGGER refuse BEFORE INSERT ON label_intents FOR EACH ROW
			WHEN (NEW.order_id = ` + itoa(poison.Parcel.OrderID) + `) EXECUTE FUNCTION refuse()`)
		var wg sync.WaitGroup
		errs := make([]error, 40)
		for i := range errs {
			s := submission()
			if i == 17 {
				s = poison
			}
			wg.Go(func() { _, errs[i] = b.box.Accept(t.Context(), s) })
		}
		wg.Wait()
		for i, err := range errs {
			if i == 17 {
				require.ErrorContains(t, err, "planted")
			} else {
				require.NoError(t, err)
			}
		}
		require.Equal(t, 39, b.count(`SELECT count(*) FROM label_intents`))
		require.Equal(t, 39, b.count(`SELECT count(*) FROM idempotency_keys`))
		require.Equal(t, 39, b.count(`SELECT count(*) FROM river_job`))
	})
}

func TestAcceptRefuses(t *testing.T) {
	t.Parallel()

	t.Run("OverloadedStoresNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed, func(c *Config) { c.Queue, c.Flushers, c.MaxBatch = 1, 1, 1 })
		// Hold the first batch at the database, and fill the one place behind it.
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `LOCK TABLE idempotency_keys IN EXCLUSIVE MODE`)
		require.NoError(t, err)
		var wg sync.WaitGroup
		for range 2 {
			s := submission()
			wg.Go(func() {
				_, err := b.box.Accept(t.Context(), s)
				require.NoError(t, err)
			})
			require.Eventually(t, func() bool {
				return b.box.accepting.Depth() == 1 ||
					b.count(`SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'idempotency_keys'::regclass`) == 1
			}, 10*time.Second, time.Millisecond)
		}
		require.Eventually(t, func() bool { return b.box.accepting.Depth() == 1 }, 10*time.Second, time.Millisecond)
		_, err = b.box.Accept(t.Context(), submission())
		require.ErrorIs(t, err, ErrOverloaded)
		require.NoError(t, tx.Rollback(t.Context()))
		wg.Wait()
		require.Equal(t, 2, b.count(`SELECT count(*) FROM label_intents`))
	})

	t.Run("ACallerWhoLeavesLosesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `LOCK TABLE idempotency_keys IN EXCLUSIVE MODE`)
		require.NoError(t, err)
		ctx, leave := context.WithCancel(t.Context())
		s := submission()
		gone := make(chan error, 1)
		go func() { _, err := b.box.Accept(ctx, s); gone <- err }()
		require.Eventually(t, func() bool {
			return b.count(`SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'idempotency_keys'::regclass`) == 1
		}, 10*time.Second, time.Millisecond)
		leave()
		require.ErrorIs(t, <-gone, context.Canceled)
		require.NoError(t, tx.Rollback(t.Context()))
		// The repeat may overtake the first in another flusher: one of them is the intent.
		require.Contains(t, []AnswerKind{Accepted, InProgress}, b.accept(s).Kind)
		require.Equal(t, InProgress, b.accept(s).Kind)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
	})
}
