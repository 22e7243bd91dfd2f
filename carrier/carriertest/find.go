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
		_, err := b.Carrier.Find(t.Context(), first.Reference)
		require.ErrorIs(t, err, carrier.ErrNoLookup)
		return
	}
	none, err := b.Carrier.Find(t.Context(), first.Reference)
	require.NoError(t, err)
	require.Empty(t, none)

	one, two := b.Carrier.Buy(t.Context(), first), b.Carrier.Buy(t.Context(), second)
	requireBought(t, one)
	requireBought(t, two)

	found, err := b.Carrier.Find(t.Context(), first.Reference)
	require.NoError(t, err)
	require.Len(t, found, 2)
	for i, want := range []carrier.Result{one, two} {
		requireSameLabel(t, *want.Label, found[i])
	}
}

func findsLost(t *testing.T, b Bench) {
	if b.Carrier.Capabilities().Lookup == nil {
		return // nothing can be found
	}
	p := b.purchase("1")
	b.Fail(HangAfterCharge)
	require.Equal(t, carrier.Unknown, b.buyUntilItHangs(t, p).Outcome)

	found, err := b.Carrier.Find(t.Context(), p.Reference)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, []Charge{{found[0].TrackingNo, found[0].Cost}}, b.Charges(p.Reference))
	require.Equal(t, p.Shipment.Service, found[0].Service)
	require.Equal(t, p.Shipment.WeightG, found[0].WeightG)
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
	_, err := b.Carrier.Find(ctx, b.purchase("1").Reference)
	require.ErrorIs(t, err, context.Canceled)
	_, err = b.Unreachable.Find(t.Context(), b.purchase("1").Reference)
	require.Error(t, err)
}

func voids(t *testing.T, b Bench) {
	r := b.Carrier.Buy(t.Context(), b.purchase("1"))
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
	found, err := b.Carrier.Find(t.Context(), r.Label.Reference)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.True(t, found[0].Voided)
}

func voidsNothing(t *testing.T, b Bench) {
	for _, id := range []string{"nosuchlabel", "", "..", "a/b"} {
		require.Equal(t, carrier.VoidRefused, b.Carrier.Void(t.Context(), id).State, "id %q", id)
	}
}
