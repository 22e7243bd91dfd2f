package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"waybill/carrier/sim/simserver"
)

// deed is one kind of thing that the nemesis does.
type deed string

// The deeds.
const (
	killAPI        deed = "kill -9 of an API"
	killWorker     deed = "kill -9 of a worker"
	killCarrier    deed = "kill -9 of the carrier"
	killBackend    deed = "kill -9 of a Postgres backend"
	endSessions    deed = "all sessions of Postgres ended"
	crashPostgres  deed = "immediate stop and restart of Postgres"
	freezeAPI      deed = "API frozen for longer than the lease"
	freezeWorker   deed = "worker frozen for longer than the lease"
	emptyJobs      deed = "river_job emptied"
	ageKeys        deed = "completed keys aged past their time"
	carrierAway    deed = "carrier out of reach"
	spendCalls     deed = "carrier too busy until calls are spent"
	previousBuild  deed = "rolling restart to the previous build and back"
	stepClock      deed = "clock step of Postgres"
	carrierFaults  deed = "carrier told to fail in every way"
	networkTrouble deed = "network trouble"
)

// The links that go through a proxy.
const (
	workerCarrier  = "worker–carrier"
	workerPostgres = "worker–Postgres"
	apiPostgres    = "API–Postgres"
)

var links = []string{workerCarrier, workerPostgres, apiPostgres}

// toxic is one kind of network trouble on one link, in one direction.
type toxic struct {
	link, kind, direction string
}

func (x toxic) String() string { return fmt.Sprintf("%s on %s %s", x.kind, x.link, x.direction) }

var (
	toxicKinds = []string{"latency", "reset_peer", "timeout", "limit_data", "slicer", "bandwidth"}
	directions = []string{"upstream", "downstream"}
)

func allToxics() []toxic {
	var all []toxic
	for _, link := range links {
		for _, kind := range toxicKinds {
			for _, direction := range directions {
				all = append(all, toxic{link, kind, direction})
			}
		}
	}
	return all
}

// stepOf is one deed at its time.
type stepOf struct {
	at   time.Duration
	deed deed

	// which chooses among equals, such as the first or the second worker.
	which int

	// lasts is how long what has a length lasts.
	lasts time.Duration

	toxic toxic         // of networkTrouble
	clock time.Duration // of stepClock: how far the clock is off from now on
	rules []simserver.Rule
}

// Scaled time: a lease of 1.5 s stands for 30 s.
const (
	chaosLease      = shortLease
	chaosTimeout    = shortTimeout
	chaosProcessing = 2 * time.Second
	chaosLate       = 1200 * time.Millisecond

	// deedEvery is the mean time between two deeds.
	deedEvery = 400 * time.Millisecond

	// ruleTimes is how often each of the carrier's faults happens before the carrier is told anew.
	ruleTimes = 2

	// ruleProbability spreads the faults over calls; together a third of the calls fail then, few
	// enough for the breaker.
	ruleProbability = 0.03
)

// cycle is what every round of the plan holds, in another order each time.
var cycle = map[deed]int{
	killAPI: 4, killWorker: 4, killCarrier: 2, killBackend: 1, endSessions: 1, crashPostgres: 1,
	freezeAPI: 1, freezeWorker: 2, emptyJobs: 1, ageKeys: 1, carrierAway: 1, spendCalls: 1, previousBuild: 1,
	stepClock: 1, carrierFaults: 2, networkTrouble: 8,
}

// cycleTime is how long one round takes.
func cycleTime() time.Duration {
	var n int
	for _, times := range cycle {
		n += times
	}
	return time.Duration(n) * deedEvery
}

// clockSteps are how far off the clock of Postgres may be. The quiet period of a look-up carrier is
// counted on it, so that a step forward is a matter of its own: see docs/reliability.md.
var clockSteps = []time.Duration{-time.Second, -300 * time.Millisecond, 300 * time.Millisecond, time.Second}

// planOf lays down all that the nemesis does: the seed, the class and the duration decide it.
func planOf(seed uint64, class simserver.Mode, duration time.Duration) []stepOf {
	random := rand.New(rand.NewPCG(seed, uint64(len(class))))
	var plan []stepOf
	var toxics []toxic
	var clocks []time.Duration
	for at := deedEvery; at < duration; {
		for _, d := range round(random) {
			at += deedEvery/2 + time.Duration(random.Int64N(int64(deedEvery)))
			if at >= duration {
				return plan
			}
			s := stepOf{at: at, deed: d, which: random.IntN(2)}
			switch d {
			case networkTrouble:
				if len(toxics) == 0 {
					toxics = dealToxics(random)
				}
				s.toxic, toxics = toxics[0], toxics[1:]
				s.lasts = between(random, 400*time.Millisecond, 1200*time.Millisecond)
			case freezeAPI, freezeWorker:
				s.lasts = between(random, chaosLease*103/100, chaosLease*140/100)
			case carrierAway:
				s.lasts = between(random, 200*time.Millisecond, time.Second)
			case spendCalls:
				s.lasts = 8 * time.Second // at most
			case previousBuild:
				s.lasts = between(random, 500*time.Millisecond, 1500*time.Millisecond)
			case stepClock:
				if len(clocks) == 0 {
					clocks = shuffled(random, clockSteps)
				}
				s.clock, clocks = clocks[0], clocks[1:]
				s.lasts = between(random, 500*time.Millisecond, 2*time.Second)
			case carrierFaults:
				s.rules = shuffled(random, everyFault(ruleTimes, ruleProbability))
			default:
			}
			plan = append(plan, s)
		}
	}
	return plan
}

// round is one cycle in a new order. It begins with what takes longest to show.
func round(random *rand.Rand) []deed {
	var deck []deed
	for _, d := range slices.Sorted(func(yield func(deed) bool) {
		for d := range cycle {
			if !yield(d) {
				return
			}
		}
	}) {
		deck = append(deck, slices.Repeat([]deed{d}, cycle[d])...)
	}
	return shuffled(random, deck)
}

// dealToxics deals all toxics so that the first six have every kind, and each link twice.
func dealToxics(random *rand.Rand) []toxic {
	var dealt []toxic
	kinds := shuffled(random, toxicKinds)
	order := shuffled(random, links)
	for turn := range len(links) * len(directions) {
		for i, kind := range kinds {
			dealt = append(dealt, toxic{
				link:      order[(i+turn)%len(links)],
				kind:      kind,
				direction: directions[(i/len(links)+turn/len(links))%len(directions)],
			})
		}
	}
	return dealt
}

func shuffled[T any](random *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}
