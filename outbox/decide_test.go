package outbox

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

var (
	t0     = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	policy = Policy{MaxCalls: 5}.withDefaults()
)

func TestNext(t *testing.T) {
	t.Parallel()
	// A look-up carrier's quiet period is 3 s here, looked into every second.
	looked := func(n int, callEnded, lookedAt time.Duration) progress {
		return progress{
			state: InDoubt, calls: 1, openCalls: 1, emptyLookups: n,
			firstCalledAt: t0, lastCallUntil: t0.Add(callEnded), lastLookupAt: t0.Add(lookedAt),
		}
	}
	tests := map[string]struct {
		p    progress
		at   time.Duration
		caps carrier.Capabilities
		want plan
	}{
		"first call": {progress{state: Pending}, 0, blind, plan{step: callStep, reason: nothingOpen}},
		"again after a proved refusal": {
			progress{state: Pending, calls: 3, firstCalledAt: t0},
			time.Hour, blind,
			plan{step: callStep, reason: nothingOpen},
		},
		"keyed repeats an open call": {
			progress{state: Pending, calls: 1, openCalls: 1, withKey: true, firstCalledAt: t0},
			time.Hour, keyed,
			plan{step: callStep, reason: sameKeyRepeat},
		},
		"keyed at the window's margin stops": {
			progress{state: Pending, calls: 1, openCalls: 1, withKey: true, firstCalledAt: t0},
			23 * time.Hour, keyed,
			plan{step: leaveStep, reason: nothingToAsk},
		},
		"keyed past its window is looked up": {
			progress{state: Pending, calls: 1, openCalls: 1, withKey: true, firstCalledAt: t0},
			24 * time.Hour, both,
			plan{step: lookupStep, reason: lookUpFirst},
		},
		"keyed in doubt is looked up, not repeated": {
			progress{state: InDoubt, calls: 2, openCalls: 1, withKey: true, firstCalledAt: t0},
			time.Minute, both,
			plan{step: lookupStep, reason: lookUpFirst},
		},
		"keyed for ever": {
			progress{state: Pending, calls: 1, openCalls: 1, withKey: true, firstCalledAt: t0},
			10_000 * time.Hour,
			carrier.Capabilities{Key: &carrier.Key{}},
			plan{step: callStep, reason: sameKeyRepeat},
		},
		"blind is left to a person": {
			progress{state: Pending, calls: 1, openCalls: 1, firstCalledAt: t0},
			time.Hour, blind,
			plan{step: leaveStep, reason: nothingToAsk},
		},
		"keyed, but the open call bore no key": {
			progress{state: Pending, calls: 1, openCalls: 1, firstCalledAt: t0},
			time.Minute, keyed,
			plan{step: leaveStep, reason: nothingToAsk},
		},
		"keyed, but the open call went elsewhere": {
			progress{state: Pending, calls: 1, openCalls: 1, account: "SIM-2", withKey: true, firstCalledAt: t0},
			time.Minute, both,
			plan{step: leaveStep, reason: anotherAccount},
		},
		"the carrier asked to wait": {
			progress{state: Pending, calls: 1, notBefore: t0.Add(time.Minute), firstCalledAt: t0},
			time.Second, keyed,
			plan{step: waitStep, reason: askedToWait, delay: 59 * time.Second},
		},
		"look-up looks at once":       {looked(0, 0, 0), 0, byLookup, plan{step: lookupStep, reason: lookUpFirst}},
		"look-up waits between looks": {looked(1, 0, 0), 400 * time.Millisecond, byLookup, plan{step: waitStep, reason: lookUpLater, delay: 1100 * time.Millisecond}},
		"look-up looks again":         {looked(2, 0, time.Second), 2500 * time.Millisecond, byLookup, plan{step: lookupStep, reason: lookUpFirst}},
		"never a call without a look": {looked(9, 0, time.Hour), 2 * time.Hour, byLookup, plan{step: lookupStep, reason: lookUpFirst}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.p.now = t0.Add(tt.at)
			if tt.p.account == "" {
				tt.p.account = "SIM-1"
			}
			require.Equal(t, tt.want, next(tt.p, "SIM-1", tt.caps, policy))
		})
	}
}

func TestQuietPeriodSeen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		emptyLookups int
		after        time.Duration
		want         bool
	}{
		"seen to its end":             {policy.MinLookups - 1, 3 * time.Second, true},
		"a moment too soon":           {policy.MinLookups - 1, 3*time.Second - 1, false},
		"one look-up is not enough":   {0, time.Hour, false},
		"one look-up less than asked": {policy.MinLookups - 2, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := progress{emptyLookups: tt.emptyLookups, lastCallUntil: t0, now: t0.Add(tt.after)}
			require.Equal(t, tt.want, quietPeriodSeen(p, *byLookup.Lookup, policy))
		})
	}
}

// TestQuietPeriodOverAJumpOfTheClock: the database's clock jumps ahead after the call, by any amount,
// so that every look-up finds the quiet period to be over. The look-ups still take the whole of it.
func TestQuietPeriodOverAJumpOfTheClock(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"None": 0, "APart": time.Second, "Hours": 5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lookup := carrier.Lookup{Processing: 20 * time.Second, Lag: 10 * time.Second}
			caps := carrier.Capabilities{Lookup: &lookup}
			policy := Policy{}.withDefaults()
			p := progress{
				state: InDoubt, calls: 1, openCalls: 1, account: "SIM-1",
				firstCalledAt: t0, lastCallUntil: t0, now: t0.Add(jump),
			}
			took := time.Duration(0)
			for {
				step := next(p, "SIM-1", caps, policy)
				if step.step == waitStep {
					took += step.delay
					p.now = p.now.Add(step.delay)
					continue
				}
				require.Equal(t, lookupStep, step.step)
				if quietPeriodSeen(p, lookup, policy) {
					break
				}
				p.emptyLookups++
				p.lastLookupAt = p.now
			}
			require.GreaterOrEqual(t, took, lookup.QuietPeriod())
		})
	}
}

// end is what matters of a conclusion.
type end struct {
	State  State
	Settle Settler
	Reason Reason
	Closes int
	Follow follow
}

func endOf(c conclusion) end { return end{c.state, c.settledBy, c.reason, c.closes, c.follow} }

func TestConcludeCall(t *testing.T) {
	t.Parallel()
	fresh := progress{state: Pending, now: t0}
	good := &carrier.Label{ID: "L1", TrackingNo: "T1", Cost: carrier.Money{Cents: 600, Currency: "USD"}}
	open := progress{state: Pending, calls: 1, openCalls: 1, withKey: true, firstCalledAt: t0, now: t0.Add(time.Minute)}
	openWithout := open
	openWithout.withKey = false
	spent := progress{state: Pending, calls: 4, firstCalledAt: t0, now: t0.Add(time.Minute)}
	spentOpen := progress{state: Pending, calls: 4, openCalls: 1, firstCalledAt: t0, now: t0.Add(time.Minute)}
	stale := progress{state: Pending, calls: 1, openCalls: 1, firstCalledAt: t0, now: t0.Add(24 * time.Hour)}
	dear := carrier.Result{Outcome: carrier.Unknown, Code: carrier.CodeOverPrice, Label: &carrier.Label{}}
	mismatch := carrier.Result{Outcome: carrier.Unknown, Code: carrier.CodeKeyMismatch}
	tests := map[string]struct {
		before progress
		res    carrier.Result
		caps   carrier.Capabilities
		want   end
	}{
		"bought":                       {fresh, carrier.Result{Outcome: carrier.Bought, Label: good}, blind, end{Purchased, "", boughtAtOnce, 1, stop}},
		"rejected":                     {fresh, rejected, blind, end{Rejected, "", refusedForGood, 1, stop}},
		"rejected after open, lookup":  {open, rejected, both, end{InDoubt, SettledByLookup, refusedAfterOpen, 1, later}},
		"rejected after open, keyed":   {open, rejected, keyed, end{InDoubt, SettledByPerson, refusedAfterOpen, 1, stop}},
		"not bought":                   {fresh, notBought, blind, end{Pending, "", provedNotBought, 1, retry}},
		"not bought after open":        {open, notBought, keyed, end{Pending, "", provedNotBought, 1, retry}},
		"not bought, spent":            {spent, notBought, blind, end{Failed, "", attemptsSpent, 1, stop}},
		"not bought, spent, open":      {spentOpen, notBought, keyed, end{InDoubt, SettledByPerson, attemptsSpent, 1, stop}},
		"not bought, spent, look up":   {spentOpen, notBought, both, end{InDoubt, SettledByLookup, attemptsSpent, 1, later}},
		"asked to wait":                {spent, carrier.Result{Outcome: carrier.NotBought, RetryAfter: time.Second}, blind, end{Pending, "", askedToWait, 1, later}},
		"unknown, keyed":               {fresh, unknown, keyed, end{Pending, "", outcomeUnknown, 0, retry}},
		"unknown, keyed, open without": {openWithout, unknown, keyed, end{InDoubt, SettledByPerson, outcomeUnknown, 0, stop}},
		"bought without a label":       {fresh, carrier.Result{Outcome: carrier.Bought}, blind, end{InDoubt, SettledByPerson, outcomeUnknown, 0, stop}},
		"unknown, keyed, spent":        {spent, unknown, keyed, end{InDoubt, SettledByPerson, attemptsSpent, 0, stop}},
		"unknown, keyed, window over":  {stale, unknown, keyed, end{InDoubt, SettledByPerson, outcomeUnknown, 0, stop}},
		"unknown, lookup":              {fresh, unknown, byLookup, end{InDoubt, SettledByLookup, outcomeUnknown, 0, later}},
		"unknown, blind":               {fresh, unknown, blind, end{InDoubt, SettledByPerson, outcomeUnknown, 0, stop}},
		"key names another order":      {open, mismatch, both, end{InDoubt, SettledByLookup, keyMismatch, 0, later}},
		"the same, nobody to ask":      {fresh, mismatch, keyed, end{InDoubt, SettledByPerson, keyMismatch, 0, stop}},
		"over price, whatever is left": {fresh, dear, both, end{InDoubt, SettledByPerson, boughtOtherwise, 0, stop}},
		"over price without a label":   {fresh, carrier.Result{Outcome: carrier.Unknown, Code: carrier.CodeOverPrice}, byLookup, end{InDoubt, SettledByLookup, outcomeUnknown, 0, later}},
		"an outcome that is none":      {fresh, carrier.Result{Outcome: "fine"}, blind, end{InDoubt, SettledByPerson, outcomeUnknown, 0, stop}},
		"no outcome at all":            {fresh, carrier.Result{}, keyed, end{Pending, "", outcomeUnknown, 0, retry}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := concludeCall(tt.before, tt.res, tt.caps, policy)
			require.Empty(t, cmp.Diff(tt.want, endOf(c)))
			if c.state == Purchased {
				require.Empty(t, c.evidence)
			} else {
				require.Len(t, c.evidence, 1, "everything not bought at once leaves evidence")
			}
		})
	}
}

func TestConcludeLookup(t *testing.T) {
	t.Parallel()
	limit := int64(1000)
	ship := carrier.Shipment{
		Service: "ground", WeightG: 500, MaxCostCents: &limit, ShipTo: carrier.Address{PostalCode: "62565"},
	}
	label := func(change func(*carrier.Label)) carrier.Label {
		l := carrier.Label{
			ID: "L1", TrackingNo: "T1", Reference: "WB1", Service: "ground", WeightG: 500,
			Cost: carrier.Money{Cents: 600, Currency: "USD"}, ShipTo: &carrier.Address{PostalCode: "62565"},
		}
		if change != nil {
			change(&l)
		}
		return l
	}
	good := label(nil)
	other := func(change func(*carrier.Label)) []carrier.Label { return []carrier.Label{label(change)} }
	second := label(func(l *carrier.Label) { l.ID = "L2" })
	voided := label(func(l *carrier.Label) { l.Voided = true })
	tests := map[string]struct {
		found []carrier.Label
		want  end
		adopt string
	}{
		"none":                         {nil, end{InDoubt, SettledByLookup, lookupFoundNone, 0, later}, ""},
		"one":                          {[]carrier.Label{good}, end{Purchased, "", foundByLookup, 1, stop}, "L1"},
		"two":                          {[]carrier.Label{good, second}, end{Purchased, "", lookupFoundSeveral, 1, stop}, "L1"},
		"a voided and a live":          {[]carrier.Label{voided, second}, end{Purchased, "", lookupFoundSeveral, 1, stop}, "L2"},
		"only voided":                  {[]carrier.Label{voided}, end{InDoubt, SettledByPerson, lookupFoundVoided, 0, stop}, ""},
		"another reference":            {other(func(l *carrier.Label) { l.Reference = "WB2" }), end{InDoubt, SettledByPerson, lookupFoundOther, 0, stop}, ""},
		"another service":              {other(func(l *carrier.Label) { l.Service = "express" }), end{InDoubt, SettledByPerson, lookupFoundOther, 0, stop}, ""},
		"another weight":               {other(func(l *carrier.Label) { l.WeightG = 501 }), end{InDoubt, SettledByPerson, lookupFoundOther, 0, stop}, ""},
		"another address":              {other(func(l *carrier.Label) { l.ShipTo.PostalCode = "1" }), end{InDoubt, SettledByPerson, lookupFoundOther, 0, stop}, ""},
		"an address written otherwise": {other(func(l *carrier.Label) { l.ShipTo.PostalCode = " 625-65" }), end{Purchased, "", foundByLookup, 1, stop}, "L1"},
		"no tracking number":           {other(func(l *carrier.Label) { l.TrackingNo = "" }), end{InDoubt, SettledByPerson, lookupFoundOther, 0, stop}, ""},
		"too dear":                     {other(func(l *carrier.Label) { l.Cost.Cents = 1001 }), end{InDoubt, SettledByPerson, lookupTooDear, 0, stop}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := progress{state: InDoubt, calls: 1, openCalls: 1, lastCallUntil: t0, now: t0.Add(time.Second)}
			c := concludeLookup(before, ship, "WB1", tt.found, nil, *byLookup.Lookup, policy)
			require.Empty(t, cmp.Diff(tt.want, endOf(c)))
			require.Len(t, c.evidence, max(1, len(tt.found)))
			if tt.adopt != "" {
				require.Equal(t, tt.adopt, c.label.ID)
			} else {
				require.Nil(t, c.label)
			}
		})
	}
}

// Absence is proved by enough look-ups of which the last saw the end of the quiet period, 3 s here.
func TestConcludeEmptyLookup(t *testing.T) {
	t.Parallel()
	before := func(empty int, at time.Duration) progress {
		return progress{state: InDoubt, calls: 1, openCalls: 1, emptyLookups: empty, lastCallUntil: t0, now: t0.Add(at)}
	}
	spent := before(9, time.Hour)
	spent.calls = 5
	putOff := spent
	putOff.calls, putOff.deferrals = 7, 3
	tests := map[string]struct {
		before progress
		want   end
	}{
		"first look":                       {before(0, 0), end{InDoubt, SettledByLookup, lookupFoundNone, 0, later}},
		"enough looks, not enough time":    {before(9, 2999*time.Millisecond), end{InDoubt, SettledByLookup, lookupFoundNone, 0, later}},
		"enough time, not enough looks":    {before(1, time.Hour), end{InDoubt, SettledByLookup, lookupFoundNone, 0, later}},
		"the look that sees the end":       {before(2, 3*time.Second), end{InDoubt, SettledByLookup, quietPeriodOver, 0, later}},
		"the end, but the calls are spent": {spent, end{InDoubt, SettledByPerson, attemptsSpent, 0, stop}},
		"calls put off are not spent":      {putOff, end{InDoubt, SettledByLookup, quietPeriodOver, 0, later}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := concludeLookup(tt.before, carrier.Shipment{}, "WB1", nil, nil, *byLookup.Lookup, policy)
			require.Empty(t, cmp.Diff(tt.want, endOf(c)))
		})
	}
}
