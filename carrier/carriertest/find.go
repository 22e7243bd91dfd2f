package carriertest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func findsAll(t *testing.T, b Bench) {
	first, second := b.purchase("1"), b.purchase("2")
	second.Reference = first.Reference
	if b.Carrier.Capabilities().Lookup == nil {
		_, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: first.Reference})
		require.ErrorIs(t, err, carrier.ErrNoLookup)
		return
	}
	none, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: first.Reference})
	require.NoError(t, err)
	require.Empty(t, none)

	if b.Unique {
		first = b.prepared(t, first)
		second.RemoteID = first.RemoteID
	}
	one, two := b.buy(t.Context(), first), b.buy(t.Context(), second)
	requireBought(t, one)
	requireBought(t, two)

	found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: first.Reference})
	require.NoError(t, err)
	require.Len(t, found, 2)
	for i, want := range []carrier.Result{one, two} {
		requireSameLabel(t, *want.Label, found[i])
	}
	if b.Unique {
		third := b.purchase("3")
		third.Reference = first.Reference
		made := b.Carrier.(carrier.Preparer).Prepare(t.Context(), third)
		require.True(t, made.Sold)
		require.Equal(t, first.RemoteID, made.RemoteID)
		require.Len(t, b.Charges(first.Reference), 2)
	}
}

func findsLost(t *testing.T, b Bench) {
	if b.Carrier.Capabilities().Lookup == nil {
		return // nothing can be found
	}
	p := b.prepared(t, b.purchase("1"))
	b.Fail(HangAfterCharge)
	require.Equal(t, carrier.Unknown, b.buyUntilItHangs(t, p).Outcome)

	found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference, RemoteID: p.RemoteID})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, []Charge{{found[0].TrackingNo, found[0].Cost}}, b.Charges(p.Reference))
	require.Equal(t, p.Shipment.Service, found[0].Service)
	if found[0].WeightG != 0 {
		require.InDelta(t, p.Shipment.WeightG, found[0].WeightG, float64(found[0].WeightStepG))
	}
	if found[0].ShipTo != nil {
		require.Equal(t, p.Shipment.ShipTo, *found[0].ShipTo)
	}
}

// requireSameLabel compares what a look-up and a purchase both tell.
func requireSameLabel(t *testing.T, bought, found carrier.Label) {
	t.Helper()
	require.Equal(t, bought.ID, found.ID)
	require.Equal(t, bought.TrackingNo, found.TrackingNo)
	require.Equal(t, bought.Reference, found.Reference)
	require.Equal(t, bought.Cost, found.Cost)
	require.False(t, found.Voided)
}

func endedLookup(t *testing.T, b Bench) {
	if b.Carrier.Capabilities().Lookup == nil {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Carrier.Find(ctx, carrier.Query{Reference: b.purchase("1").Reference})
	require.ErrorIs(t, err, context.Canceled)
	_, err = b.Unreachable.Find(t.Context(), carrier.Query{Reference: b.purchase("1").Reference})
	require.Error(t, err)
}

func voids(t *testing.T, b Bench) {
	r := b.buy(t.Context(), b.purchase("1"))
	requireBought(t, r)
	if !b.Carrier.Capabilities().Void {
		require.Equal(t, carrier.VoidRefused, b.Carrier.Void(t.Context(), r.Label.ID).State)
		return
	}
	for range 2 {
		v := b.Carrier.Void(t.Context(), r.Label.ID)
		require.Equal(t, carrier.Voided, v.State, "%s: %s", v.Code, v.Message)
	}
	require.Equal(t, carrier.VoidUnknown, b.Unreachable.Void(t.Context(), r.Label.ID).State)
	if b.Carrier.Capabilities().Lookup == nil {
		return
	}
	found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: r.Label.Reference})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.True(t, found[0].Voided)
}

func voidsNothing(t *testing.T, b Bench) {
	for _, id := range []string{"nosuchlabel", "", "..", "a/b"} {
		require.Equal(t, carrier.VoidRefused, b.Carrier.Void(t.Context(), id).State, "id %q", id)
	}
}
