package fedex

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
		"Good":            {func(*carrier.Shipment) {}, nil},
		"UnknownService":  {func(s *carrier.Shipment) { s.Service = "ground" }, []string{"/service"}},
		"Heaviest":        {func(s *carrier.Shipment) { s.WeightG = 68_038 }, nil},
		"TooHeavy":        {func(s *carrier.Shipment) { s.WeightG = 68_039 }, []string{"/weight_g"}},
		"NoDimensions":    {func(s *carrier.Shipment) { s.Dimensions = nil }, nil},
		"NoHeight":        {func(s *carrier.Shipment) { s.Dimensions.Height = 0 }, []string{"/dimensions_mm/height"}},
		"LargestGirth":    {func(s *carrier.Shipment) { s.Dimensions = &carrier.Dimensions{Length: 2159, Width: 508, Height: 508} }, nil},
		"GirthAsItIsSent": {func(s *carrier.Shipment) { s.Dimensions = &carrier.Dimensions{Length: 2161, Width: 509, Height: 500} }, []string{"/dimensions_mm"}},
		"GirthTooLarge":   {func(s *carrier.Shipment) { s.Dimensions = &carrier.Dimensions{Length: 500, Width: 2192, Height: 500} }, []string{"/dimensions_mm"}},
		"Format":          {func(s *carrier.Shipment) { s.Format = "gif" }, []string{"/label_format"}},
		"LongestLine":     {func(s *carrier.Shipment) { s.ShipTo.Street2 = " " + strings.Repeat("é", 35) + " " }, nil},
		"LineTooLong":     {func(s *carrier.Shipment) { s.ShipTo.Street1 = strings.Repeat("x", 36) }, []string{"/ship_to/street1"}},
		"NameTooLong":     {func(s *carrier.Shipment) { s.ShipTo.Name = strings.Repeat("x", 71) }, []string{"/ship_to/name"}},
		"OtherScript":     {func(s *carrier.Shipment) { s.ShipTo.City = "서울" }, []string{"/ship_to/city"}},
		"NoState":         {func(s *carrier.Shipment) { s.ShipTo.State = "" }, []string{"/ship_to/state"}},
		"StateByName":     {func(s *carrier.Shipment) { s.ShipTo.State = "Nevada" }, []string{"/ship_to/state"}},
		"PostcodeTooLong": {func(s *carrier.Shipment) { s.ShipTo.PostalCode = "12345-67890" }, []string{"/ship_to/postal_code"}},
		"NoPhone":         {func(s *carrier.Shipment) { s.ShipTo.Phone = "" }, []string{"/ship_to/phone"}},
		"ShortPhone":      {func(s *carrier.Shipment) { s.ShipTo.Phone = "+1 555 0100" }, []string{"/ship_to/phone"}},
		"PhoneInWords":    {func(s *carrier.Shipment) { s.ShipTo.Phone = "call me at ten" }, []string{"/ship_to/phone"}},
		"PhoneInPieces":   {func(s *carrier.Shipment) { s.ShipTo.Phone = "(775) 555.01-00" }, nil},
		"Abroad":          {func(s *carrier.Shipment) { s.ShipTo.Country = "CA" }, []string{"/ship_to/country"}},
		"Britain": {func(s *carrier.Shipment) {
			for _, a := range []*carrier.Address{&s.ShipFrom, &s.ShipTo} {
				a.Country, a.State, a.PostalCode, a.Phone = "GB", "", "SW1A 1AA", "+44 20 7946 0100"
			}
		}, nil},
		"StateInAnotherScript": {func(s *carrier.Shipment) {
			for _, a := range []*carrier.Address{&s.ShipFrom, &s.ShipTo} {
				a.Country, a.State, a.PostalCode, a.Phone = "GB", "Ж", "SW1A 1AA", "+44 20 7946 0100"
			}
		}, []string{"/ship_from/state", "/ship_to/state"}},
		"PhoneInBritain": {func(s *carrier.Shipment) {
			for _, a := range []*carrier.Address{&s.ShipFrom, &s.ShipTo} {
				a.Country, a.State, a.PostalCode, a.Phone = "GB", "", "SW1A 1AA", "+44 20 7946 0100"
			}
			s.ShipTo.Phone = "999"
		}, []string{"/ship_to/phone"}},
		"NoAddress": {func(s *carrier.Shipment) { s.ShipTo = carrier.Address{} }, []string{
			"/ship_to/name", "/ship_to/street1", "/ship_to/city", "/ship_to/postal_code", "/ship_to/country", "/ship_to/phone", "/ship_to/country",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := carrier.Shipment{Service: "FEDEX_GROUND", WeightG: 1, Format: carrier.ZPL, Dimensions: &carrier.Dimensions{Length: 1, Width: 1, Height: 1}}
			s.ShipFrom = carrier.Address{Name: "n", Street1: "s", City: "c", State: "NV", PostalCode: "89501", Country: "US", Phone: "7755550100"}
			s.ShipTo = s.ShipFrom
			tt.change(&s)
			carriertest.RequirePointers(t, tt.want, (&Adapter{}).Check(s))
		})
	}
}

func goodConfig() Config {
	return Config{
		Name: "fedex", BaseURL: "https://apis.fedex.example", Account: "740561073", Currency: "USD",
		ClientID: "id", ClientSecret: "hunter2",
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	_, err := New(goodConfig())
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"NoName":      {func(c *Config) { c.Name = "" }, "name"},
		"NoURL":       {func(c *Config) { c.BaseURL = "" }, "base URL"},
		"BadAccount":  {func(c *Config) { c.Account = "12345" }, "account"},
		"BadCurrency": {func(c *Config) { c.Currency = "dollars" }, "currency"},
		"Keyed":       {func(c *Config) { c.Capabilities.Key = &carrier.Key{} }, "class must be blind"},
		"Lookup":      {func(c *Config) { c.Capabilities.Lookup = &carrier.Lookup{} }, "class must be blind"},
		"NoClient":    {func(c *Config) { c.ClientID = "" }, "client_id"},
		"NoSecret":    {func(c *Config) { c.ClientSecret = "" }, "secret"},
		"BadPickup":   {func(c *Config) { c.PickupType = "SOMETIME" }, "pickup_type must be one of"},
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
