package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// TestGracefulStopOfAnAPI: an API that is asked to stop answers all requests it has, those that wait
// for a label with what is known, and ends without an error.
func TestGracefulStopOfAnAPI(t *testing.T) {
	t.Parallel()
	const waiting = 40
	hold := newGate()
	s := newStack(t, startCarrier(t, simserver.Faults{}, hooks{gate: hold}), settings{})
	first := s.startAPI()
	s.startWorker()

	answered := make(chan []answer, 1)
	failed := make(chan error, 1)
	go func() {
		answers, err := s.together(waiting, func(ctx context.Context, i int) (answer, error) {
			return s.post(ctx, first, orderOf(i+1), "Prefer", "wait=30")
		})
		answered <- answers
		failed <- err
	}()
	s.awaitCount(waiting, `SELECT count(*) FROM label_intents`)
	second := s.startAPI()
	first.terminate()
	answers := <-answered
	require.NoError(t, <-failed)
	requireHeard(s, answers, "202")

	// Whoever comes now is served by the other.
	a, err := s.submit(t.Context(), orderOf(1))
	require.NoError(t, err)
	require.Equal(t, "409 request_in_progress", a.said())
	hold.open()
	require.Equal(t, ended{purchased: waiting}, requireTruth(s))
	require.True(t, second.running())
}

// TestGracefulStopOfAWorker: a worker that is asked to stop finishes the calls it has begun, stores
// what came of them, begins no others, and ends without an error.
func TestGracefulStopOfAWorker(t *testing.T) {
	t.Parallel()
	const orders, calls = 120, 30
	hold := newGate()
	carrier := startCarrier(t, simserver.Faults{}, hooks{gate: hold})
	// The calls are held for as long as the test needs; only the end of the test bounds them.
	s := newStack(t, carrier, settings{
		lease: 40 * time.Second, timeout: 30 * time.Second, env: []string{"WAYBILL_MAX_WORKERS=30"},
	})
	s.startAPI()
	first := s.startWorker()
	require.NoError(t, s.submitAll(1, orders+1))
	for range calls {
		<-hold.reached
	}
	first.interrupt()
	first.awaitLine("that it stops", func(l line) bool {
		return l.Msg == "stopping: finishing the calls under way"
	})
	hold.open()
	first.awaitEnd()
	labels := s.count(`SELECT count(*) FROM labels WHERE learned_by = 'call'`)
	require.GreaterOrEqual(t, labels, calls, "every call under way became a label")
	require.Len(t, carrier.charges(), labels, "what was charged was stored")
	require.Equal(t, 0, s.count(`SELECT count(*) FROM idempotency_keys WHERE lease_token IS NOT NULL`))

	s.startWorker()
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
	require.Len(t, carrier.charges(), orders)
	requireOneCallEach(s, orders)
}

// TestRollingRestart: every program is replaced, one after the other, under load; nobody's order is
// lost, no call is made twice, and no program ends with an error.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	const orders, every = 300, 60
	charges := make(chan struct{}, 2*orders)
	carrier := startCarrier(t, simserver.Faults{LatencyMS: 5, LatencySpreadMS: 40},
		hooks{charged: func(simserver.Entry) { charges <- struct{}{} }})
	s := newStack(t, carrier, settings{})
	replaced := []*process{s.startAPI(), s.startWorker(), s.startAPI(), s.startWorker()}

	accepted := make(chan error, 1)
	go func() { accepted <- s.submitAll(1, orders+1, "Prefer", "wait=1") }()
	for n, old := range replaced {
		for range every {
			<-charges
		}
		if n%2 == 0 {
			s.startAPI()
		} else {
			s.startWorker()
		}
		old.terminate()
	}
	require.NoError(t, <-accepted)
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
	require.Len(t, carrier.charges(), orders)
	requireOneCallEach(s, orders)
}

// requireOneCallEach: no call was repeated. Those that a slow machine gave up before the send are
// counted apart.
func requireOneCallEach(s *stack, orders int) {
	s.t.Helper()
	require.Equal(s.t, orders, s.count(`SELECT count(*) FROM label_intents WHERE calls - unbegun = 1`))
}
