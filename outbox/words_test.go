package outbox

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// TestForeignWords: whatever a carrier says, on whichever path, can be stored. Otherwise the failure
// path fails, and comes again for ever.
func TestForeignWords(t *testing.T) {
	t.Parallel()
	words := map[string]string{
		"NUL":        "no\x00 such \x00street",
		"NotUTF8":    "no \xff\xfe street \xed\xa0\x80",
		"Escaped":    `no \u0000 street \\u0000`,
		"Long":       strings.Repeat("no such street ", 1<<10),
		"Directions": "no \u202estreet\u0007",
	}
	for name, said := range words {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, byLookup)
			for _, outcome := range []carrier.Outcome{carrier.Rejected, carrier.NotBought, carrier.Unknown, carrier.Outcome(said)} {
				b.carrier.will(reply{answer: carrier.Result{
					Outcome: outcome, Code: said, Message: said,
					Label: &carrier.Label{ID: said, TrackingNo: said, Cost: carrier.Money{Currency: said}},
				}})
				s, id := b.accepted()
				_ = b.work(id)
				require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls
					WHERE intent_id = $1 AND carrier_code <> '' AND length(carrier_message) BETWEEN 1 AND 300`, id))
				require.False(t, b.row(id).Leased)
				if outcome == carrier.Rejected {
					a := b.accept(s)
					require.Equal(t, 422, a.Status)
					require.NotContains(t, string(a.Body), `\u0000`+"n")
				}
			}
			// A look-up that fails with such words, too.
			_, id := b.accepted()
			b.claimed(id)
			b.expireLease(id)
			b.carrier.findErr = errors.New(said)
			requireSnooze(t, b.work(id))
			require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls WHERE intent_id = $1 AND reason = 'lookup_failed'`, id))
		})
	}
}

// TestEvidenceOfAnUnreadableLabel: its tracking number is kept, and no price that nobody has read.
func TestEvidenceOfAnUnreadableLabel(t *testing.T) {
	t.Parallel()
	b := setup(t, blind)
	b.carrier.will(reply{charge: true, answer: carrier.Result{
		Outcome: carrier.Unknown, Code: "malformed_answer", Label: &carrier.Label{ID: "T1", TrackingNo: "T1"},
	}})
	_, id := b.accepted()
	require.NoError(t, b.work(id))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls
		WHERE intent_id = $1 AND tracking_no = 'T1' AND cost_cents IS NULL AND currency IS NULL`, id))
}

// TestKeyThatNamesAnotherOrder: the carrier says that it knows our key with other contents. That is a
// fault of ours, which no repeat can cure, and never a success.
func TestKeyThatNamesAnotherOrder(t *testing.T) {
	t.Parallel()
	mismatch := carrier.Result{Outcome: carrier.Unknown, Code: carrier.CodeKeyMismatch}

	t.Run("WaitsForAPersonAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.carrier.will(reply{charge: true, answer: unknown}, reply{answer: mismatch})
		s, id := b.accepted()
		b.workUntilSettled(id)
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		require.Equal(t, 2, b.carrier.callCount())
		require.Equal(t, Doubtful, b.accept(s).Kind)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls WHERE reason = 'key_names_another_order'`))
	})

	t.Run("IsLookedUpWhereThatCanBe", func(t *testing.T) {
		t.Parallel()
		b := setup(t, both)
		b.carrier.will(reply{charge: true, answer: unknown}, reply{answer: mismatch})
		_, id := b.accepted()
		b.workUntilSettled(id)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 2, b.carrier.callCount())
		require.Equal(t, 1, b.carrier.charges())
	})
}

// TestStoredFailure: a carrier that answers a key with the failure it stored under it does so for every
// repeat. That ends, without a second purchase, with a person.
func TestStoredFailure(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed, func(c *Config) { c.Policy.MaxCalls = 5 })
	for range 10 {
		b.carrier.will(reply{answer: carrier.Result{Outcome: carrier.Unknown, Code: "http_500"}})
	}
	s, id := b.accepted()
	b.workUntilSettled(id)
	require.Equal(t, row{
		State: InDoubt, SettledBy: SettledByPerson, Attempts: 5, Calls: 5, OpenCalls: 5, KeyState: "started", Jobs: 1,
	}, b.row(id))
	require.NoError(t, b.box.Settle(t.Context(), Settlement{
		IntentID: id, Verdict: VerdictGiveUp, Actor: "ops", Why: "the carrier's list has nothing under the reference",
	}))
	// The parcel's next version has a key of its own, and so another one at the carrier.
	b.carrier.script = nil
	next := submission()
	next.Parcel = s.Parcel
	next.Parcel.LabelVersion++
	require.NoError(t, b.work(b.accept(next).IntentID))
	require.Equal(t, 1, b.carrier.charges())
	require.NotEqual(t, b.carrier.calls[0].CarrierKey, b.carrier.calls[5].CarrierKey)
}

// TestTwoLabelsUnderOneReference: a look-up that finds a double purchase adopts one and hides neither.
func TestTwoLabelsUnderOneReference(t *testing.T) {
	t.Parallel()
	b := setup(t, byLookup)
	b.carrier.will(reply{charge: true, answer: unknown})
	s, id := b.accepted()
	requireSnooze(t, b.work(id))
	b.carrier.mu.Lock()
	second := b.carrier.sold[reference(s.Parcel)][0]
	second.ID, second.TrackingNo = "L-again", "GRD-again"
	b.carrier.sold[second.Reference] = append(b.carrier.sold[second.Reference], second)
	b.carrier.mu.Unlock()
	require.NoError(t, b.work(id))
	require.Equal(t, Purchased, b.row(id).State)
	require.Equal(t, 2, b.count(`SELECT count(*) FROM carrier_calls WHERE intent_id = $1 AND reason = 'lookup_found_several'`, id))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls WHERE carrier_label_id = 'L-again' AND tracking_no = 'GRD-again'`))
}
