package outbox

import (
	"cmp"
	"time"

	"waybill/carrier"
)

// Policy bounds how often an intent is tried. Zero values take the defaults.
type Policy struct {
	// MaxCalls is how many purchase calls an intent may cost; default 50. Spent with nothing
	// open the intent fails, else it stays in doubt.
	MaxCalls int

	// MinLookups is how many look-ups must find nothing before absence counts; default 3.
	MinLookups int

	// MaxFailedLookups is how many look-ups in a row may fail before a person is asked to decide;
	// default 500: with a spacing of half a minute, some hours.
	MaxFailedLookups int

	// MinSpacing is the least time between two look-ups; default 1 s.
	MinSpacing time.Duration

	// MaxDeferrals is how often a carrier may ask to be left alone before its asking counts as a
	// refusal; default 500.
	MaxDeferrals int
}

func (p Policy) withDefaults() Policy {
	p.MaxCalls = cmp.Or(p.MaxCalls, 50)
	p.MinLookups = cmp.Or(p.MinLookups, 3)
	p.MaxFailedLookups = cmp.Or(p.MaxFailedLookups, 500)
	p.MinSpacing = cmp.Or(p.MinSpacing, time.Second)
	p.MaxDeferrals = cmp.Or(p.MaxDeferrals, 500)
	return p
}

// spacing is the time between two look-ups of one quiet period: as many as are asked for take the whole
// of it. So it is waited for even if the database's clock has jumped ahead since the call and says that
// it is long over.
func (p Policy) spacing(l carrier.Lookup) time.Duration {
	return max(p.MinSpacing, l.QuietPeriod()/time.Duration(max(1, p.MinLookups-1)))
}

// Reason names why a step was taken or an attempt ended as it did. It is in the evidence and the log.
type Reason string

// The reasons for a step.
const (
	nothingOpen     Reason = "nothing_open"      // no earlier call can have bought
	sameKeyRepeat   Reason = "same_key_repeat"   // the carrier honours the key
	quietPeriodOver Reason = "quiet_period_over" // look-ups found nothing for long enough
	lookUpFirst     Reason = "look_up_first"     // an earlier call is open
	lookUpLater     Reason = "look_up_later"     // the last look-up was a moment ago
	nothingToAsk    Reason = "nothing_to_ask"    // neither key nor look-up: a person decides
	anotherAccount  Reason = "another_account"   // the open call went to an account we no longer ask
)

// Step is what a claim plans for its attempt. A step that goes on to the call under the same lease has
// it journalled first: a look-up that proves that nothing was bought, and a preparation.
type Step string

// The steps.
const (
	callStep Step = "call"

	// prepareStep has a two-step carrier make what is to be bought, and goes on to the call.
	prepareStep Step = "prepare"
	lookupStep  Step = "lookup"
	waitStep    Step = "wait"  // nothing now: come back after the delay
	leaveStep   Step = "leave" // nothing more: a person decides
)

// progress is all of an intent that decisions depend on. Times are the database's.
type progress struct {
	state         State
	calls         int
	openCalls     int
	deferrals     int
	unbegun       int
	emptyLookups  int
	failedLookups int
	account       string // that the calls went to
	withKey       bool   // every call bore our key
	firstCalledAt time.Time
	lastCallUntil time.Time // the last moment at which a call can have been under way
	lastLookupAt  time.Time
	notBefore     time.Time // the carrier asked to be left alone until then
	now           time.Time
}

// spent is how many calls count against the budget: those that the carrier asked to put off do not,
// nor those that were never sent.
func (p progress) spent() int { return p.calls - p.deferrals - p.unbegun }

// plan is a step, why, and for waitStep how long to wait.
type plan struct {
	step   Step
	reason Reason
	delay  time.Duration
}

// next decides the step of an attempt. It is the heart of "never twice": a call is planned only if
// every earlier call is known to have bought nothing, or the carrier itself tells repeats apart. For
// that the configuration of today is not enough: the open calls must have gone to the same account,
// and have borne the key.
func next(p progress, account string, caps carrier.Capabilities, policy Policy) plan {
	class := caps.Class(p.now.Sub(p.firstCalledAt))
	switch {
	case p.now.Before(p.notBefore):
		return plan{step: waitStep, reason: askedToWait, delay: p.notBefore.Sub(p.now)}
	case p.openCalls == 0:
		return plan{step: callStep, reason: nothingOpen}
	case p.account != account:
		return plan{step: leaveStep, reason: anotherAccount}
	case class == carrier.Keyed && p.withKey && p.state != InDoubt:
		// In doubt although the key is honoured, on the other hand: a later call under it was
		// refused, which says nothing about the earlier one; or the calls are spent. Only a
		// look-up tells.
		return plan{step: callStep, reason: sameKeyRepeat}
	case caps.Lookup == nil:
		return plan{step: leaveStep, reason: nothingToAsk}
	default:
		return nextLookup(p, *caps.Lookup, policy)
	}
}

// nextLookup plans for an open call that only look-ups can settle.
func nextLookup(p progress, lookup carrier.Lookup, policy Policy) plan {
	spacing := policy.spacing(lookup)
	since := p.now.Sub(p.lastLookupAt)
	if p.emptyLookups > 0 && since < spacing {
		return plan{step: waitStep, reason: lookUpLater, delay: spacing - since}
	}
	return plan{step: lookupStep, reason: lookUpFirst}
}

// quietPeriodSeen tells whether a look-up that found nothing, begun at p.now, proves that no call
// bought anything: there were enough of them, and this one saw the end of the quiet period.
func quietPeriodSeen(p progress, lookup carrier.Lookup, policy Policy) bool {
	return p.emptyLookups+1 >= policy.MinLookups &&
		p.now.Sub(p.lastCallUntil) >= lookup.QuietPeriod()
}
