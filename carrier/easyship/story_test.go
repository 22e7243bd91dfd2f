package easyship_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/sim/simserver"
)

func order(key string) carrier.Purchase {
	return carrier.Purchase{CarrierKey: key, Reference: "STORY1", Shipment: shipment()}
}

// TestFailureStaysWithItsKey: the key that met a failure gets it again, though nothing is wrong any more;
// the look-up tells what the failure hid, and only where that is nothing may another key buy.
func TestFailureStaysWithItsKey(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault carriertest.Fault
		want  carrier.Outcome
		found int
	}{
		"Refused":              {carriertest.Refuse, carrier.Rejected, 0},
		"ErrorBeforeTheCharge": {carriertest.ErrorBeforeCharge, carrier.Unknown, 0},
		"ErrorAfterTheCharge":  {carriertest.ErrorAfterCharge, carrier.Unknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, simserver.Keyed, classes[simserver.Keyed])
			b.Fail(tt.fault)
			for range 2 {
				r := b.Carrier.Buy(t.Context(), order("carrier:c:1"))
				require.Equal(t, tt.want, r.Outcome)
				require.True(t, r.Answered)
			}
			found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: "STORY1"})
			require.NoError(t, err)
			require.Len(t, found, tt.found)
			if tt.found == 0 {
				require.Equal(t, carrier.Bought, b.Carrier.Buy(t.Context(), order("carrier::2:c:1")).Outcome)
			}
			require.Len(t, b.Charges("STORY1"), 1)
		})
	}
}

// TestAnotherBodyUnderTheKey: Easyship does not compare bodies, so the adapter compares the answer.
func TestAnotherBodyUnderTheKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, simserver.Keyed, classes[simserver.Keyed])
	p := order("carrier:c:1")
	require.Equal(t, carrier.Bought, b.Carrier.Buy(t.Context(), p).Outcome)
	p.Shipment.WeightG += 100
	r := b.Carrier.Buy(t.Context(), p)
	require.Equal(t, carrier.Unknown, r.Outcome)
	require.Equal(t, "wrong_weight", r.Code)
	p.Shipment.WeightG -= 100
	p.Reference = "STORY2"
	r = b.Carrier.Buy(t.Context(), p)
	require.Equal(t, carrier.Unknown, r.Outcome)
	require.Equal(t, "wrong_reference", r.Code)
	require.Empty(t, b.Charges("STORY2"))
}
