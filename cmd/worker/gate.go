package main

import (
	"errors"
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
)

// gate is the politeness towards one carrier account: a rate limit, and a circuit breaker which
// keeps calls back while the carrier fails. Neither costs an intent an attempt.
type gate struct {
	limiter *rate.Limiter
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]
	now     func() time.Time
}

// errFailed and errNoCall are what the breaker is told; it wants errors.
var (
	errFailed = errors.New("carrier failed")
	errNoCall = errors.New("no call was made")
)

// newGate makes the gate of one account. perSecond 0 means no rate limit.
func newGate(name string, perSecond float64, open prometheus.Gauge, now func() time.Time) *gate {
	limit := rate.Inf
	if perSecond > 0 {
		limit = rate.Limit(perSecond)
	}
	return &gate{
		limiter: rate.NewLimiter(limit, max(1, int(perSecond))),
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
		now: now,
	}
}

// Enter implements outbox.Gate.
func (g *gate) Enter() (func(carrier.Outcome), time.Duration) {
	reservation := g.limiter.ReserveN(g.now(), 1)
	if delay := reservation.DelayFrom(g.now()); delay > 0 {
		reservation.CancelAt(g.now())
		return nil, delay
	}
	report, err := g.breaker.Allow()
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		return nil, openFor
	case err != nil:
		return nil, busyWait
	}
	return func(outcome carrier.Outcome) { report(verdict(outcome)) }, 0
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
