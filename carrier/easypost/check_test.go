package easypost

import (
	"strings"
	"testing"

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
		"Good":           {func(*carrier.Shipment) {}, nil},
		"UnknownService": {func(s *carrier.Shipment) { s.Service = "Express" }, []string{"/service"}},
		"ServiceIsText":  {func(s *carrier.Shipment) { s.Service = "next day" }, []string{"/service"}},
		"NoWeight":       {func(s *carrier.Shipment) { s.WeightG = 0 }, []string{"/weight_g"}},
		"TooHeavy":       {func(s *carrier.Shipment) { s.WeightG = maxWeightG + 1 }, []string{"/weight_g"}},
		"NoDimensions":   {func(s *carrier.Shipment) { s.Dimensions = nil }, nil},
		"TooLong":        {func(s *carrier.Shipment) { s.Dimensions.Length = maxSideMM + 1 }, []string{"/dimensions_mm/length"}},
		"Flat":           {func(s *carrier.Shipment) { s.Dimensions.Height = 0 }, []string{"/dimensions_mm/height"}},
		"UnknownFormat":  {func(s *carrier.Shipment) { s.Format = "svg" }, []string{"/label_format"}},
		"LongestLine":    {func(s *carrier.Shipment) { s.ShipTo.Street1 = " " + strings.Repeat("é", 35) + " " }, nil},
		"LineTooLong":    {func(s *carrier.Shipment) { s.ShipTo.Street2 = strings.Repeat("x", 36) }, []string{"/ship_to/street2"}},
		"NoState":        {func(s *carrier.Shipment) { s.ShipFrom.State = "" }, []string{"/ship_from/state"}},
		"NoStateThere":   {func(s *carrier.Shipment) { s.ShipTo.State, s.ShipTo.Country = "", "DE" }, nil},
		"OtherScript":    {func(s *carrier.Shipment) { s.ShipTo.City = "서울특" }, []string{"/ship_to/city"}},
		"NotUTF8":        {func(s *carrier.Shipment) { s.ShipTo.City = "A\xff" }, []string{"/ship_to/city"}},
		"CountryName":    {func(s *carrier.Shipment) { s.ShipTo.Country = "Peru" }, []string{"/ship_to/country"}},
		"NoAddress":      {func(s *carrier.Shipment) { s.ShipTo = carrier.Address{} }, []string{"/ship_to/name", "/ship_to/street1", "/ship_to/city", "/ship_to/postal_code", "/ship_to/country"}},
		"LongParts": {func(s *carrier.Shipment) {
			s.ShipTo.PostalCode, s.ShipTo.Phone, s.ShipTo.Email = strings.Repeat("1", 11), strings.Repeat("1", 21), strings.Repeat("e", 51)
		}, []string{"/ship_to/postal_code", "/ship_to/phone", "/ship_to/email"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := carrier.Shipment{Service: "GroundAdvantage", WeightG: maxWeightG, Format: carrier.ZPL, Dimensions: &carrier.Dimensions{Length: 1, Width: 1, Height: maxSideMM}}
			s.ShipFrom = carrier.Address{Name: "n", Street1: "s", City: "c", State: "CA", PostalCode: "p", Country: "US"}
			s.ShipTo = s.ShipFrom
			tt.change(&s)
			a := adapter()
			a.cfg.Services = []string{"GroundAdvantage", "Priority"}
			carriertest.RequirePointers(t, tt.want, a.Check(s))
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	_, err := New(good())
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"NoName":       {func(c *Config) { c.Name = "" }, "name"},
		"NoAccount":    {func(c *Config) { c.Account = "" }, "account"},
		"BadCurrency":  {func(c *Config) { c.Currency = "euro" }, "currency"},
		"NoSecret":     {func(c *Config) { c.Secret = "" }, "secret"},
		"Credentials":  {func(c *Config) { c.BaseURL = "http://u:hunter2@x" }, "credentials"},
		"Keyed":        {func(c *Config) { c.Capabilities.Key = &carrier.Key{} }, "class: EasyPost honours no key"},
		"NoCarrier":    {func(c *Config) { c.Carrier = "" }, "carrier is needed"},
		"OtherAccount": {func(c *Config) { c.CarrierAccount = "1" }, "carrier_account"},
		"BadService":   {func(c *Config) { c.Services = []string{"next day"} }, "next day"},
		"BadHost":      {func(c *Config) { c.DocumentHosts = []string{"https://files.example.com"} }, "must be a host alone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := good()
			tt.change(&cfg)
			_, err := New(cfg)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}
