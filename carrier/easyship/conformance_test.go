package easyship_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/easyship"
	"waybill/carrier/sim/simbench"
	"waybill/carrier/sim/simserver"
)

// classes are what each mode of the carrier lets an adapter be told.
var classes = map[simserver.Mode]carrier.Capabilities{
	simserver.Keyed: {
		Key:    &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour},
		Lookup: &carrier.Lookup{Processing: time.Minute},
	},
	simserver.Lookup: {Lookup: &carrier.Lookup{Processing: time.Minute}},
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

const secret = "easyship-token"

func newBench(t *testing.T, mode simserver.Mode, capabilities carrier.Capabilities) carriertest.Bench {
	t.Helper()
	return simbench.New(t, simbench.Config{
		Mode: mode, Secret: secret, Now: time.Now,
		Purchase: simbench.PostTo("/easyship/2023-01/shipments"),
	}, shipment(), func(baseURL string) carrier.Carrier {
		return newAdapter(t, baseURL, capabilities)
	})
}

func newAdapter(t *testing.T, baseURL string, capabilities carrier.Capabilities) *easyship.Adapter {
	t.Helper()
	a, err := easyship.New(easyship.Config{
		Name:         "easyship",
		BaseURL:      baseURL + "/easyship/2023-01",
		Account:      "SIM-1",
		Currency:     "USD",
		Capabilities: capabilities,
		Secret:       secret,
		Services:     map[string]string{"ground": "c3e97b11-2842-44f1-84d1-afaa6b3f0a7c"},
	})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func shipment() carrier.Shipment { return simbench.Shipment("ground") }
