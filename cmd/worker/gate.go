package main

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"waybill/carrier"
)

const (
	// tripAfter failures in a row open the breaker.
	tripAfter = 10

	// openFor is how long an open breaker keeps calls back before it lets some try.
	openFor = 5 * time.Second

	// trials are let through to find out whether the carrier is back.
	trials = 3

	// busyWait is how long a call stays away when the trials are taken.
	busyWait = time.Second

	// returns is how many of those who were sent away come back in a second, to an account without a
	// rate limit.
	returns = 500

	// burst is how much of a second's calls may be made at once: enough for a worker that fetches its
	// jobs every few moments, and so little that no second sees many more calls than the rate.
	burst = 0.1

	// longestAway bounds how long one is sent away, so that a carrier that is back is noticed soon,
	// however many wait for it.
	longestAway = 30 * time.Second
)

// gate is the politeness towards one carrier account: a rate limit, and a circuit breaker which
// keeps calls back while the carrier fails. Neither costs an intent an attempt.
type gate struct {
	limiter *rate.Limiter
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
	now     func() time.Time

	// spacing keeps those who come back apart: all of a long outage's calls wait for the same moment,
	// and must not meet the carrier, or our own database, in it.
	spacing time.Duration

	mu       sync.Mutex
	lastBack time.Time // when the last one who was sent away comes back
}

// errFailed and errNoCall are what the breaker is told; it wants errors.
var (
	errFailed = errors.New("carrier failed")
	errNoCall = errors.New("no call was made")
)

// newGate makes the gate of one account. perSecond 0 means no rate limit.
func newGate(name string, perSecond float64, open prometheus.Gauge, now func() time.Time) *gate {
	limit, back := rate.Inf, float64(returns)
	if perSecond > 0 {
		limit, back = rate.Limit(perSecond), perSecond
	}
	return &gate{
		limiter: rate.NewLimiter(limit, max(1, int(burst*perSecond))),
		breaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
			Name:        name,
			MaxRequests: trials,
			Timeout:     openFor,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
			IsExcluded:  func(err error) bool { return errors.Is(err, errNoCall) },
			OnStateChange: func(_ string, _, to gobreaker.State) {
				open.Set(0)
				if to == gobreaker.StateOpen {
					open.Set(1)
				}
			},
		}),
		now:     now,
		spacing: time.Duration(float64(time.Second) / back),
	}
}

// Enter implements outbox.Gate.
func (g *gate) Enter() (func(carrier.Outcome), time.Duration) {
	reservation := g.limiter.ReserveN(g.now(), 1)
	if delay := reservation.DelayFrom(g.now()); delay > 0 {
		reservation.CancelAt(g.now())
		return nil, g.away(delay)
	}
	report, err := g.breaker.Allow()
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		return nil, g.away(openFor)
	case err != nil:
		return nil, g.away(busyWait)
	}
	return func(outcome carrier.Outcome) { report(verdict(outcome)) }, 0
}

// away is how long the next one who is sent away stays away: at least so long, and until after those
// who were sent away before. When that would be too long, a second row begins beside the first.
func (g *gate) away(least time.Duration) time.Duration {
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	earliest := now.Add(least)
	g.lastBack = g.lastBack.Add(g.spacing)
	if g.lastBack.Before(earliest) || g.lastBack.After(now.Add(max(longestAway, least))) {
		g.lastBack = earliest
	}
	return g.lastBack.Sub(now)
}

// verdict is what an outcome says about the carrier's health: a refusal is a healthy answer.
func verdict(outcome carrier.Outcome) error {
	switch outcome {
	case carrier.Bought, carrier.Rejected:
		return nil
	case carrier.NotBought, carrier.Unknown:
		return errFailed
	default:
		return errNoCall
	}
}
