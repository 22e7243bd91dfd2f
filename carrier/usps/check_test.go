package usps

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
		"UnknownService":  {func(s *carrier.Shipment) { s.Service = "ground" }, []string{"/service"}},
		"ParcelSelect":    {func(s *carrier.Shipment) { s.Service = "PARCEL_SELECT" }, []string{"/service"}},
		"Heaviest":        {func(s *carrier.Shipment) { s.WeightG = 31_751 }, nil},
		"TooHeavy":        {func(s *carrier.Shipment) { s.WeightG = 31_752 }, []string{"/weight_g"}},
		"NoDimensions":    {func(s *carrier.Shipment) { s.Dimensions = nil }, []string{"/dimensions_mm"}},
		"NoHeight":        {func(s *carrier.Shipment) { s.Dimensions.Height = 0 }, []string{"/dimensions_mm/height"}},
		"GirthForGround":  {func(s *carrier.Shipment) { s.Dimensions = &carrier.Dimensions{Length: 1000, Width: 1299, Height: 1} }, nil},
		"GirthOverGround": {func(s *carrier.Shipment) { s.Dimensions = &carrier.Dimensions{Length: 1000, Width: 1300, Height: 2} }, []string{"/dimensions_mm"}},
		"GirthAsItIsSent": {func(s *carrier.Shipment) { s.Dimensions = &carrier.Dimensions{Length: 1000, Width: 1300, Height: 1} }, []string{"/dimensions_mm"}},
		"GirthOverPriority": {func(s *carrier.Shipment) {
			s.Service, s.Dimensions = "PRIORITY_MAIL", &carrier.Dimensions{Length: 1000, Width: 1300, Height: 1}
		}, []string{"/dimensions_mm"}},
		"Format":                {func(s *carrier.Shipment) { s.Format = "gif" }, []string{"/label_format"}},
		"LongestLine":           {func(s *carrier.Shipment) { s.ShipTo.Street1 = " " + strings.Repeat("é", 50) + " " }, nil},
		"LineTooLong":           {func(s *carrier.Shipment) { s.ShipTo.Street2 = strings.Repeat("x", 51) }, []string{"/ship_to/street2"}},
		"CityTooLong":           {func(s *carrier.Shipment) { s.ShipFrom.City = strings.Repeat("x", 29) }, []string{"/ship_from/city"}},
		"BlankName":             {func(s *carrier.Shipment) { s.ShipTo.Name = " " }, []string{"/ship_to/name"}},
		"LongestName":           {func(s *carrier.Shipment) { s.ShipTo.Name = strings.Repeat("a", 50) + " " + strings.Repeat("b", 50) }, nil},
		"LongFirstNameInSpaces": {func(s *carrier.Shipment) { s.ShipTo.Name = strings.Repeat("a", 51) + " b" + strings.Repeat(" ", 50) }, []string{"/ship_to/name"}},
		"LongLastName":          {func(s *carrier.Shipment) { s.ShipTo.Name = "A " + strings.Repeat("b", 51) }, []string{"/ship_to/name"}},
		"NameTooLong":           {func(s *carrier.Shipment) { s.ShipTo.Name = strings.Repeat("a ", 60) + "b" }, []string{"/ship_to/name"}},
		"OtherScript":           {func(s *carrier.Shipment) { s.ShipTo.City = "서울" }, []string{"/ship_to/city"}},
		"StateByName":           {func(s *carrier.Shipment) { s.ShipTo.State = "Nevada" }, []string{"/ship_to/state"}},
		"NoSuchState":           {func(s *carrier.Shipment) { s.ShipTo.State = "ZZ" }, []string{"/ship_to/state"}},
		"ArmedForces":           {func(s *carrier.Shipment) { s.ShipTo.State = "AE" }, nil},
		"ZIPPlus4":              {func(s *carrier.Shipment) { s.ShipTo.PostalCode = "89501-1234" }, nil},
		"PostcodeAbroad":        {func(s *carrier.Shipment) { s.ShipTo.PostalCode = "SW1A 1AA" }, []string{"/ship_to/postal_code"}},
		"Abroad":                {func(s *carrier.Shipment) { s.ShipTo.Country = "CA" }, []string{"/ship_to/country"}},
		"NoAddress":             {func(s *carrier.Shipment) { s.ShipTo = carrier.Address{} }, []string{"/ship_to/name", "/ship_to/street1", "/ship_to/city", "/ship_to/state", "/ship_to/postal_code", "/ship_to/country"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := carrier.Shipment{Service: "USPS_GROUND_ADVANTAGE", WeightG: 1, Format: carrier.ZPL, Dimensions: &carrier.Dimensions{Length: 1, Width: 1, Height: 1}}
			s.ShipFrom = carrier.Address{Name: "n m", Street1: "s", City: "c", State: "NV", PostalCode: "89501", Country: "US"}
			s.ShipTo = s.ShipFrom
			tt.change(&s)
			carriertest.RequirePointers(t, tt.want, (&Adapter{}).Check(s))
		})
	}
}

func goodConfig() Config {
	return Config{
		Name: "usps", BaseURL: "https://apis.usps.example", Account: "1000405525", Currency: "USD",
		ClientID: "id", ClientSecret: "hunter2", CRID: "12345678", MID: "123456", ManifestMID: "123456789",
		Now: func() time.Time { return time.Date(2026, 12, 1, 23, 0, 0, 0, time.UTC) },
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
		"NoName":       {func(c *Config) { c.Name = "" }, "name"},
		"NoURL":        {func(c *Config) { c.BaseURL = "" }, "base URL"},
		"NoAccount":    {func(c *Config) { c.Account = "x" }, "account"},
		"Euros":        {func(c *Config) { c.Currency = "EUR" }, "USD"},
		"NoClient":     {func(c *Config) { c.ClientID = "" }, "client_id"},
		"NoSecret":     {func(c *Config) { c.ClientSecret = "" }, "secret"},
		"NoCRID":       {func(c *Config) { c.CRID = "" }, "crid"},
		"BadMID":       {func(c *Config) { c.MID = "1234567" }, "mid"},
		"TooFarAhead":  {func(c *Config) { c.MailingDays = 7 }, "mailing_days"},
		"NoClock":      {func(c *Config) { c.Now = nil }, "clock"},
		"Lookup":       {func(c *Config) { c.Capabilities.Lookup = &carrier.Lookup{} }, "shows no labels by reference"},
		"KeyedTooOld":  {func(c *Config) { c.Capabilities.Key = &carrier.Key{Window: time.Hour} }, "honours_key: true"},
		"KeyedForEver": {func(c *Config) { c.HonoursKey, c.Capabilities.Key = true, &carrier.Key{} }, "key_window is needed"},
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
