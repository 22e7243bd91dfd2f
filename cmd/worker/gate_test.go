package main

import (
	"sync"
	"testing"
	"testing/synctest"
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
		done, _ := g.Enter()
		require.NotNil(t, done)
		done(carrier.Bought)
		done, wait := g.Enter()
		require.Nil(t, done)
		require.Equal(t, 500*time.Millisecond, wait)
		now = now.Add(wait)
		done, _ = g.Enter()
		require.NotNil(t, done, "the one who was sent away took no place")
		done(carrier.Bought)
	})

	t.Run("WhoWasSentAwayComesBackOneAfterTheOther", func(t *testing.T) {
		t.Parallel()
		now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		g, _ := newTestGate(10, func() time.Time { return now })
		done, _ := g.Enter()
		done(carrier.Bought)
		var waits []time.Duration
		for range 1000 {
			done, wait := g.Enter()
			require.Nil(t, done)
			waits = append(waits, wait)
		}
		for i, wait := range waits[:300] {
			require.Equal(t, time.Duration(i+1)*100*time.Millisecond, wait, "at the account's own rate")
		}
		for _, wait := range waits {
			require.LessOrEqual(t, wait, longestAway)
		}
		now = now.Add(time.Minute)
		done, _ = g.Enter()
		done(carrier.Bought)
		_, wait := g.Enter()
		require.Equal(t, 100*time.Millisecond, wait, "an old crowd is forgotten")
	})

	t.Run("ACrowdDoesNotMeetTheCarrierThatIsBack", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			g, _ := newTestGate(0, time.Now)
			for range tripAfter {
				done, _ := g.Enter()
				done(carrier.Unknown)
			}
			back := map[time.Duration]int{}
			for range 5000 {
				done, wait := g.Enter()
				require.Nil(t, done)
				require.GreaterOrEqual(t, wait, openFor)
				back[wait.Truncate(time.Second)]++
			}
			for second, n := range back {
				require.LessOrEqual(t, n, returns, "in second %s", second)
			}
			// The carrier is asked by a few, and only when they have heard that it is well, by all.
			<-time.After(openFor + time.Millisecond)
			var trying []func(carrier.Outcome)
			for range trials {
				done, _ := g.Enter()
				require.NotNil(t, done)
				trying = append(trying, done)
			}
			done, wait := g.Enter()
			require.Nil(t, done)
			require.GreaterOrEqual(t, wait, busyWait)
			for _, done := range trying {
				done(carrier.Bought)
			}
			done, _ = g.Enter()
			require.NotNil(t, done)
			done(carrier.Bought)
		})
	})
}
