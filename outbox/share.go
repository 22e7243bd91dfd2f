package outbox

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/riverqueue/river"
)

// share counts the workers of the shared queue that one carrier has.
type share struct {
	most int64
	busy atomic.Int64
}

func newShares(accounts map[string]Account) map[string]*share {
	shares := make(map[string]*share, len(accounts))
	for name, a := range accounts {
		shares[name] = &share{most: int64(a.Share)}
	}
	return shares
}

// shareWorkers is the bulkhead between carriers. All purchases are in one queue, and a carrier that hangs
// would fill its workers. So each has a share of them; what comes above it is moved to the carrier's own
// queue, once, and waits there for workers that no other carrier needs. Without a move, leave must be
// called when the job has ended.
func (b *Buyer) shareWorkers(ctx context.Context, jobID int64, queue, name string) (leave func(), err error) {
	s := b.shares[name]
	if queue != SharedQueue || s.most == 0 || Queue(name) == SharedQueue {
		return func() {}, nil
	}
	if s.busy.Add(1) <= s.most {
		return func() { s.busy.Add(-1) }, nil
	}
	s.busy.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if _, err := b.outbox.db.Exec(ctx, `UPDATE river_job SET queue = $2 WHERE id = $1`, jobID, Queue(name)); err != nil {
		return nil, fmt.Errorf("moving job %d aside: %w", jobID, err)
	}
	return nil, river.JobSnooze(0)
}
