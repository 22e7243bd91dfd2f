package outbox

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"waybill/carrier"
)

// The reasons an attempt ends as it does.
const (
	boughtAtOnce       Reason = "bought_at_once"
	foundByLookup      Reason = "found_by_lookup"
	refusedForGood     Reason = "refused_for_good"
	refusedAfterOpen   Reason = "refused_after_an_unknown"
	provedNotBought    Reason = "proved_not_bought"
	askedToWait        Reason = "asked_to_wait"
	attemptsSpent      Reason = "attempts_spent"
	outcomeUnknown     Reason = "outcome_unknown"
	boughtOtherwise    Reason = "bought_otherwise_than_ordered"
	keyMismatch        Reason = "key_names_another_order"
	failureReplayed    Reason = "failure_stays_with_the_key"
	lookupFailed       Reason = "lookup_failed"
	lookupFoundNone    Reason = "lookup_found_none"
	lookupFoundOther   Reason = "lookup_found_another_shipment"
	lookupFoundVoided  Reason = "lookup_found_only_voided"
	lookupFoundSeveral Reason = "lookup_found_several"
	lookupTooDear      Reason = "lookup_found_over_price"
	notBegun           Reason = "not_begun"   // the lease no longer covered the call
	soldBefore         Reason = "sold_before" // what was to be prepared is sold already
)

// How a label was learned of.
const (
	learnedByCall   = "call"
	learnedByLookup = "lookup"
	learnedLate     = "late_call"
	learnedByPerson = "person"
)

// allCalls closes however many are open.
const allCalls = 1 << 30

// follow says how the job goes on after an attempt.
type follow string

const (
	stop  follow = "stop"  // nothing more to do for a job
	retry follow = "retry" // after the back-off
	later follow = "later" // after the given delay, costing no attempt
)

// conclusion is what an attempt's outcome makes of its intent.
type conclusion struct {
	state     State
	settledBy Settler
	label     *carrier.Label
	learnedBy string
	reason    Reason

	// closes is how many open calls are open no more, because what came of them is known.
	closes   int
	refused  bool // counts against the budget
	deferred bool
	unbegun  bool // counted, and never sent
	counts   bool // counts a call that the claim did not: its preparation came to nothing
	lookedUp bool // a look-up answered, and found nothing

	// renew: what a two-step carrier made can no longer be bought; another must be made.
	renew bool

	// evidence is kept of everything that was not bought at once.
	evidence []evidence

	follow follow
	delay  time.Duration
}

// concludeCall decides what a purchase call's result makes of the intent. before is the intent as it
// stood when the call was planned: not counting this call, and with the earlier calls closed if a
// quiet period had proved them empty.
func concludeCall(before progress, res carrier.Result, caps carrier.Capabilities, policy Policy) conclusion {
	if res.Outcome == carrier.Bought && !storable(res.Label) {
		res = carrier.Result{Outcome: carrier.Unknown, Code: codeUnusable, Label: res.Label}
	}
	var c conclusion
	switch res.Outcome {
	case carrier.Bought:
		return conclusion{
			state: Purchased, label: res.Label, learnedBy: learnedByCall, reason: boughtAtOnce,
			closes: 1, follow: stop,
		}
	case carrier.Rejected:
		c = concludeRejected(before, caps)
	case carrier.NotBought:
		c = concludeNotBought(before, res, caps, policy)
	case carrier.Unknown:
		c = concludeUnknown(before, res, caps, policy)
	default:
		// An adapter that answers something else has told us nothing.
		res.Outcome = carrier.Unknown
		c = concludeUnknown(before, res, caps, policy)
	}
	c.renew = res.Renew && res.Outcome == carrier.NotBought
	c.evidence = []evidence{{
		kind: "buy", outcome: string(res.Outcome), reason: c.reason,
		code: res.Code, message: res.Message, label: res.Label,
	}}
	return c
}

// concludeRejected: a refusal is final only if no earlier call can have bought.
func concludeRejected(before progress, caps carrier.Capabilities) conclusion {
	if before.openCalls == 0 {
		return conclusion{state: Rejected, reason: refusedForGood, closes: 1, follow: stop}
	}
	c := doubt(caps, refusedAfterOpen)
	c.closes = 1
	return c
}

// concludeNotBought: try again later, until the budget is spent.
func concludeNotBought(
	before progress, res carrier.Result, caps carrier.Capabilities, policy Policy,
) conclusion {
	switch {
	case replays(caps) && before.openCalls > 0:
		// The answer to an earlier call perhaps, and the only one that this key will ever bring.
		c := doubt(caps, failureReplayed)
		c.closes, c.refused = 1, true
		return c
	case res.RetryAfter > 0 && before.deferrals < policy.MaxDeferrals:
		return conclusion{
			state: Pending, reason: askedToWait, closes: 1, deferred: true,
			follow: later, delay: res.RetryAfter,
		}
	case before.spent()+1 < policy.MaxCalls:
		return conclusion{
			state: Pending, reason: provedNotBought, closes: 1, refused: true, follow: retry,
		}
	case before.openCalls == 0:
		return conclusion{
			state: Failed, reason: attemptsSpent, closes: 1, refused: true, follow: stop,
		}
	default:
		c := doubt(caps, attemptsSpent)
		c.closes, c.refused = 1, true
		return c
	}
}

// concludeUnknown: what follows depends on what the carrier can tell us.
func concludeUnknown(
	before progress, res carrier.Result, caps carrier.Capabilities, policy Policy,
) conclusion {
	keyAge := time.Duration(0)
	if !before.firstCalledAt.IsZero() {
		keyAge = before.now.Sub(before.firstCalledAt)
	}
	switch {
	case res.Code == carrier.CodeOverPrice && res.Label != nil:
		// Bought and paid, but not as ordered: repeating or looking up would only find it again.
		return conclusion{state: InDoubt, settledBy: SettledByPerson, reason: boughtOtherwise, follow: stop}
	case res.Code == carrier.CodeKeyMismatch:
		// A fault of ours, or of the carrier's: under this key the answer would be the same for ever.
		return doubt(caps, keyMismatch)
	case caps.Class(keyAge) != carrier.Keyed, before.openCalls > 0 && !before.withKey:
		return doubt(caps, outcomeUnknown)
	case replays(caps) && res.Answered:
		// The same key would bring the same answer. Only a look-up tells whether there is a label.
		return doubt(caps, failureReplayed)
	case before.spent()+1 >= policy.MaxCalls:
		return doubt(caps, attemptsSpent)
	default:
		return conclusion{state: Pending, reason: outcomeUnknown, follow: retry}
	}
}

// replays tells whether a failure stays with the key that met it.
func replays(caps carrier.Capabilities) bool { return caps.Key != nil && caps.Key.ReplaysFailures }

// concludeNotBegun: the lease no longer covered the call, so nothing was sent. The next one is longer.
func concludeNotBegun() conclusion {
	return conclusion{
		state: Pending, reason: notBegun, closes: 1, unbegun: true, follow: later, delay: time.Second,
		evidence: []evidence{{kind: "buy", outcome: string(carrier.NotBought), reason: notBegun}},
	}
}

// concludeSoldBefore: the carrier has sold what was to be prepared, by a call that we know nothing of.
// That is as open as a call of ours whose answer was lost, and is journalled like one.
func concludeSoldBefore(caps carrier.Capabilities) conclusion {
	c := doubt(caps, soldBefore)
	c.evidence = []evidence{{
		kind: "buy", outcome: string(carrier.Unknown), reason: soldBefore,
		message: "not sent: the carrier shows what the reference names as sold",
	}}
	return c
}

// codeUnusable is the code of a label that was sold but cannot be what a label is.
const codeUnusable = "unusable_label"

// maxLabelText bounds what a carrier may call a label; real names are a tenth of it.
const maxLabelText = 255

// storable tells whether a label has what every label has, in words that can be stored and shown. An
// adapter should have seen to it; a label that breaks the batch it is stored in would do so for ever.
func storable(l *carrier.Label) bool {
	if l == nil || l.ID == "" || l.TrackingNo == "" || l.Cost.Cents < 0 || !currency.MatchString(l.Cost.Currency) {
		return false
	}
	for _, text := range []string{l.ID, l.TrackingNo, l.Service, string(l.Document.Format)} {
		if len(text) > maxLabelText || text != carrier.Sanitise(text) {
			return false
		}
	}
	return true
}

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

// doubt puts an intent in doubt: to be looked up at once, or left to a person.
func doubt(caps carrier.Capabilities, reason Reason) conclusion {
	if caps.Lookup == nil {
		return conclusion{state: InDoubt, settledBy: SettledByPerson, reason: reason, follow: stop}
	}
	return conclusion{state: InDoubt, settledBy: SettledByLookup, reason: reason, follow: later}
}

// concludeLookup decides what a look-up's answer makes of the intent. The reason quietPeriodOver, and
// only it, allows another purchase.
func concludeLookup(
	before progress, ship carrier.Shipment, ref string,
	found []carrier.Label, err error, lookup carrier.Lookup, policy Policy,
) conclusion {
	again := conclusion{
		state: InDoubt, settledBy: SettledByLookup, follow: later, delay: policy.spacing(lookup),
	}
	if err != nil {
		again.reason = lookupFailed
		again.evidence = []evidence{{
			kind: "find", outcome: "failed", reason: lookupFailed, message: err.Error(),
		}}
		if before.failedLookups+1 >= policy.MaxFailedLookups {
			again.settledBy, again.follow = SettledByPerson, stop
		}
		return again
	}
	if len(found) == 0 {
		again.reason, again.lookedUp = lookupFoundNone, true
		if quietPeriodSeen(before, lookup, policy) {
			again.reason = quietPeriodOver
			if before.spent() >= policy.MaxCalls {
				again.reason, again.settledBy, again.follow = attemptsSpent, SettledByPerson, stop
			}
		}
		again.evidence = []evidence{{kind: "find", outcome: "none", reason: again.reason}}
		return again
	}
	label, reason := choose(ship, ref, found)
	var rows []evidence
	for i := range found {
		rows = append(rows, evidence{kind: "find", outcome: "found", reason: reason, label: &found[i]})
	}
	if label == nil {
		return conclusion{
			state: InDoubt, settledBy: SettledByPerson, reason: reason, evidence: rows, follow: stop,
		}
	}
	return conclusion{
		state: Purchased, label: label, learnedBy: learnedByLookup, closes: 1, reason: reason, evidence: rows, follow: stop,
	}
}

// choose picks the label to adopt: the oldest that is what was ordered. More than one is a double
// purchase, which adopting cannot undo: the evidence names them all, and reconciliation the money.
func choose(ship carrier.Shipment, ref string, found []carrier.Label) (*carrier.Label, Reason) {
	reason := lookupFoundVoided
	for i := range found {
		label := &found[i]
		switch {
		case label.Voided:
		case !matches(ship, ref, label):
			reason = lookupFoundOther
		case ship.MaxCostCents != nil && label.Cost.Cents > *ship.MaxCostCents:
			reason = lookupTooDear
		case len(found) > 1:
			return label, lookupFoundSeveral
		default:
			return label, foundByLookup
		}
	}
	return nil, reason
}

// matches compares what the carrier shows with what was ordered: references are not unique everywhere.
func matches(ship carrier.Shipment, ref string, l *carrier.Label) bool {
	return l.Reference == ref &&
		storable(l) &&
		(l.Service == "" || l.Service == ship.Service) &&
		(l.WeightG == 0 || max(l.WeightG-ship.WeightG, ship.WeightG-l.WeightG) <= l.WeightStepG) &&
		(l.ShipTo == nil || l.ShipTo.PostalCode == "" || postalCode(l.ShipTo.PostalCode) == postalCode(ship.ShipTo.PostalCode))
}

// postalCode leaves out how a code is written: carriers trim it, and write "K1A 0B1" for "k1a0b1".
func postalCode(s string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '-' {
			return -1
		}
		return r
	}, s))
}
