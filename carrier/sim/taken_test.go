package sim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/sim/simserver"
)

// TestWhatPassesCheckIsTaken: and a look-up then tells the same address, which adopting a label depends on.
func TestWhatPassesCheckIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t, simserver.Keyed, classes[simserver.Keyed])
	carriertest.Takes(t, b, drawShipment, func(rt *rapid.T, p carrier.Purchase) {
		found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference})
		require.NoError(rt, err)
		require.Len(rt, found, 1)
		require.Empty(rt, cmp.Diff(p.Shipment.ShipTo, *found[0].ShipTo))
	})
}

// drawShipment draws mostly good shipments, from the edges of what is good.
func drawShipment(t *rapid.T) carrier.Shipment {
	return carrier.Shipment{
		Service:  rapid.SampledFrom([]string{"ground", "express", "overnight"}).Draw(t, "service"),
		WeightG:  rapid.SampledFrom([]int64{1, 999, 1000, 1001, 70_000}).Draw(t, "weight"),
		ShipFrom: drawAddress(t),
		ShipTo:   drawAddress(t),
		Format:   rapid.SampledFrom([]carrier.Format{carrier.PDF, carrier.PNG, carrier.ZPL}).Draw(t, "format"),
	}
}

func drawAddress(t *rapid.T) carrier.Address {
	line := rapid.SampledFrom([]string{
		"x", " 12 Fable Street ", "Zoë & Söhne <\"\\/>", strings.Repeat("ÿ", 35), "  " + strings.Repeat("w", 35), "\u00a0y",
		strings.Repeat("w", 12),
	})
	optional := rapid.OneOf(rapid.Just(""), rapid.Just("  "), line)
	return carrier.Address{
		Name:       line.Draw(t, "name"),
		Company:    optional.Draw(t, "company"),
		Street1:    line.Draw(t, "street1"),
		Street2:    optional.Draw(t, "street2"),
		City:       line.Draw(t, "city"),
		State:      optional.Draw(t, "state"),
		PostalCode: rapid.SampledFrom([]string{"1", "SW1A 1AA", " 123456789012 "}).Draw(t, "postal_code"),
		Country:    rapid.SampledFrom([]string{"US", "GB"}).Draw(t, "country"),
		Phone:      rapid.SampledFrom([]string{"", "+1 555 0100"}).Draw(t, "phone"),
	}
}
