package outbox

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"
)

// Wait blocks until the intent is final or left to a person, and returns its answer; or until ctx
// ends, and returns what it stands for then. However many wait, they cost one query a notification.
func (o *Outbox) Wait(ctx context.Context, id uuid.UUID) (Answer, error) {
	ended := o.hub.join(id)
	defer o.hub.leave(id, ended)
	answer, err := o.answering.Do(ctx, id)
	if err == nil && answer.ended() {
		return answer, nil
	}
	select {
	case answer := <-ended:
		return answer, nil
	case <-ctx.Done():
	case <-o.hub.closing:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.cfg.Patience)
	defer cancel()
	answer, err = o.answering.Do(ctx, id)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: waiting for label intent %s: %w", ErrUnavailable, id, err)
	}
	return answer, nil
}

// ended is true if no job will change the answer any more.
func (a Answer) ended() bool { return a.Kind == Final || a.left }

// hub knows which intents are waited for in this process, and tells those who wait.
type hub struct {
	o       *Outbox
	closing chan struct{}
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	waiting map[uuid.UUID]map[chan Answer]struct{}
}

func newHub(ctx context.Context, o *Outbox) *hub {
	ctx, stop := context.WithCancel(ctx)
	h := &hub{
		o:       o,
		closing: make(chan struct{}),
		stop:    stop,
		waiting: make(map[uuid.UUID]map[chan Answer]struct{}),
	}
	h.running.Go(func() { h.poll(ctx) })
	if o.cfg.Listen {
		h.running.Go(func() { h.listen(ctx) })
	}
	return h
}

// close sends everyone who waits away with the answer of the moment.
func (h *hub) close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()
	h.stop()
	h.running.Wait()
}

func (h *hub) join(id uuid.UUID) chan Answer {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan Answer, 1)
	if h.waiting[id] == nil {
		h.waiting[id] = make(map[chan Answer]struct{})
	}
	h.waiting[id][ch] = struct{}{}
	return ch
}

func (h *hub) leave(id uuid.UUID, ch chan Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiting[id], ch)
	if len(h.waiting[id]) == 0 {
		delete(h.waiting, id)
	}
}

// awaited are those of the ids that someone here waits for; all of them if ids is nil.
func (h *hub) awaited(ids []uuid.UUID) []uuid.UUID {
	h.mu.Lock()
	defer h.mu.Unlock()
	var here []uuid.UUID
	if ids == nil {
		for id := range h.waiting {
			here = append(here, id)
		}
		return here
	}
	for _, id := range ids {
		if len(h.waiting[id]) > 0 {
			here = append(here, id)
		}
	}
	return here
}

// tell reads the answers of the ids that are waited for, and hands out those that have ended.
func (h *hub) tell(ctx context.Context, ids []uuid.UUID) {
	ids = h.awaited(ids)
	if len(ids) == 0 {
		return
	}
	answers, err := h.o.answerAll(ctx, ids)
	if err != nil {
		if ctx.Err() == nil {
			h.o.cfg.Logger.Warn("reading awaited answers", zap.Int("intents", len(ids)), zap.Error(err))
		}
		return // the next poll comes
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, id := range ids {
		if !answers[i].ended() {
			continue
		}
		for ch := range h.waiting[id] {
			select {
			case ch <- answers[i]:
			default: // told already
			}
		}
	}
}

// poll is the net under the notifications: one may be lost with its connection.
func (h *hub) poll(ctx context.Context) {
	ticker := time.NewTicker(h.o.cfg.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.tell(ctx, nil)
		}
	}
}

// listen wakes waiting requests by the notifications that completing sends. It has a connection of
// its own, outside the pool, and never listens inside a transaction.
func (h *hub) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := h.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		h.o.cfg.Logger.Warn("listening for intents that end; polling meanwhile", zap.Error(err))
		select {
		case <-ctx.Done():
		case <-time.After(h.o.cfg.Poll):
		}
	}
}

func (h *hub) listenOnce(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, h.o.db.Config().ConnConfig.Copy())
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // A listener that cannot say goodbye is gone all the same.
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("waiting for a notification: %w", err)
		}
		h.tell(ctx, endedIDs(n.Payload))
	}
}
