package easypost_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/easypost"
)

func order() carrier.Purchase {
	return carrier.Purchase{CarrierKey: "carrier:fulfilment:k", Reference: "STORY1", Shipment: shipment()}
}

// TestRateAboveTheLimitBuysNothing: the price is known before anything is bought.
func TestRateAboveTheLimitBuysNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := order()
	p.Shipment.MaxCostCents = new(int64(1))
	made := b.Carrier.(*easypost.Adapter).Prepare(t.Context(), p)
	require.Empty(t, made.RemoteID)
	require.Equal(t, carrier.Rejected, made.Refusal.Outcome)
	require.Equal(t, "rate_over_limit", made.Refusal.Code)
	require.Empty(t, b.Charges(p.Reference))
}

func TestServiceThatTheCarrierDoesNotOffer(t *testing.T) {
	t.Parallel()
	p := order()
	p.Shipment.Service = "Pigeon"
	made := newBench(t).Carrier.(*easypost.Adapter).Prepare(t.Context(), p)
	require.Equal(t, carrier.Rejected, made.Refusal.Outcome)
	require.Equal(t, "rate_unavailable", made.Refusal.Code)
}

// TestSoldShipmentIsLookedAt: one shipment is sold once, and whoever tries again is told to look.
func TestSoldShipmentIsLookedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := order()
	p.RemoteID = b.Carrier.(*easypost.Adapter).Prepare(t.Context(), p).RemoteID
	first := b.Carrier.Buy(t.Context(), p)
	require.Equal(t, carrier.Bought, first.Outcome)

	second := b.Carrier.Buy(t.Context(), p)
	require.Equal(t, carrier.Unknown, second.Outcome)
	require.Equal(t, "SHIPMENT.POSTAGE.EXISTS", second.Code)
	require.Len(t, b.Charges(p.Reference), 1)

	found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference, RemoteID: p.RemoteID})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, first.Label.TrackingNo, found[0].TrackingNo)
}

// TestAnotherShipmentOfTheReferenceIsFound: what was made for an intent may be made anew, so an unsold
// shipment does not hide the sold one before it.
func TestAnotherShipmentOfTheReferenceIsFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := order()
	adapter := b.Carrier.(*easypost.Adapter)
	unsold := adapter.Prepare(t.Context(), p).RemoteID
	p.RemoteID = adapter.Prepare(t.Context(), p).RemoteID
	require.NotEqual(t, unsold, p.RemoteID)
	require.Equal(t, carrier.Bought, b.Carrier.Buy(t.Context(), p).Outcome)

	found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference})
	require.NoError(t, err)
	require.Len(t, found, 1, "the list of what was bought does not depend on which one is shown by reference")

	found, err = b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference, RemoteID: unsold})
	require.NoError(t, err)
	require.Len(t, found, 1, "the id that is known may be one from before a backup was restored")
}
