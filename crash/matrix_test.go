//go:build faultinject

package crash

import (
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/carrier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	full = flag.Bool("full", false, "every script, every way, every hit, and all ordered pairs of deaths")
	only = flag.String("cell", "", "only the cells whose name matches this regular expression, to see one fail again")
)

// picked leaves the cells that were asked for.
func picked(cells []cell) []cell {
	wanted := regexp.MustCompile(*only)
	return slices.DeleteFunc(cells, func(c cell) bool { return !wanted.MatchString(c.String()) })
}

// stages is how many cells are played at once; they wait for Postgres more than they compute.
const stages = 4

// playAll plays cells and returns what they showed; those that failed, fail the test.
func playAll(t *testing.T, cells []cell) []outcome {
	t.Helper()
	queue := make(chan int)
	outcomes := make([]outcome, len(cells))
	var playing sync.WaitGroup
	for range stages {
		st := newStage(t)
		playing.Go(func() {
			for i := range queue {
				outcomes[i] = st.play(cells[i])
			}
		})
	}
	for i := range cells {
		queue <- i
	}
	close(queue)
	playing.Wait()
	for i, o := range outcomes {
		if o.failure != "" {
			t.Errorf("cell %d, %s: %s", i, o.cell, o.failure)
		}
		if !o.broken {
			t.Errorf("cell %d, %s: nothing was broken", i, o.cell)
		}
	}
	return outcomes
}

// hits are the moments of a story, in order; with every repetition of a point or only the first.
func hits(points []string, all bool) []hit {
	counts := map[string]int{}
	var found []hit
	for _, p := range points {
		counts[p]++
		if all || counts[p] == 1 {
			found = append(found, hit{p, counts[p]})
		}
	}
	return found
}

// TestEveryPoint breaks every story at every point in every way.
func TestEveryPoint(t *testing.T) {
	t.Parallel()
	began := time.Now()
	var whole []cell
	for class := range classes {
		for script := range scripts {
			if *full || script == hard[class] {
				whole = append(whole, cell{class: class, script: script, way: way{name: "unbroken"}})
			}
		}
	}
	var cells []cell
	reached := map[string]bool{}
	for _, o := range playAll(t, whole) {
		for _, h := range hits(o.first, *full && o.cell.script == hard[o.cell.class]) {
			reached[h.point] = true
			cells = append(cells, broken(o.cell, h)...)
		}
	}
	outcomes := playAll(t, picked(cells))
	if *only == "" {
		requireAll(t, reached, outcomes)
	}
	t.Logf("%d points; %d stories unbroken, %d broken once:\n%sin %s",
		len(reached), len(whole), len(outcomes), table(outcomes), time.Since(began).Round(time.Second))
}

// broken are the cells of one moment of a story.
func broken(unbroken cell, h hit) []cell {
	all := ways
	if strings.HasSuffix(h.point, ".before_commit") {
		all = slices.Concat(ways, cuts)
	}
	var cells []cell
	for _, w := range all {
		c := unbroken
		c.hit, c.way = h, w
		if c.chosen() {
			cells = append(cells, c)
		}
	}
	return cells
}

// requireAll is the proof that nothing was left out: the points in the code are those that were
// reached, and those at which a process died.
func requireAll(t *testing.T, reached map[string]bool, outcomes []outcome) {
	t.Helper()
	killed := map[string]bool{}
	for _, o := range outcomes {
		if o.broken && o.cell.way.name == death.name {
			killed[o.cell.hit.point] = true
		}
	}
	inCode := pointsInCode(t)
	require.Equal(t, inCode, slices.Sorted(maps.Keys(reached)), "points in the code, points reached")
	require.Equal(t, inCode, slices.Sorted(maps.Keys(killed)), "points in the code, points killed at")
}

// worst are the points around which a death leaves the most to others; their pairs are always played.
var worst = []string{"accept.after_commit", "claim.after_commit", "call.after_answer", "journal.after_commit", "complete.before_commit"}

// TestEveryPairOfDeaths: whoever recovers from a death dies too, at every point that it reaches.
func TestEveryPairOfDeaths(t *testing.T) {
	t.Parallel()
	began := time.Now()
	var whole []cell
	for class, script := range hard {
		whole = append(whole, cell{class: class, script: script, way: way{name: "unbroken"}})
	}
	chosen := func(h hit) bool { return *full || slices.Contains(worst, h.point) }
	outcomes := playPairs(t, whole, death, chosen)
	t.Logf("%d ordered pairs of deaths:\n%sin %s", len(outcomes), table(outcomes), time.Since(began).Round(time.Second))
}

// TestSleepersMeet: a process sleeps beyond its lease; another takes over, and while that is held up in
// the middle of its own attempt, the first wakes and goes on.
func TestSleepersMeet(t *testing.T) {
	t.Parallel()
	began := time.Now()
	var whole []cell
	for class := range classes {
		for _, script := range []string{"Never", "Lost", "Refused", "Deferred"} {
			whole = append(whole, cell{class: class, script: script, way: way{name: "unbroken"}})
		}
	}
	chosen := func(h hit) bool {
		event, _, _ := strings.Cut(h.point, ".")
		if *full {
			return slices.Contains([]string{"claim", "look_up", "journal", "call", "complete"}, event)
		}
		return event == "call"
	}
	outcomes := playPairs(t, whole, crossed, chosen)
	t.Logf("%d ordered pairs of sleepers:\n%sin %s", len(outcomes), table(outcomes), time.Since(began).Round(time.Second))
}

// playPairs breaks stories at every chosen moment, and whoever recovers at every chosen moment too.
func playPairs(t *testing.T, whole []cell, w way, chosen func(hit) bool) []outcome {
	t.Helper()
	var singles []cell
	for _, o := range playAll(t, whole) {
		for _, h := range hits(o.first, false) {
			if chosen(h) {
				c := o.cell
				c.hit, c.way = h, w
				if c.promised() {
					singles = append(singles, c)
				}
			}
		}
	}
	var pairs []cell
	for _, o := range playAll(t, singles) {
		for _, h := range hits(o.second, false) {
			if chosen(h) {
				c := o.cell
				c.second = &h
				pairs = append(pairs, c)
			}
		}
	}
	return playAll(t, picked(pairs))
}

// table counts cells by way and class.
func table(outcomes []outcome) string {
	counts := map[string]map[carrier.Class]int{}
	for _, o := range outcomes {
		if counts[o.cell.way.name] == nil {
			counts[o.cell.way.name] = map[carrier.Class]int{}
		}
		counts[o.cell.way.name][o.cell.class]++
	}
	var text strings.Builder
	row := func(cells ...any) { fmt.Fprintf(&text, "%-36s %7v %7v %7v\n", cells...) }
	row("way", "keyed", "lookup", "blind")
	for _, w := range slices.Concat(ways, cuts, []way{crossed}) {
		if n := counts[w.name]; n != nil {
			row(w.name, n[carrier.Keyed], n[carrier.ByLookup], n[carrier.Blind])
		}
	}
	return text.String()
}
