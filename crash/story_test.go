//go:build faultinject

package crash

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"waybill/carrier"
	"waybill/outbox"
)

var ctx = context.Background()

// scripts are what a carrier does with the first calls of a story.
var scripts = map[string][]reply{
	"Bought":   nil,
	"Lost":     {{charge: true, answer: unknown}},
	"Never":    {{answer: unknown}},
	"Late":     {{charge: true, late: processing, answer: unknown}},
	"Refused":  {{answer: carrier.Result{Outcome: carrier.Rejected, Code: "address"}}},
	"Restored": nil, // The database is a backup, and the order may repeat one that was lost.
	"Deferred": {{answer: carrier.Result{Outcome: carrier.NotBought, Code: "busy", RetryAfter: 2 * time.Second}}},
}

var unknown = carrier.Result{Outcome: carrier.Unknown, Code: "timeout"}

// hard are the scripts that lead a class through every point it has.
var hard = map[carrier.Class]string{carrier.Keyed: "Lost", carrier.ByLookup: "Never", carrier.Blind: "Lost"}

// story is an order as its client, the carrier, the operator and the workers live it, from the first
// request to long after the purge of its key.
type story struct {
	*world

	order    outbox.Submission
	restored bool // from a backup
	// tryAgain is how many calls there were when the operator ordered another one; deferred how many
	// the carrier puts off.
	tryAgain, deferred int

	mu    sync.Mutex
	heard []heard
}

// heard is an answer that a client got, and to what.
type heard struct {
	to     string
	answer outbox.Answer
}

// The requests of a story: the order, the same key with another body, the same parcel and body with
// another key, and the parcel under another caller.
const (
	theOrder    = "the order"
	otherBody   = "another body"
	otherKey    = "another key"
	otherCaller = "another caller"
)

// theNote is what the client writes on its label.
const theNote = "ring twice"

func newStory(w *world, n int64) *story {
	s := &story{world: w, order: outbox.Submission{
		CallerID:  w.caller,
		Key:       fmt.Sprintf("label:%d:1:v1", n),
		RequestID: fmt.Sprintf("request-%d", n),
		Parcel:    outbox.Parcel{OrderID: n, ParcelNo: 1, LabelVersion: 1},
		Carrier:   "sim",
		Shipment: carrier.Shipment{
			Service: "ground", WeightG: 1450, Format: carrier.PDF,
			ShipFrom: carrier.Address{Name: "Dock 4", Street1: "1 Main St", City: "Springfield", PostalCode: "62701", Country: "US"},
			ShipTo:   carrier.Address{Name: "A B", Street1: "2 Elm St", City: "Shelbyville", PostalCode: "62565", Country: "US"},
		},
	}}
	s.order.Fingerprint = sha256.Sum256([]byte("the body"))
	s.rival = s.compete
	return s
}

func (s *story) request(what string) outbox.Submission {
	sub := s.order
	switch what {
	case otherBody:
		sub.Fingerprint = sha256.Sum256([]byte("another body"))
		sub.Shipment.WeightG = 9999
	case otherKey:
		sub.Key += ":again"
	case otherCaller:
		sub.CallerID += "-other"
		sub.Fingerprint = sha256.Sum256([]byte("theirs"))
	}
	return sub
}

func (s *story) hear(to string, a outbox.Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, heard{to, a})
}

// submit sends a request as a good client does: until there is an answer.
func (s *story) submit(what string) outbox.Answer {
	return s.until(what, func(p *process) (outbox.Answer, error) { return p.box.Accept(p.ctx, s.request(what)) })
}

// until repeats a request until it is answered.
func (s *story) until(what string, request func(*process) (outbox.Answer, error)) outbox.Answer {
	for range 20 {
		answered := make(chan outbox.Answer, 1)
		err := s.ask(func(p *process) error {
			a, err := request(p)
			if err == nil && !p.grave() {
				s.hear(what, a)
				answered <- a
			}
			return err
		})
		if err == nil {
			return <-answered
		}
	}
	s.require().Fail("no answer to " + what + ", however often it is sent")
	return outbox.Answer{}
}

// play tells the story to its end.
func (s *story) play() {
	if s.restored {
		s.beginRecovery()
	}
	a := s.submit(theOrder)
	s.require().NotEqual(uuid.Nil, a.IntentID)
	s.submit(otherBody)
	s.settle()
	if !s.restored {
		s.beginRecovery()
	}
	s.endRecovery()
	s.wakeAll()
	s.settle() // Whoever overslept may have left something to do.
	s.revise()
	s.afterwards(a.IntentID)
	s.turn(25 * time.Hour)
	s.purge()
	s.afterwards(a.IntentID)
	s.void()
	for range 3 { // Bells that ring for nothing, and one that died over it.
		s.rescue()
		for s.round() {
			s.require().LessOrEqual(s.started, 30)
		}
		s.turn(2 * time.Hour)
	}
}

// settle is how the workers, and the operator, bring the intent to its end.
func (s *story) settle() {
	for range 200 {
		state, settler := s.state()
		switch {
		case state != string(outbox.Pending) && state != string(outbox.InDoubt):
			return
		case settler == string(outbox.SettledByPerson):
			if s.mode != napping || !s.wakeAll() {
				s.decide()
			}
		case s.round():
		case s.mode == napping && s.wakeAll():
		default:
			s.turn(2 * time.Second)
		}
	}
	s.require().Fail("the intent does not settle")
}

func (s *story) state() (state, settler string) {
	err := s.db.QueryRow(ctx, `
		SELECT state, coalesce(settled_by, '') FROM label_intents WHERE caller_id = $1`, s.caller).Scan(&state, &settler)
	s.require().False(errors.Is(err, pgx.ErrNoRows), "L1: an intent that was accepted has vanished")
	s.require().NoError(err)
	return state, settler
}

// decide is the operator, with the carrier's invoice in hand.
func (s *story) decide() {
	var reference string
	var id uuid.UUID
	s.require().NoError(s.db.QueryRow(ctx, `
		SELECT intent_id, reference FROM label_intents WHERE caller_id = $1`, s.caller).Scan(&id, &reference))
	settlement := outbox.Settlement{
		IntentID: id, Verdict: outbox.VerdictTryAgain, Actor: "ops", Why: "the invoice of the day",
	}
	sold, calls := s.witness.ledger()
	if labels := sold[reference]; len(labels) > 0 {
		settlement.Verdict, settlement.Account, settlement.Label = outbox.VerdictBought, account, &labels[0]
	} else {
		s.tryAgain = calls
	}
	_ = s.ask(func(p *process) error { return p.box.Settle(p.ctx, settlement) }) // The state tells.
}

// revise is the client that holds its label and writes a note on it, of the label as it was bought,
// until it is told that it is done.
func (s *story) revise() {
	held, note := true, theNote
	label := s.change(outbox.Change{Held: &held, Note: &note}, outbox.Condition{outbox.FirstRevision})
	if label != nil {
		s.require().EqualValues(outbox.FirstRevision+1, label.Revision)
	}
}

// void is the client that wants its money back.
func (s *story) void() { s.change(outbox.Change{Void: true}, nil) }

// change changes the label until the client is told that it is done; nil if there is none.
func (s *story) change(change outbox.Change, when outbox.Condition) *outbox.Label {
	var id uuid.UUID
	err := s.db.QueryRow(ctx, `SELECT label_id FROM labels WHERE caller_id = $1`, s.caller).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	s.require().NoError(err)
	for range 20 {
		changed := make(chan outbox.Label, 1)
		if s.ask(func(p *process) error {
			label, err := p.box.Revise(p.ctx, s.caller, id, change, when)
			if err == nil && !p.grave() {
				changed <- label
			}
			return err
		}) == nil {
			return new(<-changed)
		}
	}
	s.require().Fail("the label is not changed, however often it is asked for")
	return nil
}

// afterwards is all that a client can ask when everything is decided.
func (s *story) afterwards(id uuid.UUID) {
	s.submit(theOrder)
	s.until(theOrder, func(p *process) (outbox.Answer, error) { return p.box.Wait(p.ctx, id) })
	for _, what := range []string{theOrder, otherBody} {
		sub := s.request(what)
		s.until(what, func(p *process) (outbox.Answer, error) {
			return p.box.Lookup(p.ctx, sub.CallerID, sub.Key, &sub.Fingerprint)
		})
	}
	s.submit(otherBody)
	s.submit(otherKey)
	s.submit(otherCaller)
}

// rescue is River's own rescue of jobs that have been running for an hour: an intent that an operator
// has settled is none of the ringer's business, whatever its job looks like.
func (s *story) rescue() {
	s.exec(`
		UPDATE river_job SET state = 'available', scheduled_at = clock_timestamp()
		WHERE state = 'running' AND attempted_at < clock_timestamp() - interval '1 hour'`)
}

// purge sweeps until the key is gone. A sweeper that died holds its rows until the server has noticed.
func (s *story) purge() {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if s.count(`SELECT count(*) FROM idempotency_keys WHERE caller_id = $1`, s.caller) == 0 {
			return
		}
		_ = s.ask(func(p *process) error { // It is done again until the key is gone.
			_, err := p.box.SweepKeys(p.ctx)
			return err
		})
	}
	s.require().Fail("the key is not purged")
}

// beginRecovery and endRecovery are the operator's: done again until they are done.
func (s *story) beginRecovery() {
	for range 20 {
		if s.count(`SELECT count(*) FROM recoveries`) > 0 {
			return
		}
		_ = s.ask(func(p *process) error {
			return p.box.BeginRecovery(p.ctx, outbox.Recovery{
				LostSince: time.Now().Add(-time.Hour), Actor: "ops", Why: "the disk is gone",
			})
		})
	}
	s.require().Fail("the recovery does not begin")
}

func (s *story) endRecovery() {
	for range 20 {
		if s.count(`SELECT count(*) FROM recoveries WHERE ended_at IS NULL`) == 0 {
			return
		}
		_ = s.ask(func(p *process) error {
			_, err := p.box.EndRecovery(p.ctx, "ops", "all is adopted")
			return err
		})
	}
	s.require().Fail("the recovery does not end")
}

func (s *story) count(sql string, args ...any) int {
	var n int
	s.require().NoError(s.db.QueryRow(ctx, sql, args...).Scan(&n))
	return n
}

// compete is what another process does at the same moment: the same request, the same purchase, the
// same housekeeping.
func (s *story) compete(p *process) {
	a, err := p.box.Accept(p.ctx, s.order)
	if err == nil {
		s.hear(theOrder, a)
		_ = p.buyer.Work(p.ctx, &river.Job[outbox.BuyLabel]{ // What it came to is in the tables.
			JobRow: &rivertype.JobRow{Attempt: 1}, Args: outbox.BuyLabel{IntentID: a.IntentID, Carrier: "sim"},
		})
	}
	_, _ = p.box.Ring(p.ctx)      // Both are
	_, _ = p.box.SweepKeys(p.ctx) // done again.
}
