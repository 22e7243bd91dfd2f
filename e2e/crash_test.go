package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// Leases short enough to watch them end.
const (
	shortLease   = 1500 * time.Millisecond
	shortTimeout = 700 * time.Millisecond
)

var classes = []simserver.Mode{simserver.Keyed, simserver.Lookup, simserver.Blind}

// TestWorkerKilledInACall: a worker dies while its purchase is at the carrier, before or after the
// charge. Another takes over, and does what the class of the carrier allows.
func TestWorkerKilledInACall(t *testing.T) {
	t.Parallel()
	for _, class := range classes {
		for _, fault := range []simserver.Fault{simserver.HangBeforeCharge, simserver.HangAfterCharge} {
			t.Run(string(class)+"/"+string(fault), func(t *testing.T) {
				t.Parallel()
				hanging := make(chan struct{}, 1)
				carrier := startCarrier(t, simserver.Faults{
					Mode: class, Rules: []simserver.Rule{{Fault: fault, Count: 1}},
				}, hooks{hangs: func() { hanging <- struct{}{} }})
				s := newStack(t, carrier, settings{
					class: class, lease: shortLease, timeout: shortTimeout,
					// As long as the least time between two look-ups: the quiet period still ends.
					processing: time.Second,
				})
				s.startAPI()
				first := s.startWorker()
				_, err := s.post(t.Context(), s.api(), orderOf(1))
				require.NoError(t, err)
				<-hanging
				first.kill()
				s.startWorker()

				want, charges := ended{purchased: 1}, 1
				if class == simserver.Blind {
					want = ended{inDoubt: 1}
					if fault == simserver.HangBeforeCharge {
						charges = 0
					}
				}
				require.Equal(t, want, requireTruth(s))
				require.Len(t, carrier.charges(), charges)
			})
		}
	}
}

// TestFrozenWorker: a worker is frozen between the charge and its answer for longer than its lease.
// Another takes over; what the first brings when it is thawed doubles nothing.
func TestFrozenWorker(t *testing.T) {
	t.Parallel()
	for _, class := range classes {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			frozen := make(chan error, 1)
			toFreeze := make(chan *process, 1)
			carrier := startCarrier(t, simserver.Faults{Mode: class}, hooks{charged: func(simserver.Entry) {
				select {
				case p := <-toFreeze:
					frozen <- p.freeze()
				default: // It has happened.
				}
			}})
			s := newStack(t, carrier, settings{class: class, lease: shortLease, timeout: shortTimeout})
			s.startAPI()
			first := s.startWorker()
			toFreeze <- first
			_, err := s.post(t.Context(), s.api(), orderOf(1))
			require.NoError(t, err)
			require.NoError(t, <-frozen)
			s.startWorker()
			s.awaitSettled()

			first.thaw()
			s.awaitCount(1, `
				SELECT
					(SELECT count(*) FROM carrier_calls WHERE reason IN ('lost_lease', 'too_late')) +
					(SELECT count(*) FROM labels WHERE learned_by = 'late_call')`)
			got := requireTruth(s)
			if class == simserver.Blind {
				// The carrier's answer waits in the frozen worker's socket: thawed, it either reads
				// it, which settles the doubt, or first sees that its time is up.
				require.Contains(t, []ended{{purchased: 1}, {inDoubt: 1}}, got)
			} else {
				require.Equal(t, ended{purchased: 1}, got)
			}
			require.Len(t, carrier.charges(), 1)
		})
	}
}

// TestKilledUnderLoad: whatever is killed, whenever: workers and APIs die while hundreds of orders are
// under way, and others take their place.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	for _, class := range []simserver.Mode{simserver.Keyed, simserver.Lookup} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			const orders, every = 200, 50
			charges := make(chan struct{}, 2*orders)
			carrier := startCarrier(t, simserver.Faults{Mode: class, LatencyMS: 5, LatencySpreadMS: 40},
				hooks{charged: func(simserver.Entry) { charges <- struct{}{} }})
			s := newStack(t, carrier, settings{class: class, lease: shortLease, timeout: shortTimeout})
			apis := []*process{s.startAPI(), s.startAPI()}
			workers := []*process{s.startWorker(), s.startWorker()}

			accepted := make(chan error, 1)
			go func() { accepted <- s.submitAll(1, orders+1) }()
			for n := range 3 {
				for range every {
					<-charges
				}
				workers[0].kill()
				workers = append(workers[1:], s.startWorker())
				if n == 1 {
					apis[0].kill()
					s.startAPI()
				}
			}
			require.NoError(t, <-accepted)
			require.Equal(t, ended{purchased: orders}, requireTruth(s))
			require.Len(t, carrier.charges(), orders)
		})
	}
}
