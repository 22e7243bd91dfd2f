package e2e

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// share is what one run plays, and must have shown at its end. A run whose length was asked for shows
// everything; the short runs of the three classes deal it out among themselves.
type share struct {
	short bool

	cycle  map[deed]int // one round of the plan
	toxics []toxic      // nil: all, in another order each time
	clocks []time.Duration

	// What else must happen: carrier faults, ends of intents, a takeover, a key that is purged.
	faults         []simserver.Fault
	states         []string
	takeover, late bool
}

// cycle is what every round of a run that shows everything holds, in another order each time.
var cycle = map[deed]int{
	killAPI: 4, killWorker: 4, killCarrier: 2, killBackend: 1, endSessions: 1, crashPostgres: 1,
	freezeAPI: 1, freezeWorker: 2, emptyJobs: 1, ageKeys: 1, carrierAway: 1, spendCalls: 1, previousBuild: 1,
	stepClock: 1, carrierFaults: 2, networkTrouble: 8,
}

var (
	// slowDeeds are those that a short run begins with; the last of them first.
	slowDeeds = []deed{stepClock, ageKeys, spendCalls, previousBuild}

	// oftenDealt are dealt to every class, and onceDealt to one of them, in a short run.
	oftenDealt = map[deed]int{
		killAPI: 1, killWorker: 2, killCarrier: 1, freezeWorker: 1, carrierFaults: 1, networkTrouble: 2,
	}
	onceDealt = []deed{
		killBackend, endSessions, crashPostgres, freezeAPI, emptyJobs, carrierAway,
	}

	allStates = []string{"purchased", "rejected", "failed", "in_doubt"}
)

// wholeShare is everything.
func wholeShare(class simserver.Mode) share {
	return share{
		cycle: cycle, clocks: leapsOf(class), faults: allFaults(), states: allStates, takeover: true, late: true,
	}
}

// dealtShare is what a class plays in a short run: what all play, and a third of the rest.
func dealtShare(seed uint64, class simserver.Mode) share {
	random := randomOf(seed, classes[0], forDealing) // the same for all
	seat := slices.Index(shuffled(random, classes), class)
	s := share{short: true, cycle: map[deed]int{}, clocks: shortLeapsOf(class), states: []string{"purchased"}}
	for d, times := range oftenDealt {
		s.cycle[d] = times
	}
	// What takes longest is never one class's alone.
	for i, d := range slices.Concat(slowDeeds, shuffled(random, onceDealt)) {
		if i%len(classes) == seat {
			s.cycle[d] = 1
		}
	}
	for i, fault := range shuffled(random, allFaults()) {
		if i%len(classes) == seat {
			s.faults = append(s.faults, fault)
		}
	}
	s.toxics = dealToxics(random)[2*seat : 2*seat+2]
	s.takeover = seat == 0
	s.late = s.cycle[ageKeys] > 0
	if s.cycle[spendCalls] > 0 {
		s.states = append(s.states, "failed")
	}
	if slices.Contains(s.faults, simserver.Refuse) {
		s.states = append(s.states, "rejected")
	}
	if class == simserver.Blind { // Nobody else has to leave an intent in doubt.
		s.states = append(s.states, "in_doubt")
	}
	return s
}

func allFaults() []simserver.Fault {
	var faults []simserver.Fault
	for _, r := range everyFault(1, 1) {
		faults = append(faults, r.Fault)
	}
	return faults
}

// rules are what the carrier is told.
func (s share) rules() []simserver.Rule {
	rules := everyFault(ruleTimes, ruleProbability)
	if !s.short {
		return rules
	}
	for i := range rules {
		rules[i].Probability = ruleUnlikely
		if slices.Contains(s.faults, rules[i].Fault) {
			rules[i].Probability = ruleLikely
		}
	}
	return rules
}

// toxicsAgain are the toxics for as long as they last.
func (s share) toxicsAgain(random *rand.Rand) []toxic {
	if s.toxics == nil {
		return dealToxics(random)
	}
	return shuffled(random, s.toxics)
}

// roundTime is how long one round takes.
func (s share) roundTime() time.Duration {
	var n int
	for _, times := range s.cycle {
		n += times
	}
	return time.Duration(n) * deedEvery
}

// TestShares: whatever the seed, what the short runs of the three classes deal out among themselves is
// everything, and each class plays another plan.
func TestShares(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		deeds, faults, states := map[deed]bool{}, map[simserver.Fault]bool{}, map[string]bool{}
		kinds, ways := map[string]bool{}, map[string]bool{}
		takeover, late := false, false
		var plans [][]stepOf
		for _, class := range classes {
			mine := dealtShare(seed, class)
			for d := range mine.cycle {
				deeds[d] = true
			}
			for _, x := range mine.toxics {
				kinds[x.kind], ways[x.link] = true, true
			}
			for _, fault := range mine.faults {
				faults[fault] = true
			}
			for _, state := range mine.states {
				states[state] = true
			}
			takeover, late = takeover || mine.takeover, late || mine.late
			require.NotEmpty(t, mine.clocks)
			plans = append(plans, planOf(seed, class, wholeShare(class), 20*time.Second))
			require.Equal(t, plans[len(plans)-1], planOf(seed, class, wholeShare(class), 20*time.Second))
		}
		require.Len(t, deeds, len(cycle))
		require.Len(t, faults, len(allFaults()))
		require.Len(t, states, len(allStates))
		require.Len(t, kinds, len(toxicKinds))
		require.Len(t, ways, len(links))
		require.True(t, takeover && late)
		require.NotEqual(t, plans[0], plans[1])
		require.NotEqual(t, plans[1], plans[2])
		require.NotEqual(t, plans[0], plans[2])
	}
}
