package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/sim"
	"waybill/carrier/sim/simbench"
	"waybill/carrier/sim/simserver"
)

// classes are what each mode of the carrier lets an adapter be told.
var classes = map[simserver.Mode]carrier.Capabilities{
	simserver.Keyed: {
		Key:    &carrier.Key{},
		Lookup: &carrier.Lookup{Processing: time.Minute},
		Void:   true,
	},
	simserver.Lookup: {Lookup: &carrier.Lookup{Processing: time.Minute}, Void: true},
	simserver.Blind:  {},
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for mode, capabilities := range classes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			carriertest.Run(t, func(t *testing.T) carriertest.Bench {
				t.Helper()
				return newBench(t, mode, capabilities)
			})
		})
	}
}

const secret = "sim-secret"

func newBench(t *testing.T, mode simserver.Mode, capabilities carrier.Capabilities) carriertest.Bench {
	t.Helper()
	return simbench.New(t, simbench.Config{Mode: mode, Secret: secret, Now: time.Now}, shipment(), func(baseURL string) carrier.Carrier {
		return newAdapter(t, baseURL, capabilities)
	})
}

func newAdapter(t *testing.T, baseURL string, capabilities carrier.Capabilities) *sim.Adapter {
	t.Helper()
	a, err := sim.New(sim.Config{
		Name:         "sim",
		BaseURL:      baseURL,
		Account:      "SIM-1",
		Currency:     "USD",
		Capabilities: capabilities,
		Secret:       secret,
	})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func shipment() carrier.Shipment { return simbench.Shipment("ground") }
