package easypost_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/easypost"
	"waybill/carrier/sim/simbench"
	"waybill/carrier/sim/simserver"
)

const secret = "EZTK-test"

func TestConformance(t *testing.T) {
	t.Parallel()
	carriertest.Run(t, newBench)
}

func newBench(t *testing.T) carriertest.Bench {
	t.Helper()
	return simbench.New(t, simbench.Config{Mode: simserver.Lookup, Secret: secret, Now: time.Now}, shipment(), func(baseURL string) carrier.Carrier {
		return newAdapter(t, baseURL)
	})
}

func newAdapter(t *testing.T, baseURL string) *easypost.Adapter {
	t.Helper()
	a, err := easypost.New(easypost.Config{
		Name:         "easypost",
		BaseURL:      baseURL + "/easypost/v2",
		Account:      "SIM-1",
		Currency:     "USD",
		Capabilities: carrier.Capabilities{Lookup: &carrier.Lookup{Processing: time.Minute}, Void: true},
		Secret:       secret,
		Carrier:      "USPS",
	})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func shipment() carrier.Shipment { return simbench.Shipment("GroundAdvantage") }
