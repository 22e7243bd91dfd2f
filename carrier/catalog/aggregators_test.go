package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

const aggregators = `
default_carrier: easypost
carriers:
  - name: easypost
    kind: easypost
    base_url: https://api.easypost.com/v2
    account: E-1
    currency: USD
    class: lookup
    lookup_processing: 2m
    secret_env: KEY
    options: {carrier: USPS, carrier_account: ca_1, services: [GroundAdvantage], document_hosts: [files.example.com]}
  - name: shipengine
    kind: shipengine
    base_url: https://api.shipengine.com/v1
    account: S-1
    currency: USD
    class: lookup
    lookup_processing: 130s
    secret_env: KEY
    options: {carrier_id: se-1, services: [usps_ground_advantage]}
`

func key(string) string { return "hunter2" }

// TestExampleOfAggregators keeps their blocks of the example true.
func TestExampleOfAggregators(t *testing.T) {
	t.Parallel()
	c, err := Load(write(t, example(t)), key)
	require.NoError(t, err)
	for name, want := range map[string]time.Duration{"easypost": 2 * time.Minute, "shipengine": 130 * time.Second} {
		built, ok := c.Carrier(name)
		require.True(t, ok, name)
		require.Equal(t, carrier.Capabilities{Lookup: &carrier.Lookup{Lag: 10 * time.Second, Processing: want}, Void: true}, built.Capabilities())
		require.Greater(t, c.Settings(name).Lease, 2*c.Settings(name).Timeout, "the lease covers both steps")
	}
}

func TestLoadAggregators(t *testing.T) {
	t.Parallel()
	c, err := Load(write(t, aggregators), key)
	require.NoError(t, err)
	for name, want := range map[string]time.Duration{"easypost": 2 * time.Minute, "shipengine": 130 * time.Second} {
		built, ok := c.Carrier(name)
		require.True(t, ok)
		require.Equal(t, carrier.Capabilities{Lookup: &carrier.Lookup{Processing: want}, Void: true}, built.Capabilities())
		require.Implements(t, (*carrier.Preparer)(nil), built)
		require.Implements(t, (*carrier.Documents)(nil), built)
		require.Implements(t, (*carrier.Prober)(nil), built)
	}
	for name, service := range map[string]string{"easypost": "Express", "shipengine": "usps_priority_mail"} {
		built, _ := c.Carrier(name)
		require.Equal(t, "/service", built.Check(carrier.Shipment{Service: service})[0].Pointer)
	}
}

// TestLoadRefusesWhatAnAggregatorCannotHonour: too strong a class buys labels twice.
func TestLoadRefusesWhatAnAggregatorCannotHonour(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, with, want string }{
		"EasyPostKeyed":         {"class: lookup\n    lookup_processing: 2m", "class: keyed", "EasyPost honours no key"},
		"ShipEngineKeyed":       {"class: lookup\n    lookup_processing: 130s", "class: keyed", "ShipEngine honours no key"},
		"NoCarrier":             {"carrier: USPS, ", "", "carrier is needed"},
		"NoCarrierID":           {"carrier_id: se-1, ", "", "carrier_id is needed"},
		"OptionOfAnother":       {"carrier: USPS, ", "carrier: USPS, carrier_id: se-1, ", `unknown field "carrier_id"`},
		"ServiceOfAnother":      {"[usps_ground_advantage]", "[GroundAdvantage]", "GroundAdvantage"},
		"EasyPostWithoutKey":    {"account: E-1\n    currency: USD\n    class: lookup\n    lookup_processing: 2m\n    secret_env: KEY", "account: E-1\n    currency: USD\n    class: lookup\n    lookup_processing: 2m", "API key"},
		"ShipEngineIsNoAddress": {"https://api.shipengine.com/v1", "api.shipengine.com", "http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, aggregators, tt.old)
			_, err := Load(write(t, strings.Replace(aggregators, tt.old, tt.with, 1)), key)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}
