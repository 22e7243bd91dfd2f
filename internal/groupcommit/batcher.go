// Package groupcommit lets many goroutines share one transaction. Each hands over an item and
// blocks; a flusher takes whatever has queued, runs one flush for all of it and hands every caller
// its own result.
//
// There is no timer: a lone item is flushed at once, and batches grow only while a flush is under
// way. A flush that fails because of one item's data is split until that item fails alone. Nothing
// here knows about databases.
package groupcommit

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
)

var (
	// ErrFull is returned by TryDo when the queue has no room. The item was not taken.
	ErrFull = errors.New("group commit queue is full")

	// ErrClosed is returned once Close was called. The item was not taken.
	ErrClosed = errors.New("group commit is closed")
)

// Flush carries out one batch and returns one result an item, in the items' order; or an error for
// the whole batch, in which case none of it was carried out, or nobody knows.
type Flush[T, R any] func(ctx context.Context, items []T) ([]R, error)

// Config sizes a Batcher. Zero values take the defaults.
type Config struct {
	// MaxBatch is the most items a flush gets; default 256. Larger batches gain little and make
	// everyone in them wait for the slowest row.
	MaxBatch int

	// Queue is how many items may wait; default 8192. More waiting than this is overload.
	Queue int

	// Flushers is how many flushes run at once; default 2: while one waits for the disk, the
	// other fills.
	Flushers int

	// MaxWeight ends a batch before MaxBatch when its items are heavy, as NewWeighed's weight
	// says; default: no limit.
	MaxWeight int

	// Splits tells whether an error is the fault of one item, so that the others deserve another
	// try without it. Default: never.
	Splits func(error) bool

	// Observe is told the size of every batch; may be nil.
	Observe func(size int)
}

// Batcher shares flushes among callers. Make it with New.
type Batcher[T, R any] struct {
	flush  Flush[T, R]
	weight func(T) int
	cfg    Config
	stop   context.CancelFunc
	done   sync.WaitGroup

	// mu is held for reading while an item is put into the queue, so that Close never closes the
	// queue under a sender.
	mu     sync.RWMutex
	closed bool
	queue  chan ticket[T, R]
}

type ticket[T, R any] struct {
	item   T
	result chan result[R]
}

type result[R any] struct {
	value R
	err   error
}

// New starts the flushers. Flushes run on ctx, never on a caller's context: give it one that
// outlives the signal to stop, since cancelling it breaks off batches halfway.
func New[T, R any](ctx context.Context, cfg Config, flush Flush[T, R]) *Batcher[T, R] {
	return NewWeighed(ctx, cfg, func(T) int { return 0 }, flush)
}

// NewWeighed is New for items of different sizes: a batch also ends with the item that brings it to
// Config.MaxWeight.
func NewWeighed[T, R any](
	ctx context.Context, cfg Config, weight func(T) int, flush Flush[T, R],
) *Batcher[T, R] {
	cfg = cfg.withDefaults()
	ctx, stop := context.WithCancel(ctx) //nolint:gosec // G118: Close calls it.
	b := &Batcher[T, R]{
		flush:  flush,
		weight: weight,
		cfg:    cfg,
		stop:   stop,
		queue:  make(chan ticket[T, R], cfg.Queue),
	}
	for range cfg.Flushers {
		b.done.Go(func() { b.loop(ctx) })
	}
	return b
}

func (c Config) withDefaults() Config {
	if c.MaxBatch == 0 {
		c.MaxBatch = 256
	}
	if c.Queue == 0 {
		c.Queue = 8192
	}
	if c.Flushers == 0 {
		c.Flushers = 2
	}
	if c.MaxWeight == 0 {
		c.MaxWeight = math.MaxInt
	}
	if c.Splits == nil {
		c.Splits = func(error) bool { return false }
	}
	if c.Observe == nil {
		c.Observe = func(int) {}
	}
	return c
}

// Do hands over an item and waits for its result, first for room in the queue if there is none.
// When ctx ends first, Do returns its error; an item that was taken is carried out all the same.
func (b *Batcher[T, R]) Do(ctx context.Context, item T) (R, error) {
	return b.do(ctx, item, func(t ticket[T, R]) error {
		select {
		case b.queue <- t:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// TryDo is Do, but refuses at once with ErrFull when the queue is full.
func (b *Batcher[T, R]) TryDo(ctx context.Context, item T) (R, error) {
	return b.do(ctx, item, func(t ticket[T, R]) error {
		select {
		case b.queue <- t:
			return nil
		default:
			return ErrFull
		}
	})
}

func (b *Batcher[T, R]) do(ctx context.Context, item T, put func(ticket[T, R]) error) (R, error) {
	var zero R
	t := ticket[T, R]{item: item, result: make(chan result[R], 1)}
	if err := b.enqueue(t, put); err != nil {
		return zero, err
	}
	select {
	case r := <-t.result:
		return r.value, r.err
	case <-ctx.Done():
		return zero, ctx.Err()
	}
}

func (b *Batcher[T, R]) enqueue(t ticket[T, R], put func(ticket[T, R]) error) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return ErrClosed
	}
	return put(t)
}

// Depth is how many items wait in the queue now.
func (b *Batcher[T, R]) Depth() int { return len(b.queue) }

// Close refuses new items, carries out all that were taken, and returns when the flushers have
// ended. When ctx ends first it breaks the running flushes off. Calling it again is harmless.
func (b *Batcher[T, R]) Close(ctx context.Context) error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.queue)
	}
	b.mu.Unlock()

	drained := make(chan struct{})
	go func() {
		b.done.Wait()
		close(drained)
	}()
	defer b.stop()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		b.stop()
		<-drained
		return ctx.Err()
	}
}

func (b *Batcher[T, R]) loop(ctx context.Context) {
	for first := range b.queue {
		b.run(ctx, b.fill(first))
	}
}

// fill takes what has queued behind the first item, without waiting for more.
func (b *Batcher[T, R]) fill(first ticket[T, R]) []ticket[T, R] {
	batch := []ticket[T, R]{first}
	weight := b.weight(first.item)
	for len(batch) < b.cfg.MaxBatch && weight < b.cfg.MaxWeight {
		select {
		case t, open := <-b.queue:
			if !open {
				return batch
			}
			batch = append(batch, t)
			weight += b.weight(t.item)
		default:
			return batch
		}
	}
	return batch
}

func (b *Batcher[T, R]) run(ctx context.Context, batch []ticket[T, R]) {
	items := make([]T, len(batch))
	for i, t := range batch {
		items[i] = t.item
	}
	b.cfg.Observe(len(items))
	values, err := b.flush(ctx, items)
	switch {
	case err != nil && len(batch) > 1 && b.cfg.Splits(err):
		half := len(batch) / 2
		b.run(ctx, batch[:half])
		b.run(ctx, batch[half:])
	case err != nil:
		for _, t := range batch {
			t.result <- result[R]{err: err}
		}
	default:
		b.done.Go(func() { deliver(batch, values) })
	}
}

// wakeAtOnce is how many callers are woken before whoever else is ready to run gets its turn.
const wakeAtOnce = 16

// deliver hands out the results, beside the next flush and not all in one go: a woken caller has work to
// do, and hundreds of them would keep a processor from all that is ready after them.
func deliver[T, R any](batch []ticket[T, R], values []R) {
	for i, t := range batch {
		t.result <- result[R]{value: values[i]}
		if i%wakeAtOnce == wakeAtOnce-1 {
			runtime.Gosched()
		}
	}
}
