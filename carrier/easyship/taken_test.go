package easyship_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/sim/simserver"
)

// TestWhatPassesCheckIsTaken: and a look-up then tells what was bought.
func TestWhatPassesCheckIsTaken(t *testing.T) {
	t.Parallel()
	edges := carriertest.Edges{
		Services: []string{"ground"},
		WeightG:  70_000,
		SideMM:   900,
		Lines:    []int{20, 22, 33, 35},
	}
	b := newBench(t, simserver.Keyed, classes[simserver.Keyed])
	carriertest.Takes(t, b, edges.Draw, func(rt *rapid.T, p carrier.Purchase) {
		found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference})
		require.NoError(rt, err)
		require.Len(rt, found, 1)
		require.Equal(rt, strings.TrimSpace(p.Shipment.ShipTo.PostalCode), found[0].ShipTo.PostalCode)
		require.Equal(rt, p.Shipment.WeightG, found[0].WeightG)
	})
}
