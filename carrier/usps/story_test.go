package usps_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/sim/simserver"
	"waybill/carrier/usps"
)

// TestReprints: three at most, and none of a cancelled label. The bench's carrier has both spellings of a
// reprint, by key and by tracking number.
func TestReprints(t *testing.T) {
	t.Parallel()
	for mode, capabilities := range classes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, mode, capabilities)
			adapter := b.Carrier.(*usps.Adapter)
			buy := func(n string) carrier.DocumentRequest {
				p := carrier.Purchase{CarrierKey: "carrier:c:" + n, Reference: "STORY" + n, Shipment: shipment()}
				p.RemoteID = adapter.Prepare(t.Context(), p).RemoteID
				r := adapter.Buy(t.Context(), p)
				require.Equal(t, carrier.Bought, r.Outcome)
				require.NotEmpty(t, r.Label.Document.Content, "it comes with the answer")
				return carrier.DocumentRequest{
					LabelID: r.Label.ID, TrackingNo: r.Label.TrackingNo, CarrierKey: p.CarrierKey, Format: carrier.ZPL,
				}
			}
			first := buy("1")
			for range 3 {
				d, err := adapter.Document(t.Context(), first)
				require.NoError(t, err)
				require.Equal(t, carrier.ZPL, d.Format)
			}
			_, err := adapter.Document(t.Context(), first)
			require.ErrorContains(t, err, "status 400")

			second := buy("2")
			require.Equal(t, carrier.Voided, adapter.Void(t.Context(), second.LabelID).State)
			_, err = adapter.Document(t.Context(), second)
			require.ErrorContains(t, err, "status 400")
		})
	}
}

// TestAnotherBodyUnderTheKey buys nothing, whatever it is answered with.
func TestAnotherBodyUnderTheKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, simserver.Keyed, classes[simserver.Keyed])
	adapter := b.Carrier.(*usps.Adapter)
	p := carrier.Purchase{CarrierKey: "carrier:c:1", Reference: "STORY1", Shipment: shipment()}
	p.RemoteID = adapter.Prepare(t.Context(), p).RemoteID
	require.Equal(t, carrier.Bought, adapter.Buy(t.Context(), p).Outcome)
	p.Reference = "STORY2"
	require.NotEqual(t, carrier.Bought, adapter.Buy(t.Context(), p).Outcome)
	require.Empty(t, b.Charges("STORY2"))
}
