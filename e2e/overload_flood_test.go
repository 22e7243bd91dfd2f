//go:build overload

package e2e

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
)

// flood measures the capacity, and offers four fifths of it, twice of it, and four fifths again.
func (o *overload) flood() {
	o.t.Helper()
	third := o.duration / 3
	defer o.watch(o.api, o.worker)()
	o.warm()
	before := map[*player]vitals{o.api: o.vitals(o.api), o.worker: o.vitals(o.worker)}

	first := o.findCapacity(third)
	o.drained()
	calm := o.open(.8*first.goodput, third)
	o.phase("0.8 of capacity", calm)
	o.drained()

	double := o.open(2*first.goodput, o.duration)
	o.phase("twice the capacity", double)
	ended := time.Now()
	backlog := o.pending()
	apiBack := o.awaitBack(o.api, before[o.api])
	left := backWithin - time.Since(ended)
	if left > 0 {
		time.Sleep(left) //nolint:forbidigo // What is measured is what is so after this time.
	}
	after := o.open(.8*first.goodput, third)
	o.phase("0.8 of capacity, 10 s later", after)
	drain := time.Since(ended) + o.drained()
	workerBack := o.awaitBack(o.worker, before[o.worker])

	second := o.closed(o.clients, third)
	o.phase("closed loop, again", second)
	o.drained()
	o.capacity = (first.goodput + second.goodput) / 2

	o.judgeFlood(calm, double, after)
	o.row("API back to base (goroutines, descriptors, memory)", "10 s", apiBack.Round(time.Millisecond), apiBack <= backWithin)
	o.row("worker back to base, once its backlog is bought", "10 s", workerBack.Round(time.Millisecond), workerBack <= backWithin)
	o.note("backlog of accepted intents at the end of it; bought within",
		fmt.Sprintf("%d; %s", backlog, drain.Round(100*time.Millisecond)))
	o.note("capacity in a closed loop, before; after; accepted a second by",
		fmt.Sprintf("%.0f/s; %.0f/s; %d clients", first.goodput, second.goodput, o.clients))
	o.checkBooks()
}

// warm opens what opens only once.
func (o *overload) warm() {
	o.t.Helper()
	o.closed(64, 3*time.Second)
	o.drained()
}

// findCapacity finds out how many clients get the most done, and how much that is.
func (o *overload) findCapacity(duration time.Duration) figures {
	o.t.Helper()
	best := 0.0
	for _, clients := range []int{32, 64, 128} {
		f := o.closed(clients, max(duration/4, 2*warmUp))
		o.phase(fmt.Sprintf("closed loop, %d clients", clients), f)
		if f.goodput > best {
			best, o.clients = f.goodput, clients
		}
	}
	f := o.closed(o.clients, duration)
	o.phase(fmt.Sprintf("closed loop, %d clients", o.clients), f)
	return f
}

// judgeFlood holds what was seen against what is required.
func (o *overload) judgeFlood(calm, double, after figures) {
	base, p99 := quantile(calm.accepts, .99), quantile(double.accepts, .99)
	o.row("goodput at twice the capacity", "at least 0.9 of it",
		fmt.Sprintf("%.2f (%.0f of %.0f/s)", double.goodput/o.capacity, double.goodput, o.capacity),
		double.goodput >= .9*o.capacity)
	o.row("p99 of what is accepted, against 0.8", "at most 2 times",
		fmt.Sprintf("%.2f (%s, %s)", p99.Seconds()/base.Seconds(), ms(p99), ms(base)), p99 <= 2*base)
	o.row("refusals with Retry-After", "all", fmt.Sprintf("%d of %d", double.refused-double.mute, double.refused), double.mute == 0)
	late := quantile(double.refusals, .99)
	o.row("p99 of refusals", "20 ms", ms(late), late <= 20*time.Millisecond)
	o.row("requests without an answer", "none", o.unclear, o.unclear == 0)
	again := quantile(after.accepts, .99)
	o.row("p99 at 0.8, ten seconds after", "at most 1.25 of before",
		fmt.Sprintf("%.2f (%s)", again.Seconds()/base.Seconds(), ms(again)), again <= base*5/4)
	o.row("refused at 0.8, ten seconds after", "as few as before",
		fmt.Sprintf("%d, %d before", after.refused, calm.refused), after.refused <= calm.refused+after.sent/1000)
}

// awaitBack waits until a program takes up what it did before, a little more, and returns how long
// that took.
func (o *overload) awaitBack(p *player, base vitals) time.Duration {
	o.t.Helper()
	began := time.Now()
	for {
		v, took := o.vitals(p), time.Since(began)
		back := v.goroutines <= base.goroutines+leakedMost && v.descriptors <= base.descriptors+leakedMost &&
			v.resident <= 2*base.resident+grownMost
		if back || took > 2*time.Minute {
			return took
		}
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // Each look is a measurement.
	}
}

// checkBooks holds what callers were told against what is there, and what is there against the
// carrier's ledger.
func (o *overload) checkBooks() {
	o.t.Helper()
	var intents int
	require.NoError(o.t, o.db.QueryRow(o.t.Context(), `SELECT count(*) FROM label_intents`).Scan(&intents))
	o.row("intents for what was accepted, none for refusals", "equal",
		fmt.Sprintf("%d, %d", intents, o.accepted), intents >= o.accepted && intents <= o.accepted+o.unclear)
	twice := 0
	charges := o.carrier.charges()
	for _, entries := range charges {
		if len(entries) > 1 {
			twice++
		}
	}
	o.row("labels charged for; twice", "equal; none", fmt.Sprintf("%d; %d", len(charges), twice), len(charges) == intents && twice == 0)
}
