package fedex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/carrier/fedex"
	"waybill/carrier/sim/simbench"
	"waybill/carrier/sim/simserver"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	carriertest.Run(t, newBench)
}

const secret = "fedex-secret"

func newBench(t *testing.T) carriertest.Bench {
	t.Helper()
	return simbench.New(t, simbench.Config{
		Mode: simserver.Blind, Secret: secret, Now: time.Now,
		Purchase: simbench.PostTo("/fedex/ship/v1/shipments"), // tokens are fetched on the way to it
	}, shipment(), func(baseURL string) carrier.Carrier {
		return newAdapter(t, baseURL)
	})
}

func newAdapter(t *testing.T, baseURL string) *fedex.Adapter {
	t.Helper()
	a, err := fedex.New(fedex.Config{
		Name:         "fedex",
		BaseURL:      baseURL + "/fedex",
		Account:      "740561073",
		Currency:     "USD",
		ClientID:     "waybill",
		ClientSecret: secret,
	})
	require.NoError(t, err)
	t.Cleanup(a.Close)
	return a
}

func shipment() carrier.Shipment { return simbench.Shipment("FEDEX_GROUND") }
