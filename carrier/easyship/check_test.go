package easyship

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*carrier.Shipment)
		want   []string // pointers
	}{
		"Good":            {func(*carrier.Shipment) {}, nil},
		"UnknownService":  {func(s *carrier.Shipment) { s.Service = "overnight" }, []string{"/service"}},
		"NoWeight":        {func(s *carrier.Shipment) { s.WeightG = 0 }, []string{"/weight_g"}},
		"NoDimensions":    {func(s *carrier.Shipment) { s.Dimensions = nil }, []string{"/dimensions_mm"}},
		"NoHeight":        {func(s *carrier.Shipment) { s.Dimensions.Height = 0 }, []string{"/dimensions_mm/height"}},
		"Format":          {func(s *carrier.Shipment) { s.Format = "gif" }, []string{"/label_format"}},
		"LongestName":     {func(s *carrier.Shipment) { s.ShipTo.Name = " " + strings.Repeat("é", 22) + " " }, nil},
		"NameTooLong":     {func(s *carrier.Shipment) { s.ShipTo.Name = strings.Repeat("x", 23) }, []string{"/ship_to/name"}},
		"CompanyTooLong":  {func(s *carrier.Shipment) { s.ShipTo.Company = strings.Repeat("x", 23) }, []string{"/ship_to/company"}},
		"LineTooLong":     {func(s *carrier.Shipment) { s.ShipTo.Street1 = strings.Repeat("x", 36) }, []string{"/ship_to/street1"}},
		"OtherScript":     {func(s *carrier.Shipment) { s.ShipTo.City = "서울" }, []string{"/ship_to/city"}},
		"PostcodeTooLong": {func(s *carrier.Shipment) { s.ShipTo.PostalCode = strings.Repeat("1", 21) }, []string{"/ship_to/postal_code"}},
		"NoPhone":         {func(s *carrier.Shipment) { s.ShipTo.Phone = "" }, []string{"/ship_to/phone"}},
		"NoEmail":         {func(s *carrier.Shipment) { s.ShipFrom.Email = "" }, []string{"/ship_from/email"}},
		"OddEmail":        {func(s *carrier.Shipment) { s.ShipFrom.Email = "none" }, []string{"/ship_from/email"}},
		"Abroad":          {func(s *carrier.Shipment) { s.ShipTo.Country = "CA" }, []string{"/ship_to/country"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := carrier.Shipment{Service: "ground", WeightG: 1, Format: carrier.ZPL, Dimensions: &carrier.Dimensions{Length: 1, Width: 1, Height: 1}}
			s.ShipFrom = carrier.Address{Name: "n", Street1: "s", City: "c", PostalCode: "89501", Country: "US", Phone: "1", Email: "a@b.example"}
			s.ShipTo = s.ShipFrom
			tt.change(&s)
			carriertest.RequirePointers(t, tt.want, adapter().Check(s))
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	key := func(window, margin time.Duration) func(*Config) {
		return func(c *Config) { c.Capabilities.Key = &carrier.Key{Window: window, Margin: margin} }
	}
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"NoName":         {func(c *Config) { c.Name = "" }, "name"},
		"NoURL":          {func(c *Config) { c.BaseURL = "" }, "base URL"},
		"AnotherVersion": {func(c *Config) { c.BaseURL = "https://public-api.easyship.example/2024-09" }, "must end in /2023-01"},
		"NoAccount":      {func(c *Config) { c.Account = "" }, "account"},
		"BadCurrency":    {func(c *Config) { c.Currency = "dollars" }, "currency"},
		"NoSecret":       {func(c *Config) { c.Secret = "" }, "secret"},
		"NoServices":     {func(c *Config) { c.Services = nil }, "services are needed"},
		"BadHost":        {func(c *Config) { c.DocumentHosts = []string{"files.example.com/x"} }, "must be a host alone"},
		"NoCourier":      {func(c *Config) { c.Services = map[string]string{"ground": ""} }, "courier id"},
		"OneCourier":     {func(c *Config) { c.Services = map[string]string{"a": "c", "b": "c"} }, "two names"},
		"FreeContents":   {func(c *Config) { c.Contents.Value = "0" }, "value"},
		"KeyForEver":     {key(0, time.Hour), "at most 24h"},
		"KeyForTooLong":  {key(25*time.Hour, time.Hour), "at most 24h"},
		"NoMargin":       {key(24*time.Hour, 0), "key_margin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := goodConfig()
			tt.change(&cfg)
			_, err := New(cfg)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// TestFailuresAreReplayed: whatever the configuration says of a key, that is in its nature.
func TestFailuresAreReplayed(t *testing.T) {
	t.Parallel()
	cfg := goodConfig()
	given := &carrier.Key{Window: 24 * time.Hour, Margin: time.Hour}
	cfg.Capabilities.Key = given
	a, err := New(cfg)
	require.NoError(t, err)
	require.True(t, a.Capabilities().Key.ReplaysFailures)
	require.False(t, given.ReplaysFailures, "the caller's own is left alone")
}
