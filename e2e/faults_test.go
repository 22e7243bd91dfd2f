package e2e

import (
	"encoding/json/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// everyFault is every way in which the carrier can fail, a few times each.
func everyFault(times int, probability float64) []simserver.Rule {
	var rules []simserver.Rule
	for _, fault := range []simserver.Fault{
		simserver.Refuse, simserver.RateLimited,
		simserver.ErrorBeforeCharge, simserver.ErrorAfterCharge,
		simserver.ResetBeforeCharge, simserver.ResetAfterCharge,
		simserver.HangBeforeCharge, simserver.HangAfterCharge,
		simserver.Malformed, simserver.Truncated,
		simserver.WrongReference, simserver.NoTracking,
		simserver.OverPrice, simserver.ChargeLate,
	} {
		rules = append(rules, simserver.Rule{Fault: fault, Probability: probability, Count: times})
	}
	return rules
}

// TestEveryFault: the carrier fails in every way it can, some hundred times altogether, and the truth
// holds for each class of carrier.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	for _, class := range classes {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			const times = 4
			carrier := startCarrier(t, simserver.Faults{
				Mode: class, LatencyMS: 2, LatencySpreadMS: 10, LateMS: 500, Rules: everyFault(times, 0.05),
			}, hooks{})
			set := settings{class: class, lease: shortLease, timeout: shortTimeout}
			if class == simserver.Blind {
				// A call that takes long for no other reason than a busy machine would be in doubt too.
				set.lease, set.timeout = 12*time.Second, 5*time.Second
			}
			s := newStack(t, carrier, set)
			s.startAll()
			orders := 300
			require.NoError(t, s.submitAll(1, orders+1))
			// Chance decides when a fault happens, not whether: orders are sent until all have.
			for s.awaitSettled(); len(s.faultsLeft()) > 0; s.awaitSettled() {
				require.NoError(t, s.submitAll(orders+1, orders+51))
				orders += 50
			}
			if class == simserver.Blind {
				// The last late charge may be still to come. Nine of the kinds charge for what stays
				// in doubt; three of those that stay in doubt do not, and one is refused.
				eventually(t, startTimeout, "all charges are made", func() bool {
					return len(carrier.charges()) >= orders-4*times
				})
			}
			got := requireTruth(s)

			require.Equal(t, orders, got.purchased+got.rejected+got.inDoubt, "nothing was given up")
			charges := len(carrier.charges())
			if class == simserver.Blind {
				require.Equal(t, ended{purchased: orders - 13*times, rejected: times, inDoubt: 12 * times}, got)
				require.Equal(t, orders-4*times, charges)
				return
			}
			// What was charged above the limit is left to a person, and nothing else is: whatever else
			// is unknown is found out.
			require.LessOrEqual(t, got.inDoubt, times)
			require.LessOrEqual(t, got.rejected, times)
			require.Equal(t, got.purchased+got.inDoubt, charges)
		})
	}
}

// faultsLeft asks the carrier which of its rules are not spent.
func (s *stack) faultsLeft() []simserver.Rule {
	s.t.Helper()
	a, err := s.do(s.t.Context(), http.MethodGet, s.carrier.url+"/_sim/faults", "")
	require.NoError(s.t, err)
	var faults simserver.Faults
	require.NoError(s.t, json.Unmarshal(a.body, &faults))
	return faults.Rules
}
