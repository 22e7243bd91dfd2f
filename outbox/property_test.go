package outbox

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/internal/history"
	"waybill/internal/testdb"
)

// Times that matter to a carrier of the properties: a lease is a minute, so all are of its size.
var (
	slowLookup = &carrier.Lookup{Lag: 30 * time.Second, Processing: time.Minute}
	propertyOf = map[string]carrier.Capabilities{
		"Keyed":           {Key: keyed.Key},
		"Lookup":          {Lookup: slowLookup},
		"Blind":           {},
		"KeyedWithLookup": {Key: keyed.Key, Lookup: slowLookup},
	}
)

// TestProperties lives random lives of some parcels and keys, on a real database: whatever callers do,
// whatever the carrier does and wherever processes stall and die, the laws hold after every step, and
// once it is over everything comes to an end that the carrier's ledger agrees with.
//
// More than the usual hundred of each class: -rapid.checks=20000.
func TestProperties(t *testing.T) {
	t.Parallel()
	for class, caps := range propertyOf {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			db := testdb.New(t)
			ctx := context.WithoutCancel(t.Context())
			rapid.Check(t, func(t *rapid.T) {
				w := newWorld(t, ctx, db, caps)
				defer func() { w.stop() }()
				t.Repeat(w.actions())
				w.endWell()
			})
		})
	}
}

// actions are what can happen, in any order.
func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": w.with(func() { w.check() }),

		"submit": w.with(func() {
			s := w.submission()
			w.heed(s, w.submit(0, s))
		}),
		"submit a second time": w.with(func() {
			id := w.anyIntent()
			s := w.orders[id.String()]
			w.heed(s, w.submit(0, s))
		}),
		"submit two at once": w.with(w.submitTwo),
		"look up":            w.with(w.lookUp),

		"work": w.with(func() {
			id := w.anyIntent()
			w.meet(1)
			w.work(id)
		}),
		"work on and on": w.with(func() {
			id := w.anyIntent()
			for range rapid.IntRange(2, 5).Draw(w.T, "times") {
				w.meet(1)
				w.work(id)
				w.pass(31 * time.Second)
			}
		}),
		"two workers at once": w.with(func() {
			id := w.anyIntent()
			w.meet(2)
			atOnce(func() { w.work(id) }, func() { w.work(id) })
		}),
		"stall after the claim": w.with(func() { w.stall(w.anyIntent()) }),
		"go on": w.with(func() {
			s := w.anyStalled(func(s *stalled) bool { return s.item == nil })
			w.meet(1)
			w.goOn(s, rapid.Bool().Draw(w.T, "asleep"))
		}),
		"deliver": w.with(func() {
			w.deliver(w.anyStalled(func(s *stalled) bool { return s.item != nil }))
		}),
		"die": w.with(func() { w.drop(w.anyStalled(func(*stalled) bool { return true })) }),
		"restart": w.with(func() {
			w.stop()
			w.stalled = nil
			w.start()
		}),

		"time passes": w.with(func() {
			w.pass(rapid.SampledFrom([]time.Duration{
				time.Second, 7 * time.Second, 31 * time.Second, 61 * time.Second, 97 * time.Second,
				5 * time.Minute, time.Hour, 25 * time.Hour,
			}).Draw(w.T, "time"))
		}),
		"sweep": w.with(func() {
			_, err := w.box.SweepKeys(w.ctx)
			require.NoError(w, err)
		}),
		"jobs are lost": w.with(w.loseJobs),
		"ring":          w.with(w.ring),
		"a person decides": w.with(func() {
			id := w.anyIntent()
			if w.mayStillBuy(id) {
				w.Skip("nobody knows yet")
			}
			waits := w.rows()[id].settledBy == SettledByPerson
			err := w.settle(id, rapid.Bool().Draw(w.T, "try again"))
			if waits {
				require.NoError(w, err)
			} else {
				require.ErrorIs(w, err, ErrNotSettleable)
			}
		}),
	}
}

func (w *world) with(action func()) func(*rapid.T) {
	return func(t *rapid.T) {
		w.T = t
		action()
	}
}

// meet draws how the carrier will meet the next calls and look-ups.
func (w *world) meet(calls int) {
	w.carrier.will(drawMood(w.T, calls)...)
	w.carrier.findFail = w.caps.Lookup != nil && rapid.IntRange(0, 4).Draw(w.T, "look-up fails") == 4
}

func (w *world) anyIntent() uuid.UUID {
	if len(w.orders) == 0 {
		w.Skip("no intents yet")
	}
	return uuid.MustParse(rapid.SampledFrom(slices.Sorted(maps.Keys(w.orders))).Draw(w.T, "intent"))
}

func (w *world) anyStalled(fits func(*stalled) bool) *stalled {
	var fitting []*stalled
	for _, s := range w.stalled {
		if fits(s) {
			fitting = append(fitting, s)
		}
	}
	if len(fitting) == 0 {
		w.Skip("none stalls there")
	}
	return fitting[rapid.IntRange(0, len(fitting)-1).Draw(w.T, "attempt")]
}

// submitTwo lets two submissions meet. Either may come first, but one order must explain both answers.
func (w *world) submitTwo() {
	one, other := w.submission(), w.submission()
	if rapid.Bool().Draw(w.T, "of one key") {
		other.CallerID, other.Key = one.CallerID, one.Key
	}
	var first, second history.Answer
	atOnce(func() { first = w.submit(1, one) }, func() { second = w.submit(2, other) })
	if next, ok := w.told.Step(one.historical(), first); ok {
		if _, ok := next.Step(other.historical(), second); ok {
			w.heed(one, first)
			w.heed(other, second)
			return
		}
	}
	w.heed(other, second)
	w.heed(one, first)
}

// lookUp asks for a key as a request that fails validation does: nothing is stored.
func (w *world) lookUp() {
	s := w.submission()
	a, err := w.box.Lookup(w.ctx, s.CallerID, s.Key, &s.Fingerprint)
	require.NoError(w, err)
	if a.Kind == NoSuchKey {
		_, ok := w.told.Step(history.Request{Op: history.Read, Caller: s.CallerID, Key: s.Key}, a.historical())
		require.True(w, ok, "L1: the key %s is gone", s.Key)
		return
	}
	w.heed(s, a.historical())
}

func (w *world) loseJobs() {
	w.exec(`
		DELETE FROM river_job WHERE (args ->> 'intent_id')::uuid IN (
			SELECT intent_id FROM label_intents WHERE caller_id = ANY ($1))`, w.callers)
}

// ring rings, and then every intent that a job can bring further has one.
func (w *world) ring() {
	w.pass(7 * time.Second) // younger intents are not missed
	_, err := w.box.Ring(w.ctx)
	require.NoError(w, err)
	var without int
	require.NoError(w, w.db.QueryRow(w.ctx, `
		SELECT count(*)
		FROM label_intents AS i
		JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		WHERE i.caller_id = ANY ($1) AND i.state IN ('pending', 'in_doubt')
			AND i.settled_by IS DISTINCT FROM 'person'
			AND (k.locked_until IS NULL OR k.locked_until < clock_timestamp())
			AND (SELECT count(*) FROM river_job AS j
				WHERE (j.args ->> 'intent_id')::uuid = i.intent_id AND j.state = 'available') <> 1`,
		w.callers).Scan(&without))
	require.Zero(w, without, "L8: unfinished intents without their one job")
}

// shown is an intent as the tables have it.
type shown struct {
	id           uuid.UUID
	caller, key  string
	state        State
	settledBy    Settler
	openCalls    int
	keyState     string // "" once purged
	answer       string
	carrierLabel string
	costCents    int64
	labels       int

	keys int // of this world, in all
}

func (w *world) rows() map[uuid.UUID]shown {
	rows, err := w.db.Query(w.ctx, `
		SELECT i.intent_id, i.caller_id, i.idem_key, i.state, coalesce(i.settled_by, ''), i.open_calls,
			coalesce(k.state, ''), coalesce(k.response_status || ' ' || convert_from(k.response_body, 'UTF8'), ''),
			coalesce(l.carrier_label_id, ''), coalesce(l.cost_cents, 0),
			(SELECT count(*) FROM labels AS l WHERE l.intent_id = i.intent_id),
			(SELECT count(*) FROM idempotency_keys AS k WHERE k.caller_id = ANY ($1))
		FROM label_intents AS i
		LEFT JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		LEFT JOIN labels AS l ON l.label_id = i.label_id
		WHERE i.caller_id = ANY ($1)`, w.callers)
	require.NoError(w, err)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r shown, err error) {
		err = row.Scan(&r.id, &r.caller, &r.key, &r.state, &r.settledBy, &r.openCalls,
			&r.keyState, &r.answer, &r.carrierLabel, &r.costCents, &r.labels, &r.keys)
		return r, err
	})
	require.NoError(w, err)
	byID := make(map[uuid.UUID]shown, len(all))
	for _, r := range all {
		byID[r.id] = r
	}
	return byID
}

func (s State) final() bool { return s == Purchased || s == Rejected || s == Failed }

// check holds the tables against the model and the carrier's ledger.
func (w *world) check() map[uuid.UUID]shown {
	rows := w.rows()
	intents := w.told.Intents()
	require.Len(w, rows, len(intents), "L1 and L6: one intent for each that was accepted, and no other")
	keys, all := 0, 0
	for _, i := range intents {
		r, ok := rows[uuid.MustParse(i.ID)]
		require.True(w, ok, "L1: intent %s vanished", i.ID)
		require.Equal(w, []string{i.Caller, i.Key}, []string{r.caller, r.key}, "L7")
		w.checkEnd(r, i)
		w.checkMoney(r)
		if all = r.keys; r.keyState != "" {
			keys++
		}
	}
	require.Equal(w, keys, all, "L6: a refusal leaves no key")
	require.Empty(w, w.carrier.breaches, "L2")
	return rows
}

// checkEnd: what was final stays as it was, and only a final intent's key is ever purged.
func (w *world) checkEnd(r shown, i history.Intent) {
	if !r.state.final() {
		require.Equal(w, "started", r.keyState, "L1: intent %s has lost its key", i.ID)
		require.False(w, i.Final, "L5: intent %s is %s again", i.ID, r.state)
		return
	}
	require.NotEqual(w, "started", r.keyState, "intent %s is final and has no answer", i.ID)
	end := fmt.Sprintf("%s %s %d", r.state, r.carrierLabel, r.costCents)
	first, seen := w.ends[i.ID]
	if !seen {
		w.ends[i.ID] = end
		first = end
	}
	require.Equal(w, first, end, "L5")
	if i.Final {
		require.EqualValues(w, i.Verdict, r.state, "L4")
		if r.keyState != "" {
			require.Equal(w, i.Bytes, r.answer, "L4")
		}
	}
}

// checkMoney: at most one charge, known of, and no label without it.
func (w *world) checkMoney(r shown) {
	charged, _ := w.carrier.ledger(w.reference(r.id))
	require.LessOrEqual(w, len(charged), 1, "L2: %s is charged twice", w.reference(r.id))
	require.Equal(w, r.state == Purchased, r.labels == 1, "L3: %s has %d labels", r.state, r.labels)
	if r.state == Purchased {
		require.Len(w, charged, 1, "L9: a label that was not charged")
		require.Equal(w, charged[0].ID, r.carrierLabel, "L9")
		require.Equal(w, charged[0].Cost.Cents, r.costCents, "L9")
		return
	}
	if len(charged) > 0 {
		require.False(w, r.state.final(), "L3: %s although it was charged", r.state)
		require.Positive(w, r.openCalls, "L3: charged, and nobody knows")
	}
}

// endWell ends all faults: every intent comes to its end, most without a person, and the ledger
// agrees to the cent. Then time passes, keys are purged, and every answer is what it was.
func (w *world) endWell() {
	w.stalled = nil
	w.carrier.will()
	w.carrier.findFail = false
	w.pass(time.Hour) // leases end, and what is under way arrives
	rows := w.check()
	for round := 0; round < 20 && w.workOn(rows); round++ {
		w.pass(slowLookup.QuietPeriod())
		rows = w.check()
	}
	var labels, ledger int64
	for id, r := range rows {
		require.True(w, r.state.final(), "L8: %s is %s for ever", id, r.state)
		labels += r.costCents
		charged, _ := w.carrier.ledger(w.reference(id))
		for _, c := range charged {
			ledger += c.Cost.Cents
		}
	}
	require.Equal(w, ledger, labels, "L9")
	w.repeatAll()
	w.pass(25 * time.Hour)
	_, err := w.box.SweepKeys(w.ctx)
	require.NoError(w, err)
	w.repeatAll()
	w.check()
	w.loseJobs()
	require.NoError(w, history.Check(w.recorder.Operations(), time.Minute))
}

// workOn works on what is open, and decides what waits for a person. It tells whether there was any.
func (w *world) workOn(rows map[uuid.UUID]shown) bool {
	open := false
	for _, id := range slices.SortedFunc(maps.Keys(rows), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) {
		switch r := rows[id]; {
		case r.state.final():
		case r.settledBy == SettledByPerson:
			require.NoError(w, w.settle(id, true))
			open = true
		default:
			w.work(id)
			open = true
		}
	}
	return open
}

func (w *world) repeatAll() {
	for _, id := range slices.Sorted(maps.Keys(w.orders)) {
		s := w.orders[id]
		a := w.submit(0, s)
		require.Equal(w, history.Final, a.Kind)
		w.heed(s, a)
	}
}
