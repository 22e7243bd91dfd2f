//go:build faultinject

package crash

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waybill/carrier"
	"waybill/internal/fault"
	"waybill/internal/testdb"
)

// way is a way to break a point.
type way struct {
	name     string
	quick    bool // played by make test too
	action   fault.Action
	mode     mode
	patience time.Duration
	cut      *cut
}

// Patience with the database: a service that has some tries again by itself; one that has none
// leaves it to whoever asked.
const (
	patient   = 2 * time.Second
	impatient = time.Nanosecond
)

var (
	death = way{name: "death", quick: true, action: fault.Kill, patience: patient}

	// ways are all that is done to every point.
	ways = []way{
		death,
		{name: "failed", action: fault.Error, patience: patient},
		{name: "failed, no patience", quick: true, action: fault.Error, patience: impatient},
		{name: "happened but failed", quick: true, action: fault.ErrorAfter, patience: patient},
		{name: "happened but failed, no patience", action: fault.ErrorAfter, patience: impatient},
		{name: "sleep beyond the lease", quick: true, action: fault.Pause, mode: napping, patience: patient},
		{name: "sleep to the end", action: fault.Pause, mode: oversleeping, patience: patient},
		{name: "delay", quick: true, action: fault.Pause, mode: dawdling, patience: patient},
	}

	crossed = way{name: "sleep across the other's lease", action: fault.Pause, mode: crossing, patience: patient}

	// cuts are done to every COMMIT besides.
	cuts = []way{
		{name: "connection lost before COMMIT", cut: &cut{}, patience: patient},
		{name: "answer to COMMIT lost", quick: true, cut: &cut{carriedOut: true}, patience: patient},
		{name: "answer to COMMIT lost, no patience", cut: &cut{carriedOut: true}, patience: impatient},
	}
)

// hit is a moment of a story: the nth time that a point is reached.
type hit struct {
	point string
	n     int
}

// cell is one story that is broken once, or twice.
type cell struct {
	class  carrier.Class
	script string
	hit    hit
	way    way

	// second is where the process that recovers is broken in the same way; nil: nowhere.
	second *hit
}

func (c cell) String() string {
	text := fmt.Sprintf("%s/%s/%s", c.class, c.script, c.way.name)
	if c.hit.point != "" {
		text += fmt.Sprintf(" at %s (%d)", c.hit.point, c.hit.n)
	}
	if c.second != nil {
		text += fmt.Sprintf(", then at %s (%d)", c.second.point, c.second.n)
	}
	return text
}

// alike are the events that know nothing of a carrier's class. In a hurry, one class stands for all
// where nobody dies.
var alike = []string{"accept", "look_up_key", "read_answers", "revise", "revive", "ring", "ring_voids", "sweep", "void"}

// chosen tells whether the cell is played: by make crash all are.
func (c cell) chosen() bool {
	event, _, _ := strings.Cut(c.hit.point, ".")
	quick := c.way.quick &&
		(c.way.name == death.name || c.class == carrier.Blind || !slices.Contains(alike, event))
	return c.promised() && (*full || quick)
}

// promised tells whether the laws are promised for the cell. A carrier without a key is not safe from
// a process that sleeps between its last look at the lease and the send until everybody else has
// given up on it (docs/lifecycle.md, "What is not promised").
func (c cell) promised() bool {
	sleepsLong := c.way.mode == oversleeping || c.way.mode == crossing
	return !sleepsLong || c.hit.point != "call.before_send" || c.class == carrier.Keyed
}

// outcome is what a cell showed.
type outcome struct {
	cell    cell
	broken  bool // the fault happened; both, of two
	first   []string
	second  []string
	failure string
	took    time.Duration
}

// report stands in for the test of one cell: thousands of them would drown the test's own output.
type report struct{ text string }

func (r *report) Errorf(format string, args ...any) { r.text += fmt.Sprintf(format, args...) }

// FailNow ends the goroutine that plays the cell.
func (r *report) FailNow() { runtime.Goexit() }

// stage is where cells are played one after another: a database.
type stage struct {
	t   *testing.T
	url string
	db  *pgxpool.Pool
}

func newStage(t *testing.T) *stage {
	t.Helper()
	url := testdb.URL(t)
	return &stage{t: t, url: url, db: testdb.Pool(t, url)}
}

// orders makes order ids.
var orders atomic.Int64

// play plays a cell.
func (st *stage) play(c cell) outcome {
	began := time.Now()
	n := orders.Add(1)
	r := &report{}
	turned := &atomic.Int64{}
	log := &logged{}
	w := &world{
		t: r, url: st.url, db: st.db, caller: fmt.Sprintf("caller-%d", n), class: string(c.class),
		now:    func() time.Time { return time.Now().Add(time.Duration(turned.Load())) },
		turned: turned, log: log, logger: newLogger(log), patience: c.way.patience, mode: c.way.mode,
	}
	if w.patience == 0 {
		w.patience = patient
	}
	w.witness = newWitness(c.class, w.now, slices.Clone(scripts[c.script]))
	if c.hit.point != "" {
		w.first = []breakage{{Fault: fault.Fault{Point: c.hit.point, Hit: c.hit.n, Action: c.way.action}, cut: c.way.cut}}
	}
	if c.second != nil {
		w.next = []breakage{{Fault: fault.Fault{Point: c.second.point, Hit: c.second.n, Action: c.way.action}}}
	}
	s := newStory(w, n)
	s.restored = c.script == "Restored"
	if c.script == "Deferred" {
		s.deferred = 1
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.play()
		s.requireLaws()
	}()
	<-done
	o := outcome{cell: c, failure: r.text, broken: w.broke(c)}
	for i, p := range w.processes {
		switch i {
		case 0:
			o.first = p.points()
		case 1:
			o.second = p.points()
		}
		if err := p.end(); err != nil {
			o.failure += fmt.Sprintf("\nending process %s: %v", p.name, err)
		}
	}
	if o.failure != "" {
		o.failure += "\n" + log.String()
	}
	for _, sql := range []string{`DELETE FROM river_job`, `DELETE FROM recoveries`} {
		if _, err := st.db.Exec(ctx, sql); err != nil {
			o.failure += "\n" + err.Error()
		}
	}
	o.took = time.Since(began)
	return o
}

// broke tells whether the cell's faults have happened.
func (w *world) broke(c cell) bool {
	counts := func(i int, h hit) bool {
		n := 0
		for _, p := range w.processes[i].points() {
			if p == h.point {
				n++
			}
		}
		return n >= h.n
	}
	switch {
	case c.hit.point == "":
		return true
	case len(w.processes) == 0 || !counts(0, c.hit):
		return false
	case c.second != nil:
		return len(w.processes) > 1 && counts(1, *c.second)
	default:
		return c.way.cut == nil || w.processes[0].cut.Load() == nil
	}
}
