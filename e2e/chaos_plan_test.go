package e2e

import (
	"fmt"
	"maps"
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
	// enough for the breaker. A run that needs some of them only draws these more often, and the others less.
	ruleProbability, ruleLikely, ruleUnlikely = 0.03, 0.05, 0.01
)

// What random numbers are for: each use has some of its own, for each class.
const (
	forPlan uint64 = iota
	forDealing
	forCarrier
	forClients // and those that follow
)

// randomOf gives each use in each class random numbers of its own, all from one seed.
func randomOf(seed uint64, class simserver.Mode, use uint64) *rand.Rand {
	// Not a secret, and no class is missing.
	return rand.New(rand.NewPCG(seed, uint64(slices.Index(classes, class))<<32|use))
}

// planOf lays down all that the nemesis does: the seed, the class, its share and the duration decide it.
func planOf(seed uint64, class simserver.Mode, mine share, duration time.Duration) []stepOf {
	random := randomOf(seed, class, forPlan)
	var plan []stepOf
	var toxics []toxic
	var clocks []time.Duration
	for at := deedEvery; at < duration; {
		for _, d := range mine.round(random) {
			at += deedEvery/2 + time.Duration(random.Int64N(int64(deedEvery)))
			if at >= duration {
				return plan
			}
			s := stepOf{at: at, deed: d, which: random.IntN(2)}
			switch d {
			case networkTrouble:
				if len(toxics) == 0 {
					toxics = mine.toxicsAgain(random)
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
					clocks = shuffled(random, mine.clocks)
				}
				s.clock, clocks = clocks[0], clocks[1:]
				s.lasts = between(random, clockLeast, clockMost)
			case carrierFaults:
				s.rules = shuffled(random, mine.rules())
			default:
			}
			plan = append(plan, s)
		}
	}
	return plan
}

// round is one cycle in a new order. Where there will be one only, it begins with what takes longest.
func (s share) round(random *rand.Rand) []deed {
	var deck []deed
	for _, d := range slices.Sorted(maps.Keys(s.cycle)) {
		deck = append(deck, slices.Repeat([]deed{d}, s.cycle[d])...)
	}
	deck = shuffled(random, deck)
	if s.short {
		slow := func(d deed) int { return slices.Index(slowDeeds, d) }
		slices.SortStableFunc(deck, func(a, b deed) int { return slow(b) - slow(a) })
	}
	return deck
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
