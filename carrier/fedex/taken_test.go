package fedex_test

import (
	"testing"

	"waybill/carrier/carriertest"
)

func TestWhatPassesCheckIsTaken(t *testing.T) {
	t.Parallel()
	edges := carriertest.Edges{
		Services: []string{
			"FEDEX_GROUND", "GROUND_HOME_DELIVERY", "FEDEX_2_DAY", "FEDEX_EXPRESS_SAVER", "STANDARD_OVERNIGHT", "PRIORITY_OVERNIGHT",
		},
		WeightG: 68_038,
		SideMM:  900,
		Lines:   []int{33, 35, 68, 70},
	}
	carriertest.Takes(t, newBench(t), edges.Draw, nil)
}
