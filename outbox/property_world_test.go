package outbox

import (
	"cmp"
	"context"
	"encoding/json/v2"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/internal/history"
)

// worlds numbers the sequences: each has callers and orders of its own, in a shared database.
var worlds atomic.Int64

// world is one random life: a service, a carrier, callers and their keys, and a clock of its own. It
// knows what callers were told, and what the carrier charged.
type world struct {
	*rapid.T

	ctx     context.Context
	db      *pgxpool.Pool
	caps    carrier.Capabilities
	carrier *ledgerCarrier
	box     *Outbox
	buyer   *Buyer

	number  int64
	callers []string

	// later is how far this world's clock is ahead.
	later atomic.Int64

	told     history.State
	recorder *history.Recorder
	orders   map[string]Submission // what was accepted, by intent
	stalled  []*stalled
	ends     map[string]string // final intents as the tables showed them first
}

// stalled is an attempt that stands still after one of its steps, and may go on, or never will.
type stalled struct {
	*attempt

	item     *completeItem // what it has seen, once the step is done
	sendable time.Time     // until when it may send at most, by the promise
}

func newWorld(t *rapid.T, ctx context.Context, db *pgxpool.Pool, caps carrier.Capabilities) *world {
	w := &world{
		T: t, ctx: ctx, db: db, caps: caps, number: worlds.Add(1),
		orders: map[string]Submission{}, ends: map[string]string{},
	}
	w.callers = []string{fmt.Sprintf("a%d", w.number), fmt.Sprintf("b%d", w.number)}
	w.carrier = newLedgerCarrier(caps, w.now)
	w.recorder = history.NewRecorder(time.Now)
	w.start()
	return w
}

func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }

// start makes a process; stop ends it. Nothing but the tables passes from one to the next.
func (w *world) start() {
	box, err := New(w.ctx, w.db, Config{
		Lease:    time.Minute,
		Policy:   Policy{MaxCalls: 4, MaxDeferrals: 3, MaxFailedLookups: 5},
		Queue:    16,
		Flushers: 1,
		Logger:   zap.NewNop(),
		Metrics:  NewMetrics(prometheus.NewRegistry()),
		Now:      w.now,
	})
	require.NoError(w, err)
	w.box = box
	w.buyer, err = box.NewBuyer(map[string]Account{"sim": {Carrier: w.carrier, Timeout: 20 * time.Second}})
	require.NoError(w, err)
}

func (w *world) stop() { require.NoError(w, w.box.Close(w.ctx)) }

func (w *world) exec(sql string, args ...any) {
	_, err := w.db.Exec(w.ctx, sql, args...)
	require.NoError(w, err)
}

// pass lets time pass: for the carrier, for the processes, and for all that this world has stored.
func (w *world) pass(by time.Duration) {
	w.later.Add(int64(by))
	w.exec(`
		WITH keys AS (
			UPDATE idempotency_keys SET
				locked_until = locked_until - $2::interval,
				expires_at = expires_at - $2::interval
			WHERE caller_id = ANY ($1)
		)
		UPDATE label_intents SET
			created_at = created_at - $2::interval,
			first_called_at = first_called_at - $2::interval,
			last_call_until = last_call_until - $2::interval,
			last_lookup_at = last_lookup_at - $2::interval,
			not_before = not_before - $2::interval
		WHERE caller_id = ANY ($1)`, w.callers, by.String())
}

// submission draws from so few callers, keys, parcels and bodies that they meet.
func (w *world) submission() Submission {
	return w.submissionOf(
		rapid.SampledFrom(w.callers).Draw(w.T, "caller"),
		rapid.IntRange(1, 3).Draw(w.T, "key"),
		rapid.IntRange(1, 3).Draw(w.T, "parcel"),
		rapid.IntRange(1, 2).Draw(w.T, "body"))
}

func (w *world) submissionOf(caller string, key, parcel, body int) Submission {
	s := submission()
	s.CallerID, s.Key = caller, "k"+strconv.Itoa(key)
	s.Parcel = Parcel{OrderID: 1_000_000 + w.number, ParcelNo: int32(parcel), LabelVersion: 1}
	s.Shipment.WeightG = int64(1000*parcel + body)
	return s.withBody(fmt.Sprintf("parcel %d, body %d", parcel, body))
}

func (s Submission) historical() history.Request {
	return history.Request{
		Op: history.Submit, Caller: s.CallerID, Key: s.Key,
		Body: string(s.Fingerprint[:4]), Parcel: strconv.Itoa(int(s.Parcel.ParcelNo)),
	}
}

// historical is an answer as the model knows it.
func (a Answer) historical() history.Answer {
	told := history.Answer{}
	if a.IntentID != uuid.Nil {
		told.Intent = a.IntentID.String()
	}
	switch a.Kind {
	case Accepted:
		told.Kind = history.Accepted
	case InProgress, Doubtful:
		told.Kind = history.Open
	case Final:
		told.Kind = history.Final
		told.State = map[int]string{201: "purchased", 422: "rejected", 502: "failed"}[a.Status]
		told.Bytes = fmt.Sprintf("%d %s", a.Status, a.Body)
	case KeyReused:
		told.Kind = history.Reused
	case ParcelLabelled:
		told.Kind = history.Taken
	case NoSuchKey:
		told.Kind = history.NotFound
	}
	return told
}

// submit sends a submission and returns its answer, on record. Only the caller says what it means.
func (w *world) submit(client int, s Submission) history.Answer {
	end := w.recorder.Begin(client, s.historical())
	a, err := w.box.Accept(w.ctx, s)
	require.NoError(w, err)
	told := a.historical()
	end(told)
	return told
}

// heed steps the model: the answer must be one that may be given now.
func (w *world) heed(s Submission, a history.Answer) {
	next, ok := w.told.Step(s.historical(), a)
	if !ok {
		w.Fatalf("L4, L6 or L7: %+v is told %+v, after %+v", s.historical(), a, w.told.Intents())
	}
	w.told = next
	if a.Kind == history.Accepted {
		w.orders[a.Intent] = s
	}
}

// atOnce runs both at the same time.
func atOnce(one, other func()) {
	var wg sync.WaitGroup
	wg.Go(one)
	wg.Go(other)
	wg.Wait()
}

// work runs one attempt from its claim to its end, whatever River would say of the time.
func (w *world) work(id uuid.UUID) {
	// What it returns is for River. Errors that matter show in the tables.
	_ = w.buyer.Work(w.ctx, &river.Job[BuyLabel]{
		JobRow: &rivertype.JobRow{ID: 1, Attempt: 1},
		Args:   BuyLabel{IntentID: id, Carrier: "sim"},
	})
}

// stall claims, and goes no further.
func (w *world) stall(id uuid.UUID) {
	began := w.now()
	c, err := w.box.claim(w.ctx, id, w.carrier)
	require.NoError(w, err)
	if c.status != granted {
		return
	}
	slept := 10 * time.Minute // a keyed carrier's margin takes that
	if w.caps.Lookup != nil {
		slept = w.caps.Lookup.QuietPeriod() - time.Second
	}
	w.stalled = append(w.stalled, &stalled{
		sendable: began.Add(w.box.cfg.Lease + slept),
		attempt: &attempt{
			Buyer: w.buyer, account: w.buyer.accounts["sim"], claimed: c,
			logger: zap.NewNop(), done: func(carrier.Outcome) {},
		},
	})
}

// goOn does the step of a stalled attempt. Asleep, it sends without another look at its lease, as a
// process does that was stopped between the look and the send.
func (w *world) goOn(s *stalled, asleep bool) {
	var ship carrier.Shipment
	require.NoError(w, json.Unmarshal(s.order.request, &ship))
	var concl conclusion
	if asleep && s.plan.step == callStep {
		if w.now().After(s.sendable) {
			return
		}
		concl = concludeCall(s.before, w.carrier.Buy(w.ctx, carrier.Purchase{
			CarrierKey: carrierKey(s.lease.slot, s.order.generation), Reference: s.order.reference, Shipment: ship,
		}), w.caps, w.box.cfg.Policy)
	} else {
		var err error
		concl, err = s.step(w.ctx, ship)
		require.NoError(w, err)
	}
	if label := concl.label; label != nil {
		label.Service = cmp.Or(label.Service, ship.Service)
		label.Document.Format = cmp.Or(label.Document.Format, ship.Format)
	}
	s.item = &completeItem{
		lease: s.lease, order: s.order, conclusion: concl, account: w.carrier.Account(),
		began: s.before.now, boughtAt: s.before.now, labelID: uuid.Must(uuid.NewV7()),
	}
}

// deliver offers what a stalled attempt has seen. A label whose intent is held is kept to be offered again.
func (w *world) deliver(s *stalled) {
	result, err := w.box.completing.Do(w.ctx, *s.item)
	require.NoError(w, err)
	if result != lostLease || s.item.conclusion.state != Purchased {
		w.drop(s)
	}
}

func (w *world) drop(s *stalled) {
	for i := range w.stalled {
		if w.stalled[i] == s {
			w.stalled = append(w.stalled[:i:i], w.stalled[i+1:]...)
			return
		}
	}
}

// reference is what the carrier knows an intent's parcel by.
func (w *world) reference(id uuid.UUID) string { return reference(w.orders[id.String()].Parcel) }

// mayStillBuy tells whether a call is under way, or a process sleeps before its send: a person who
// asked the carrier would not be told for certain.
func (w *world) mayStillBuy(id uuid.UUID) bool {
	for _, s := range w.stalled {
		if s.lease.intentID == id && s.item == nil {
			return true
		}
	}
	_, underWay := w.carrier.ledger(w.reference(id))
	return underWay
}

// settle is a person who asked the carrier: what was bought is bought, else it is tried again or not.
func (w *world) settle(id uuid.UUID, tryAgain bool) error {
	decision := Settlement{IntentID: id, Actor: "ops", Why: "the carrier was asked", Verdict: VerdictGiveUp}
	charged, _ := w.carrier.ledger(w.reference(id))
	switch {
	case len(charged) > 0:
		decision.Verdict, decision.Account, decision.Label = VerdictBought, w.carrier.Account(), &charged[0]
	case tryAgain:
		decision.Verdict = VerdictTryAgain
	}
	err := w.box.Settle(w.ctx, decision)
	if err == nil {
		w.carrier.forgive(w.reference(id))
	}
	return err
}
