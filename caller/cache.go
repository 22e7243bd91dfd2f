package caller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

const (
	// remember is how long an answer of the database counts, and so how long a revoked key may
	// still work.
	remember = 2 * time.Second

	// loadTimeout ends a look-up that the database does not answer; requests wait for it together.
	loadTimeout = 3 * time.Second

	// maxRecords bounds the memory that made-up key ids can take. Far more than there are callers.
	maxRecords = 4096

	// unknownPerSecond and unknownBurst bound the queries that ids never seen before can cause:
	// the checksum keeps accidents away from the database, not a determined stranger. The burst
	// lets every real key of a large installation be read at once after a start.
	unknownPerSecond = 100
	unknownBurst     = 500
)

// cache remembers briefly what was read of each key id, unknown ids too. However many requests
// bear one key, one query at a time reads it.
type cache struct {
	load    func(context.Context, string) (record, error)
	now     func() time.Time
	flights singleflight.Group
	strange *rate.Limiter

	mu      sync.Mutex
	records map[string]remembered
}

type remembered struct {
	record

	// readAt is the time before the query was sent: what it saw is at least as new.
	readAt time.Time
}

func newCache(load func(context.Context, string) (record, error), now func() time.Time) *cache {
	return &cache{
		load:    load,
		now:     now,
		strange: rate.NewLimiter(unknownPerSecond, unknownBurst),
		records: make(map[string]remembered),
	}
}

func (c *cache) get(ctx context.Context, keyID string) (record, error) {
	if known, ok := c.lookup(keyID); ok && c.now().Sub(known.readAt) < remember {
		return known.record, nil
	}
	// The query serves everybody who waits for it, so it does not end with the first one's request.
	flight := c.flights.DoChan(keyID, func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		return c.read(detached, keyID)
	})
	select {
	case <-ctx.Done():
		return record{}, fmt.Errorf("waiting for API key %s to be read: %w", keyID, ctx.Err())
	case result := <-flight:
		if result.Err != nil {
			return record{}, result.Err
		}
		return result.Val.(record), nil
	}
}

func (c *cache) lookup(keyID string) (remembered, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.records[keyID]
	return known, ok
}

func (c *cache) read(ctx context.Context, keyID string) (record, error) {
	// A flight that ended just before this one began has already answered.
	readAt := c.now()
	known, ok := c.lookup(keyID)
	if ok && readAt.Sub(known.readAt) < remember {
		return known.record, nil
	}
	// A key that was good a moment ago is always read again; only strangers need a token.
	if !known.valid && !c.strange.AllowN(readAt, 1) {
		return record{}, ErrBusy
	}
	found, err := c.load(ctx, keyID)
	if err != nil {
		return record{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.records) >= maxRecords {
		c.shrink()
	}
	c.records[keyID] = remembered{record: found, readAt: readAt}
	return found, nil
}

// shrink forgets the strangers, and everybody if that makes no room. The mutex is held.
func (c *cache) shrink() {
	for id, known := range c.records {
		if !known.valid {
			delete(c.records, id)
		}
	}
	if len(c.records) >= maxRecords {
		clear(c.records)
	}
}
