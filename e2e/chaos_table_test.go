package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// laws are the laws by number, in short.
var laws = [11]string{
	"", "every intent ends", "never two charges", "no charge unknown", "one key, one answer", "answers stay true",
	"no other body, no effect of a refusal", "nothing crosses callers", "settled and alerted in time",
	"the money agrees", "hygiene",
}

// sights are what must have been seen of a run, apart from the deeds themselves.
type sights struct {
	faults    map[simserver.Fault]int
	states    map[string]int
	takeovers int
	late      int // intents whose key was purged, so that each repeat comes late
}

// look reads what has been seen so far: from the carrier's log, the tables and the workers' logs.
func (c *chaos) look() sights {
	s := sights{faults: map[simserver.Fault]int{}, states: map[string]int{}}
	c.purchases(func(p purchase) { s.faults[p.Fault]++ })
	ctx, cancel := context.WithTimeout(c.t.Context(), 3*time.Second)
	defer cancel()
	rows, err := c.db.Query(ctx, `
		SELECT i.state, count(*), count(*) FILTER (WHERE k.idem_key IS NULL)
		FROM label_intents AS i
		LEFT JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		GROUP BY i.state`)
	if err == nil { // Else Postgres is away, and nothing was seen.
		var state string
		var times, purged int
		_, _ = pgx.ForEachRow(rows, []any{&state, &times, &purged}, func() error {
			s.states[state] += times
			s.late += purged
			return nil
		})
	}
	// A blind carrier's intent that is taken over is left to a person at once, which is evidence and no
	// line in the log.
	var left int
	if err := c.db.QueryRow(ctx, `SELECT count(*) FROM carrier_calls WHERE reason = 'nothing_to_ask'`).Scan(&left); err == nil {
		s.takeovers += left
	}
	for _, w := range c.workers {
		for _, l := range w.all() {
			_ = l.lines(func(text string) bool {
				if strings.Contains(text, `"takeover":true`) {
					s.takeovers++
				}
				return true
			})
		}
	}
	return s
}

// stage is when it is asked what has not happened yet.
type stage int

const (
	playing stage = iota // what settles by itself may still come
	over
)

// missing lists what this run was to show and what has never happened: such a run proves nothing of it.
func (c *chaos) missing(at stage) []string {
	var missing []string
	need := func(what string, times int) {
		if times == 0 {
			missing = append(missing, what)
		}
	}
	c.nemesis.mu.Lock()
	for _, d := range slices.Sorted(maps.Keys(c.share.cycle)) {
		need(string(d), c.nemesis.fired[d])
	}
	for _, x := range c.requiredToxics() {
		need("network trouble: "+x, c.troubles(x))
	}
	if c.long() {
		for _, leap := range c.share.clocks {
			need("clock step of "+leap.String(), c.nemesis.clocks[leap])
		}
	}
	c.nemesis.mu.Unlock()
	if len(missing) > 0 {
		return missing // Reason enough, and cheaper than looking.
	}
	seen := c.look()
	for _, fault := range c.share.faults {
		need("carrier fault "+string(fault), seen.faults[fault])
	}
	for _, state := range c.share.states {
		need("an intent "+state, seen.states[state])
	}
	if c.share.takeover {
		need("a takeover", seen.takeovers)
	}
	if c.share.late && at == over {
		need("a late repeat", seen.late)
	}
	return missing
}

// long tells whether the run has so many rounds that each of the rarest things must come up.
func (c *chaos) long() bool { return c.duration >= longRounds*c.share.roundTime() }

// longRounds is more than the clock has leaps.
const longRounds = 10

// requiredToxics are the troubles that a run of this length must have had: in one round every kind
// and every link, in a longer run every kind on every link in both directions.
func (c *chaos) requiredToxics() []string {
	var names []string
	switch {
	case c.share.toxics != nil:
		for _, x := range c.share.toxics {
			names = append(names, x.String())
		}
	case !c.long():
		return slices.Concat(toxicKinds, links)
	default:
		for _, x := range allToxics() {
			names = append(names, x.String())
		}
	}
	return names
}

func (c *chaos) troubles(name string) int {
	n := 0
	for x, times := range c.nemesis.toxics {
		if strings.Contains(x.String(), name) {
			n += times
		}
	}
	return n
}

// report prints the table and gives the verdict.
func (c *chaos) report(f *finding) {
	c.t.Helper()
	var b strings.Builder
	row := func(name string, value any) { fmt.Fprintf(&b, "  %-52s %v\n", name, value) }
	fmt.Fprintf(&b, "chaos, %s, seed %d, %s:\n", c.class, c.seed, c.duration)
	row("intents", len(f.intents))
	for _, state := range allStates {
		row("  "+state, f.states[state])
	}
	row("charges in the ledger", f.charges)
	row("purchase calls at the carrier", f.purchases)
	row("operations in the history", f.checked)
	row("answers lost", c.witness.lost)
	for _, said := range slices.Sorted(maps.Keys(c.witness.said)) {
		row("  answered "+said, c.witness.said[said])
	}
	row("takeovers", f.seen.takeovers)
	row("keys purged before their last repeat", f.seen.late)
	kills := 0
	for _, program := range slices.Sorted(maps.Keys(c.nemesis.kills)) {
		row("kill -9: "+program, c.nemesis.kills[program])
		kills += c.nemesis.kills[program]
	}
	row("kill -9 altogether", kills)
	for _, line := range c.nemesis.summary() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, fault := range allFaults() {
		row("carrier fault "+string(fault), f.seen.faults[fault])
	}
	c.reportToxics(row)
	row("time", strings.Join(c.spent, ", "))
	row("settled after the faults in", c.settled.Round(1e7))
	row("every doubt shown after", c.alerted.Round(1e7))
	broken := 0
	for n, law := range laws[1:] {
		found := f.violations[n+1]
		row(fmt.Sprintf("L%d %s", n+1, law), fmt.Sprintf("%d violations", len(found)))
		broken += len(found)
		for _, v := range found[:min(len(found), 10)] {
			fmt.Fprintf(&b, "    %s\n", v)
		}
	}
	verdict := "passed"
	switch {
	case broken > 0:
		verdict = "FAILED"
	case len(f.unknown) > 0:
		verdict = "unknown: never happened: " + strings.Join(f.unknown, "; ")
	}
	row("for the track record", fmt.Sprintf("| %d | %s | %s | %d | %d | %d | %d |",
		c.seed, c.duration.Round(time.Second), c.class, len(f.intents), f.charges, kills, broken))
	row("verdict", verdict)
	c.t.Log("\n" + b.String())
	require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, "table.txt"), []byte(b.String()), 0o600))
	if verdict != "passed" {
		c.t.Errorf("%s; repeat with: %s", verdict, c.again())
	}
}

// reportToxics counts by link and kind.
func (c *chaos) reportToxics(row func(string, any)) {
	for _, link := range links {
		var counts []string
		for _, kind := range toxicKinds {
			for _, direction := range directions {
				counts = append(counts, fmt.Sprintf("%s %s %d", kind, direction[:2], c.nemesis.toxics[toxic{link, kind, direction}]))
			}
		}
		row("trouble on "+link, strings.Join(counts, ", "))
	}
}
