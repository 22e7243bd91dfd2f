package main

import (
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func newTestGate(perSecond float64, now func() time.Time) (*gate, prometheus.Gauge) {
	open := prometheus.NewGauge(prometheus.GaugeOpts{Name: "open"})
	return newGate("sim", perSecond, open, now), open
}

func TestGate(t *testing.T) {
	t.Parallel()

	t.Run("OpensAfterFailuresInARow", func(t *testing.T) {
		t.Parallel()
		g, open := newTestGate(0, time.Now)
		for range tripAfter {
			done, wait := g.Enter()
			require.NotNil(t, done)
			require.Zero(t, wait)
			done(carrier.Unknown)
		}
		done, wait := g.Enter()
		require.Nil(t, done)
		require.Equal(t, openFor, wait)
		require.InDelta(t, 1, testutil.ToFloat64(open), 0)
	})

	t.Run("RefusalsAndMissedCallsAreNoFailures", func(t *testing.T) {
		t.Parallel()
		g, open := newTestGate(0, time.Now)
		for range 5 * tripAfter {
			for _, outcome := range []carrier.Outcome{carrier.Unknown, carrier.Rejected, ""} {
				done, _ := g.Enter()
				require.NotNil(t, done)
				done(outcome)
			}
		}
		require.InDelta(t, 0, testutil.ToFloat64(open), 0)
	})

	t.Run("KeepsTheRate", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		g, _ := newTestGate(2, clock)
		for range 2 {
			done, _ := g.Enter()
			require.NotNil(t, done)
			done(carrier.Bought)
		}
		done, wait := g.Enter()
		require.Nil(t, done)
		require.Equal(t, 500*time.Millisecond, wait)
		now = now.Add(wait)
		done, _ = g.Enter()
		require.NotNil(t, done, "the one who was sent away took no place")
		done(carrier.Bought)
	})
}
