package outbox

import (
	"context"
	"sync"
	"time"
)

const (
	// admitAtLeast is how many submissions may be under way however slow the database is: a commit that
	// waits for a distant disk is shared by as many.
	admitAtLeast = 128

	// assumedSpeed is how many items a second a flusher is believed to commit before any was seen to.
	assumedSpeed = 5000

	// tellingBatch is the least batch that says something of the speed. A lone item takes as long as
	// fifty, and nobody waits behind it.
	tellingBatch = 32

	// flushWeight is how much the newest batch counts in what is believed. A checkpoint that slows a
	// few batches down must not halve what is let in.
	flushWeight = 0.1
)

// admission decides who may queue for a commit. More than the database commits cannot be committed,
// whatever is queued: a queue that is longer than it needs to be makes everybody late and nothing
// quicker. So there is room for as many as are committed within a time, and who comes on top hears at
// once that it is too much.
//
// Nobody may have more under way than there is room left. One caller alone so has half of the room, two
// have a third each, and a caller who floods the service leaves room for everybody else.
type admission struct {
	wait     time.Duration // how long a submission may probably take
	flushers int
	most     int // room at most

	mu       sync.Mutex
	underWay int
	byCaller map[string]int

	// speed is how many items a second one flusher commits, as the last batches had it.
	speed float64
}

func newAdmission(wait time.Duration, flushers, most int) *admission {
	return &admission{
		wait: wait, flushers: flushers, most: most, byCaller: make(map[string]int), speed: assumedSpeed,
	}
}

// room is how many may be under way at once. The mutex is held.
func (a *admission) room() int {
	quick := int(a.speed * float64(a.flushers) * a.wait.Seconds())
	return 2 * min(max(quick, admitAtLeast), a.most)
}

// admits tells whether a caller's next submission would be let in now. The mutex is held.
func (a *admission) admits(caller string) bool { return a.byCaller[caller] < a.room()-a.underWay }

// full tells whether a caller would be refused now, without taking a place.
func (a *admission) full(caller string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.admits(caller)
}

// enter takes a place for a caller, or tells that there is none.
func (a *admission) enter(caller string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.admits(caller) {
		return false
	}
	a.underWay++
	a.byCaller[caller]++
	return true
}

// leave gives the place back.
func (a *admission) leave(caller string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.underWay--
	if a.byCaller[caller]--; a.byCaller[caller] == 0 {
		delete(a.byCaller, caller)
	}
}

// flushed notes how long a batch took.
func (a *admission) flushed(items int, took time.Duration) {
	if items < tellingBatch {
		return
	}
	speed := float64(items) / max(took, time.Microsecond).Seconds()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.speed += flushWeight * (speed - a.speed)
}

// occupancy is how many submissions are under way, and how many may be.
func (a *admission) occupancy() (underWay, room int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.underWay, a.room()
}

// Full tells whether Accept would refuse the caller's next submission with ErrOverloaded, as things
// stand: to ask is cheap, and what is read and checked of a request that is refused is wasted.
func (o *Outbox) Full(callerID string) bool { return o.admission.full(callerID) }

// acceptAdmitted carries out a batch, learns from it, and gives the places back.
func (o *Outbox) acceptAdmitted(ctx context.Context, items []acceptItem) ([]Answer, error) {
	began := o.cfg.Now()
	answers, err := o.acceptAll(ctx, items)
	o.admission.flushed(len(items), o.cfg.Now().Sub(began))
	if err != nil && len(items) > 1 && isPermanent(err) {
		return nil, err // They come again, in smaller batches.
	}
	for _, it := range items {
		o.admission.leave(it.CallerID)
	}
	return answers, err
}
