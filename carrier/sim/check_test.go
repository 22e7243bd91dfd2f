package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/carrier/carriertest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	type change func(*carrier.Shipment)
	for name, tt := range map[string]struct {
		change change
		want   []string // pointers
	}{
		"Good":             {func(*carrier.Shipment) {}, nil},
		"UnknownService":   {func(s *carrier.Shipment) { s.Service = "teleport" }, []string{"/service"}},
		"NoWeight":         {func(s *carrier.Shipment) { s.WeightG = 0 }, []string{"/weight_g"}},
		"Heaviest":         {func(s *carrier.Shipment) { s.WeightG = 70_000 }, nil},
		"TooHeavy":         {func(s *carrier.Shipment) { s.WeightG = 70_001 }, []string{"/weight_g"}},
		"NoDimensions":     {func(s *carrier.Shipment) { s.Dimensions = nil }, nil},
		"FlatAndLong":      {func(s *carrier.Shipment) { s.Dimensions = &carrier.Dimensions{Length: 2001, Width: 1} }, []string{"/dimensions_mm/length", "/dimensions_mm/height"}},
		"UnknownFormat":    {func(s *carrier.Shipment) { s.Format = "svg" }, []string{"/label_format"}},
		"LongestLine":      {func(s *carrier.Shipment) { s.ShipTo.Street1 = " " + strings.Repeat("é", 35) + " " }, nil},
		"LineTooLong":      {func(s *carrier.Shipment) { s.ShipTo.Street2 = strings.Repeat("x", 36) }, []string{"/ship_to/street2"}},
		"BlankName":        {func(s *carrier.Shipment) { s.ShipTo.Name = "  " }, []string{"/ship_to/name"}},
		"OtherScript":      {func(s *carrier.Shipment) { s.ShipTo.City = "東京" }, []string{"/ship_to/city"}},
		"ControlCharacter": {func(s *carrier.Shipment) { s.ShipTo.City = "A\nB" }, []string{"/ship_to/city"}},
		"NotUTF8":          {func(s *carrier.Shipment) { s.ShipTo.City = "A\xff" }, []string{"/ship_to/city"}},
		"CountryName":      {func(s *carrier.Shipment) { s.ShipFrom.Country = "USA" }, []string{"/ship_from/country"}},
		"NoAddress":        {func(s *carrier.Shipment) { s.ShipTo = carrier.Address{} }, []string{"/ship_to/name", "/ship_to/street1", "/ship_to/city", "/ship_to/postal_code", "/ship_to/country"}},
		"LongOptionalParts": {func(s *carrier.Shipment) {
			s.ShipTo.Phone, s.ShipTo.Email = strings.Repeat("1", 21), strings.Repeat("e", 81)
		}, []string{"/ship_to/phone", "/ship_to/email"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := carrier.Shipment{Service: "ground", WeightG: 1, Format: carrier.ZPL, Dimensions: &carrier.Dimensions{Length: 1, Width: 1, Height: 2000}}
			s.ShipFrom = carrier.Address{Name: "n", Street1: "s", City: "c", PostalCode: "p", Country: "US"}
			s.ShipTo = s.ShipFrom
			tt.change(&s)
			carriertest.RequirePointers(t, tt.want, (&Adapter{}).Check(s))
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := Config{Name: "sim", BaseURL: "https://carrier.example", Account: "A", Currency: "USD"}
	_, err := New(good)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"NoName":      {func(c *Config) { c.Name = "" }, "name"},
		"NoAccount":   {func(c *Config) { c.Account = "" }, "account"},
		"NoCurrency":  {func(c *Config) { c.Currency = "" }, "currency"},
		"Euros":       {func(c *Config) { c.Currency = "euro" }, "currency"},
		"NoURL":       {func(c *Config) { c.BaseURL = "" }, "http://"},
		"OtherScheme": {func(c *Config) { c.BaseURL = "ftp://x" }, "http://"},
		"NoHost":      {func(c *Config) { c.BaseURL = "http:///x" }, "host"},
		"Credentials": {func(c *Config) { c.BaseURL = "http://u:hunter2@x" }, "credentials"},
		"Query":       {func(c *Config) { c.BaseURL = "http://x?k=hunter2" }, "query"},
		"NotAURL":     {func(c *Config) { c.BaseURL = "http://u:hunter2@x:y" }, "URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := good
			tt.change(&cfg)
			_, err := New(cfg)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}
