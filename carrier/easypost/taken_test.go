package easypost_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/carrier/carriertest"
)

// TestWhatPassesCheckIsTaken, and found again as what was ordered.
func TestWhatPassesCheckIsTaken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	edges := carriertest.Edges{
		Services: []string{"GroundAdvantage", "Priority", "Express"},
		WeightG:  31_751, // of the carrier behind it
		SideMM:   900,
		Lines:    []int{33, 35},
	}
	carriertest.Takes(t, b, edges.Draw, func(rt *rapid.T, p carrier.Purchase) {
		found, err := b.Carrier.Find(t.Context(), carrier.Query{Reference: p.Reference})
		require.NoError(rt, err)
		require.Len(rt, found, 1)
		require.Equal(rt, p.Shipment.Service, found[0].Service)
		off := found[0].WeightG - p.Shipment.WeightG
		require.GreaterOrEqual(rt, off, int64(0))
		require.LessOrEqual(rt, off, found[0].WeightStepG)
	})
}
