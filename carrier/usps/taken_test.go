package usps_test

import (
	"testing"

	"waybill/carrier/carriertest"
	"waybill/carrier/sim/simserver"
)

func TestWhatPassesCheckIsTaken(t *testing.T) {
	t.Parallel()
	edges := carriertest.Edges{
		Services: []string{"USPS_GROUND_ADVANTAGE", "PRIORITY_MAIL", "PRIORITY_MAIL_EXPRESS"},
		WeightG:  31_751,
		SideMM:   1500,
		Lines:    []int{28, 48, 50},
	}
	carriertest.Takes(t, newBench(t, simserver.Keyed, classes[simserver.Keyed]), edges.Draw, nil)
}
