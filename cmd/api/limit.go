package main

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"waybill/internal/problem"
)

// limiter holds one token bucket for each caller: one that runs wild slows down itself. There are
// no more buckets than callers, because only authenticated requests ask.
type limiter struct {
	perSecond rate.Limit
	burst     int
	now       func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newLimiter(perSecond float64, now func() time.Time) *limiter {
	return &limiter{
		perSecond: rate.Limit(perSecond),
		// Two seconds' worth: a batch job may begin with a thump.
		burst:   int(math.Ceil(2 * perSecond)),
		now:     now,
		buckets: map[string]*rate.Limiter{},
	}
}

// take asks for one request of a caller's share.
func (l *limiter) take(callerID string) error {
	now := l.now()
	bucket := l.bucket(callerID)
	if bucket.AllowN(now, 1) {
		return nil
	}
	missing := 1 - bucket.TokensAt(now)
	wait := time.Duration(missing / float64(l.perSecond) * float64(time.Second))
	return refuse(problem.RateLimited, "You send more than your share; nothing was stored. "+
		"Repeat the request, with the same key, later.").after(max(wait, retryBusy))
}

func (l *limiter) bucket(callerID string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, ok := l.buckets[callerID]
	if !ok {
		bucket = rate.NewLimiter(l.perSecond, l.burst)
		l.buckets[callerID] = bucket
	}
	return bucket
}
