package e2e

import (
	"context"
	"time"

	"waybill/carrier/sim/simserver"
)

// How far off the clock of Postgres is set. A lease is 1.5 s here: steps are shorter, leaps many times as long.
var (
	clockSteps = []time.Duration{-time.Second, -300 * time.Millisecond, 300 * time.Millisecond, time.Second}
	clockLeaps = []time.Duration{-31 * time.Second, -5 * time.Second, 5 * time.Second, 31 * time.Second}
)

const (
	// clockLeast and clockMost are how long a clock is wrong.
	clockLeast, clockMost = 500 * time.Millisecond, 2 * time.Second

	// A clock that is slewed gains slewBy every slewEvery: a quarter of the time that passes.
	slewBy, slewEvery = 50 * time.Millisecond, 200 * time.Millisecond

	// slackMost is how far a clock may be set forward at a stroke where a quiet period is waited for. The carrier
	// is late by chaosLate, and chaosProcessing is waited; this is less than the difference.
	slackMost = 300 * time.Millisecond
)

// leapsOf are the leaps that the promise to a class holds for. Leases end by the clock of Postgres, and a
// wrong clock ends them early or late: for carriers that honour a key, or are never called again, that may be by
// any length. A look-up carrier's quiet period is waited for by the same clock, and a stroke forward between
// two look-ups is taken off it: docs/lifecycle.md does not promise anything then. So there are strokes back, from
// which the clock is slewed to the right time as time daemons do it, and strokes forward within the slack. Slewing
// half a minute would take two: TestClock has that leap.
func leapsOf(class simserver.Mode) []time.Duration {
	if class == simserver.Lookup {
		return []time.Duration{-5 * time.Second, -time.Second, -slackMost, slackMost}
	}
	return append(append([]time.Duration{}, clockSteps...), clockLeaps...)
}

// shortLeapsOf are those whose echo is short.
func shortLeapsOf(class simserver.Mode) []time.Duration {
	if class == simserver.Lookup {
		return []time.Duration{-time.Second}
	}
	return []time.Duration{-5 * time.Second, 5 * time.Second}
}

// step sets the clock of Postgres wrong for a while.
func (n *nemesis) step(ctx context.Context, s stepOf) error {
	n.clocking.Lock()
	defer n.clocking.Unlock()
	if err := n.cluster.SetClock(s.clock); err != nil {
		return err
	}
	pause(ctx, s.lasts)
	if n.class == simserver.Lookup && -s.clock > slackMost {
		for off := s.clock; off < 0 && ctx.Err() == nil; off += slewBy {
			if err := n.cluster.SetClock(off); err != nil {
				return err
			}
			pause(ctx, slewEvery)
		}
	}
	if err := n.cluster.SetClock(0); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clocks[s.clock]++
	if echo := time.Now().Add(s.clock); echo.After(n.echo) {
		n.echo = echo
	}
	return nil
}
