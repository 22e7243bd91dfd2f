package shipengine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/shipengine"
	"waybill/carrier/sim/simbench"
	"waybill/carrier/sim/simserver"
)

const secret = "TEST_secret"

func TestConformance(t *testing.T) {
	t.Parallel()
	carriertest.Run(t, newBench)
}

func newBench(t *testing.T) carriertest.Bench {
	t.Helper()
	b := simbench.New(t, simbench.Config{Mode: simserver.Lookup, Secret: secret, Now: time.Now}, shipment(), func(baseURL string) carrier.Carrier {
		return newAdapter(t, baseURL)
	})
	b.Unique = true
	return b
}

func newAdapter(t *testing.T, baseURL string) *shipengine.Adapter {
	t.Helper()
	a, err := shipengine.New(shipengine.Config{
		Name:         "shipengine",
		BaseURL:      baseURL + "/shipengine/v1",
		Account:      "SIM-1",
		Currency:     "USD",
		Capabilities: carrier.Capabilities{Lookup: &carrier.Lookup{Processing: time.Minute}, Void: true},
		Secret:       secret,
		CarrierID:    "se-123456",
	})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func shipment() carrier.Shipment { return simbench.Shipment("usps_ground_advantage") }
