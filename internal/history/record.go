package history

import (
	"math"
	"sync"
	"time"
)

// Forever is the end of a call whose answer was lost.
const Forever = math.MaxInt64

// Operation is one call with its answer. Times are nanoseconds of one clock that all clients of a
// history share.
type Operation struct {
	Client int
	Request
	Answer

	Begin, End int64
}

// Recorder collects a history from any number of clients at once.
type Recorder struct {
	now   func() time.Time
	epoch time.Time

	mu  sync.Mutex
	ops []*Operation
}

// NewRecorder makes a recorder on a clock, which must be monotonic.
func NewRecorder(now func() time.Time) *Recorder {
	return &Recorder{now: now, epoch: now()}
}

// Begin records that a client sends a request, before it is sent. The answer is lost unless end is
// called, once it is there.
func (r *Recorder) Begin(client int, req Request) (end func(Answer)) {
	op := &Operation{Client: client, Request: req, Answer: Answer{Kind: Lost}, End: Forever}
	r.mu.Lock()
	op.Begin = r.now().Sub(r.epoch).Nanoseconds()
	r.ops = append(r.ops, op)
	r.mu.Unlock()
	return func(a Answer) {
		r.mu.Lock()
		defer r.mu.Unlock()
		op.Answer = a
		if a.Kind != Lost {
			op.End = r.now().Sub(r.epoch).Nanoseconds()
		}
	}
}

// Operations are what was recorded so far.
func (r *Recorder) Operations() []Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	ops := make([]Operation, len(r.ops))
	for i, op := range r.ops {
		ops[i] = *op
	}
	return ops
}
