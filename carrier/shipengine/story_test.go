package shipengine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/shipengine"
)

func order() carrier.Purchase {
	return carrier.Purchase{CarrierKey: "carrier:fulfilment:k", Reference: "STORY1", Shipment: shipment()}
}

// TestLostFirstStepIsRecovered: whoever prepares again gets the shipment that is there already.
func TestLostFirstStepIsRecovered(t *testing.T) {
	t.Parallel()
	a := newBench(t).Carrier.(*shipengine.Adapter)
	first := a.Prepare(t.Context(), order())
	require.NotEmpty(t, first.RemoteID)
	require.Equal(t, first, a.Prepare(t.Context(), order()))
}

// TestReferenceOfAnotherOrder: what bears our reference and is not what was ordered is not bought.
func TestReferenceOfAnotherOrder(t *testing.T) {
	t.Parallel()
	a := newBench(t).Carrier.(*shipengine.Adapter)
	require.NotEmpty(t, a.Prepare(t.Context(), order()).RemoteID)
	for name, change := range map[string]func(*carrier.Shipment){
		"Service": func(s *carrier.Shipment) { s.Service = "usps_priority_mail" },
		"Weight":  func(s *carrier.Shipment) { s.WeightG += 100 },
		"Address": func(s *carrier.Shipment) { s.ShipTo.PostalCode = "97205" },
	} {
		other := order()
		change(&other.Shipment)
		made := a.Prepare(t.Context(), other)
		require.Empty(t, made.RemoteID, name)
		require.Equal(t, carrier.Rejected, made.Refusal.Outcome, name)
		require.Equal(t, "reference_taken", made.Refusal.Code, name)
	}
}

// TestSoldReferenceIsNotSoldAgain: whoever has lost the id of what was bought must not buy again.
func TestSoldReferenceIsNotSoldAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := order()
	a := b.Carrier.(*shipengine.Adapter)
	p.RemoteID = a.Prepare(t.Context(), p).RemoteID
	require.Equal(t, carrier.Bought, a.Buy(t.Context(), p).Outcome)

	made := a.Prepare(t.Context(), order())
	require.Equal(t, carrier.Preparation{RemoteID: p.RemoteID, Sold: true}, made)
	require.Len(t, b.Charges(p.Reference), 1)
}
