package outbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// rung is a job as River hands it out.
func rung(args BuyLabel) *river.Job[BuyLabel] {
	return &river.Job[BuyLabel]{JobRow: &rivertype.JobRow{ID: 1, Attempt: 1}, Args: args}
}

// reorderedJob is the same job as another build may write it: other members, in another order.
type reorderedJob struct {
	Carrier  string    `json:"carrier"`
	Reason   string    `json:"reason"`
	IntentID uuid.UUID `json:"intent_id" river:"unique"`
}

func (reorderedJob) Kind() string                 { return BuyLabel{}.Kind() }
func (reorderedJob) InsertOpts() river.InsertOpts { return BuyLabel{}.InsertOpts() }

// TestDoorbell: a job rings, and nothing else. Whatever is wrong with it, the intent decides what is
// bought, how often, and from whom.
func TestDoorbell(t *testing.T) {
	t.Parallel()

	ring := func(b *testBundle) int {
		b.exec(`UPDATE label_intents SET created_at = created_at - interval '1 minute'`)
		n, err := b.box.Ring(b.t.Context())
		require.NoError(b.t, err)
		return n
	}

	t.Run("ArgsThatNobodyCanReadStopNobody", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		b.exec(`DELETE FROM river_job`)
		for _, args := range []string{`{}`, `[]`, `{"intent_id": 7}`, `{"intent_id": "7"}`, `{"intent": "` + id.String() + `"}`} {
			for _, state := range []string{"running", "available"} {
				b.exec(`
					INSERT INTO river_job (state, args, kind, max_attempts, queue, attempted_at)
					VALUES ($1, $2, 'buy_label', 10000, 'labels', now() - interval '1 hour')`, state, args)
			}
		}
		require.Equal(t, 1, ring(b), "the intent has no job that anyone can read")
		require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job WHERE args ->> 'intent_id' = $1::uuid::text`, id))
		require.Zero(t, ring(b))
	})

	t.Run("AJobThatNamesNoCarrierAsksTheIntent", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		for _, name := range []string{"", "a name of yesterday"} {
			_, id := b.accepted()
			require.NoError(t, b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: id, Carrier: name})))
			require.Equal(t, Purchased, b.row(id).State)
		}
	})

	t.Run("AJobOfACarrierThatIsNotConfiguredWaits", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s := submission()
		s.Carrier = "dove"
		id := b.accept(s).IntentID
		require.Equal(t, unknownCarrierWait, requireSnooze(t, b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: id, Carrier: "dove"}))))
		require.Zero(t, b.row(id).Attempts)
	})

	t.Run("AJobOfNoIntentEnds", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		require.NoError(t, b.work(uuid.New()))
		var cancelled *river.JobCancelError
		require.ErrorAs(t, b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: uuid.New()})), &cancelled)
	})

	t.Run("AJobCannotTakeAnOrderToAnotherCarrier", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s := submission()
		s.Carrier = "dove"
		id := b.accept(s).IntentID
		require.ErrorIs(t, b.work(id), errBroken) // which says that it is sim's
		require.Zero(t, b.carrier.callCount())
		require.Equal(t, row{State: Pending, KeyState: "started", Jobs: 1}, b.row(id))
	})

	t.Run("OneLiveJobHoweverItsArgsAreWritten", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		for _, args := range []river.JobArgs{
			BuyLabel{IntentID: id, Carrier: "another"},
			reorderedJob{IntentID: id, Carrier: "sim", Reason: "another build"},
		} {
			tx, err := b.db.Begin(t.Context())
			require.NoError(t, err)
			inserted, err := b.box.river.InsertTx(t.Context(), tx, args, nil)
			require.NoError(t, err)
			require.True(t, inserted.UniqueSkippedAsDuplicate)
			require.NoError(t, tx.Commit(t.Context()))
		}
		require.Equal(t, 1, b.row(id).Jobs)
	})

	// The rescuer has read "running"; the job ends before it writes.
	t.Run("AJobThatHasJustEndedIsNotRevived", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		b.exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 hour'`)
		tx, err := b.db.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `UPDATE river_job SET state = 'completed', finalized_at = now()`)
		require.NoError(t, err)
		require.Zero(t, ring(b))
		require.NoError(t, tx.Commit(t.Context()))
		require.Equal(t, 1, ring(b), "the intent is not finished: it gets another job")
		require.Equal(t, 1, b.count(`SELECT count(*) FROM river_job WHERE state = 'completed'`))
		require.Equal(t, 2, b.row(id).Jobs)
	})

	// River may give a job up while its attempt goes on.
	t.Run("AJobThatIsDiscardedInACallBuysOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		_, id := b.accepted()
		b.carrier.onCall = func() {
			b.exec(`UPDATE river_job SET state = 'discarded', finalized_at = now()`)
			require.Zero(t, ring(b), "the lease lives")
			requireSnooze(t, b.buyer.Work(t.Context(), rung(BuyLabel{IntentID: id, Carrier: "sim"})))
		}
		require.NoError(t, b.work(id))
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.callCount())
	})
}

// TestNobodyIsNotifiedOfJobs: nobody listens for jobs, so no order pays for telling of its own, but for
// a process's first.
func TestNobodyIsNotifiedOfJobs(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	conn, err := b.db.Acquire(t.Context())
	require.NoError(t, err)
	listener := conn.Hijack()
	t.Cleanup(func() { _ = listener.Close(context.WithoutCancel(t.Context())) })
	_, err = listener.Exec(t.Context(), `LISTEN "public.river_insert"`)
	require.NoError(t, err)

	b.accepted()
	for began := time.Now(); time.Since(began) < 2*river.FetchCooldownDefault; {
		b.accepted()
	}
	b.exec(`SELECT pg_notify('public.river_insert', 'the last')`)
	first, err := listener.WaitForNotification(t.Context())
	require.NoError(t, err)
	require.Contains(t, first.Payload, SharedQueue)
	last, err := listener.WaitForNotification(t.Context())
	require.NoError(t, err)
	require.Equal(t, "the last", last.Payload)
}

// TestNextRetry: however often a job has failed, it comes again, soon.
func TestNextRetry(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed, func(c *Config) { c.Now = func() time.Time { return t0 } })
	for _, failures := range []int{0, 1, 5, 20, 310, 1000, maxJobAttempts} {
		job := rung(BuyLabel{})
		job.Errors = make([]rivertype.AttemptError, failures)
		for range 50 {
			delay := b.buyer.NextRetry(job).Sub(t0)
			require.GreaterOrEqual(t, delay, time.Duration(0), "after %d failures", failures)
			require.LessOrEqual(t, delay, maxBackoff, "after %d failures", failures)
		}
	}
}

// openGate counts who went in and who came out.
type openGate struct{ in, out int }

func (g *openGate) Enter() (func(carrier.Outcome), time.Duration) {
	g.in++
	return func(carrier.Outcome) { g.out++ }, 0
}

// TestEveryExit: whichever way an attempt ends, it gives back its place at the gate, once, and its lease
// ends.
func TestEveryExit(t *testing.T) {
	t.Parallel()
	exits := map[string]func(b *testBundle, id uuid.UUID){
		"Bought":         func(*testBundle, uuid.UUID) {},
		"Rejected":       func(b *testBundle, _ uuid.UUID) { b.carrier.will(reply{answer: rejected}) },
		"NotBought":      func(b *testBundle, _ uuid.UUID) { b.carrier.will(reply{answer: notBought}) },
		"Unknown":        func(b *testBundle, _ uuid.UUID) { b.carrier.will(reply{answer: unknown}) },
		"Panic":          func(b *testBundle, _ uuid.UUID) { b.carrier.onCall = func() { panic("planted") } },
		"HeldByOther":    func(b *testBundle, id uuid.UUID) { b.claimed(id) },
		"AlreadySettled": func(b *testBundle, id uuid.UUID) { b.workUntilSettled(id) },
		"LookUp":         func(b *testBundle, id uuid.UUID) { b.claimed(id); b.expireLease(id) },
		"LookUpFails": func(b *testBundle, id uuid.UUID) {
			b.claimed(id)
			b.expireLease(id)
			b.carrier.findErr = errPlanted
		},
		"CannotBeRead": func(b *testBundle, _ uuid.UUID) { b.exec(`UPDATE label_intents SET request = '[]'`) },
		"OtherCarrier": func(b *testBundle, _ uuid.UUID) { b.exec(`UPDATE label_intents SET carrier = 'dove'`) },
		"DatabaseRefuses": func(b *testBundle, _ uuid.UUID) {
			b.exec(`ALTER TABLE label_intents ADD CHECK (attempts = 0)`)
		},
	}
	for name, prepare := range exits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, byLookup)
			_, id := b.accepted()
			prepare(b, id)
			var gate openGate
			buyer, err := b.box.NewBuyer(map[string]Account{"sim": {Carrier: b.carrier, Timeout: time.Second, Gate: &gate}})
			require.NoError(t, err)
			func() {
				defer func() { _ = recover() }() // as River does
				_ = buyer.Work(t.Context(), rung(BuyLabel{IntentID: id, Carrier: "sim"}))
			}()
			require.Equal(t, openGate{in: 1, out: 1}, gate)
			if !strings.Contains("Panic HeldByOther", name) {
				require.False(t, b.row(id).Leased, "the lease is given back")
			}
			require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys WHERE lease_token IS NOT NULL AND locked_until IS NULL`))
		})
	}
}

var errPlanted = errors.New("planted")

// claimed takes the lease of an intent, as an attempt does that then dies.
func (b *testBundle) claimed(id uuid.UUID) {
	b.t.Helper()
	c, err := b.box.claim(b.t.Context(), id, b.carrier)
	require.NoError(b.t, err)
	require.Equal(b.t, granted, c.status)
}

// TestShareOfWorkers: what a carrier has above its share of the shared queue's workers is moved aside, and
// bought from there; what is elsewhere already takes nobody's place.
func TestShareOfWorkers(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	buyer, err := b.box.NewBuyer(map[string]Account{"sim": {Carrier: b.carrier, Timeout: b.box.cfg.Lease / 3, Share: 1}})
	require.NoError(t, err)
	work := func(id uuid.UUID) error {
		var row rivertype.JobRow
		require.NoError(t, b.db.QueryRow(t.Context(), `
			SELECT id, queue FROM river_job WHERE args ->> 'intent_id' = $1`, id.String()).Scan(&row.ID, &row.Queue))
		return buyer.Work(t.Context(), &river.Job[BuyLabel]{JobRow: &row, Args: BuyLabel{IntentID: id, Carrier: "sim"}})
	}
	queueOf := func(id uuid.UUID) (queue string) {
		require.NoError(t, b.db.QueryRow(t.Context(), `
			SELECT queue FROM river_job WHERE args ->> 'intent_id' = $1`, id.String()).Scan(&queue))
		return queue
	}
	_, first := b.accepted()
	_, second := b.accepted()
	_, third := b.accepted()
	b.carrier.onCall = func() { // while the first is being bought
		b.carrier.mu.Lock()
		b.carrier.onCall = nil
		b.carrier.mu.Unlock()
		require.Zero(t, requireSnooze(t, work(second)))
		require.Equal(t, "labels-sim", queueOf(second))
		require.NoError(t, work(second))
	}
	require.NoError(t, work(first))
	require.NoError(t, work(third))
	require.Equal(t, SharedQueue, queueOf(third), "the first has given its place back")
	require.Equal(t, 3, b.carrier.charges())
}

// TestACarriersNameThatIsNoQueue: one label of a carrier whose name River does not take for a queue
// keeps nobody else's job away.
func TestACarriersNameThatIsNoQueue(t *testing.T) {
	t.Parallel()
	b, _, _ := setupTwoSteps(t)
	_, odd := b.sold()
	_, good := b.sold()
	b.exec(`DELETE FROM river_job`)
	b.exec(`UPDATE labels SET bought_at = bought_at - interval '1 minute'`)
	b.exec(`UPDATE labels SET carrier = 'ups_' WHERE label_id = $1`, odd)
	_, err := b.box.Ring(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, b.count(documentJobs+` AND queue = $1 AND args ->> 'label_id' = $2`, SharedQueue, odd.String()))
	require.Equal(t, 1, b.count(documentJobs+` AND queue = $1 AND args ->> 'label_id' = $2`, Queue("sim"), good.String()))
}

// TestJobsAreDatedByTheDatabase: a process whose clock is ahead must not have its jobs wait for that.
func TestJobsAreDatedByTheDatabase(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	_, id := b.accepted()
	require.Equal(t, 1, b.count(`
		SELECT count(*)
		FROM river_job AS j
		JOIN label_intents AS i ON i.intent_id::text = j.args ->> 'intent_id'
		-- Both are now(): of one transaction, and of no other clock.
		WHERE i.intent_id = $1 AND j.scheduled_at = i.created_at AND j.state = 'available'`, id))
}
