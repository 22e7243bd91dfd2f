package carriertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// prepares: the first of two steps costs nothing, however often it is taken, and shows in no look-up.
func prepares(t *testing.T, b Bench) {
	_, ok := b.Carrier.(carrier.Preparer)
	if !ok {
		return // it buys in one step
	}
	p := b.purchase("1")
	first, second := b.prepared(t, p), b.prepared(t, p)
	require.Empty(t, b.Charges(p.Reference))
	if b.Carrier.Capabilities().Lookup != nil {
		for _, q := range []carrier.Query{
			{Reference: p.Reference}, {Reference: p.Reference, RemoteID: first.RemoteID}, {Reference: p.Reference, RemoteID: second.RemoteID},
		} {
			found, err := b.Carrier.Find(t.Context(), q)
			require.NoError(t, err)
			require.Empty(t, found)
		}
	}
	made := b.Unreachable.(carrier.Preparer).Prepare(t.Context(), p)
	require.Empty(t, made.RemoteID)
	require.Equal(t, carrier.NotBought, made.Refusal.Outcome)
	require.NotEmpty(t, made.Refusal.Code)

	gone := p
	gone.RemoteID = first.RemoteID + "x"
	require.NotEqual(t, carrier.Bought, b.Carrier.Buy(t.Context(), gone).Outcome, "nothing of this id was prepared")
	require.Empty(t, b.Charges(p.Reference))
}

// fetchesDocument: what was sold without a document has one later, the same each time.
func fetchesDocument(t *testing.T, b Bench) {
	documents, ok := b.Carrier.(carrier.Documents)
	if !ok {
		return // it comes with the answer, or not at all
	}
	p := b.purchase("1")
	r := b.buy(t.Context(), p)
	requireBought(t, r)
	request := carrier.DocumentRequest{
		LabelID: r.Label.ID, TrackingNo: r.Label.TrackingNo, CarrierKey: p.CarrierKey, Format: p.Shipment.Format,
	}
	for range 2 {
		d, err := documents.Document(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, p.Shipment.Format, d.Format)
		require.NotEmpty(t, d.Content)
	}
	require.Len(t, b.Charges(p.Reference), 1)
	request.LabelID, request.TrackingNo, request.CarrierKey = "nosuchlabel", "nosuchlabel", "carrier:nobody:nothing"
	_, err := documents.Document(t.Context(), request)
	require.Error(t, err)
	_, err = b.Unreachable.(carrier.Documents).Document(t.Context(), request)
	require.Error(t, err)
}

// probes: whether the carrier is there and knows us can be asked at no cost.
func probes(t *testing.T, b Bench) {
	require.NoError(t, b.Carrier.(carrier.Prober).Probe(t.Context()))
	require.Error(t, b.Unreachable.(carrier.Prober).Probe(t.Context()))
}
