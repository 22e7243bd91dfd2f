package shipengine_test

import (
	"testing"

	"waybill/carrier/carriertest"
)

// TestWhatPassesCheckIsTaken, and found again as what was ordered.
func TestWhatPassesCheckIsTaken(t *testing.T) {
	t.Parallel()
	edges := carriertest.Edges{
		Services: []string{"usps_ground_advantage"},
		WeightG:  31_751, // of the carrier behind it
		SideMM:   900,
		Lines:    []int{33, 35},
	}
	carriertest.TakesAndFinds(t, newBench(t), edges.Draw)
}
