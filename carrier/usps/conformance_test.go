package usps_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/sim/simbench"
	"waybill/carrier/sim/simserver"
	"waybill/carrier/usps"
)

// classes are what each mode of the carrier lets an adapter be told.
var classes = map[simserver.Mode]carrier.Capabilities{
	simserver.Keyed: {Key: &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour}},
	simserver.Blind: {},
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

const secret = "usps-secret"

func newBench(t *testing.T, mode simserver.Mode, capabilities carrier.Capabilities) carriertest.Bench {
	t.Helper()
	b := simbench.New(t, simbench.Config{
		Mode: mode, Secret: secret, Now: time.Now,
		Purchase: simbench.PostTo("/usps/labels/v3/label"), // tokens are fetched on the way to it
	}, shipment(), func(baseURL string) carrier.Carrier {
		return newAdapter(t, baseURL, capabilities)
	})
	b.Unsaid = []carriertest.Fault{carriertest.WrongReference} // no reference is echoed
	b.KeyHeader = "X-Idempotency-Key"
	return b
}

func newAdapter(t *testing.T, baseURL string, capabilities carrier.Capabilities) *usps.Adapter {
	t.Helper()
	a, err := usps.New(usps.Config{
		Name:         "usps",
		BaseURL:      baseURL + "/usps",
		Account:      "1000405525",
		Currency:     "USD",
		Capabilities: capabilities,
		HonoursKey:   true,
		ClientID:     "waybill",
		ClientSecret: secret,
		CRID:         "12345678",
		MID:          "123456789",
		ManifestMID:  "987654321",
		Now:          time.Now,
	})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func shipment() carrier.Shipment { return simbench.Shipment("USPS_GROUND_ADVANTAGE") }
