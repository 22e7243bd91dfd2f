package simserver

import (
	"cmp"
	"encoding/json/v2"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxOrder bounds a request body; an order is about one KiB.
const maxOrder = 64 << 10

// order is the body of POST /labels.
type order struct {
	Reference  string  `json:"reference"`
	Service    string  `json:"service"`
	WeightG    int64   `json:"weight_g"`
	Dimensions *size   `json:"dimensions_mm,omitzero"`
	ShipFrom   *postal `json:"ship_from"`
	ShipTo     *postal `json:"ship_to"`
	Format     format  `json:"label_format"`
}

type size struct {
	Length int64 `json:"length"`
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}

type postal struct {
	Name       string `json:"name,omitzero"`
	Company    string `json:"company,omitzero"`
	Street1    string `json:"street1,omitzero"`
	Street2    string `json:"street2,omitzero"`
	City       string `json:"city,omitzero"`
	State      string `json:"state,omitzero"`
	PostalCode string `json:"postal_code,omitzero"`
	Country    string `json:"country,omitzero"`
	Phone      string `json:"phone,omitzero"`
	Email      string `json:"email,omitzero"`
}

var orderReference = regexp.MustCompile(`^[A-Za-z0-9-]{1,35}$`)

// parseOrder is as strict as a real carrier on a bad day: an unknown member is refused.
func parseOrder(body []byte) (order, error) {
	var o order
	if err := json.Unmarshal(body, &o, json.RejectUnknownMembers(true)); err != nil {
		return order{}, errors.New("the body is not an order")
	}
	_, servable := tariffs[o.Service]
	_, printable := printers[o.Format]
	switch {
	case !orderReference.MatchString(o.Reference):
		return order{}, errors.New("reference must be 1 to 35 letters, digits and hyphens")
	case !servable:
		return order{}, errors.New("service must be ground, express or overnight")
	case o.WeightG < 1 || o.WeightG > 70_000:
		return order{}, errors.New("weight_g must be from 1 to 70000")
	case !printable:
		return order{}, errors.New("label_format must be pdf, png or zpl")
	case o.Dimensions != nil && min(o.Dimensions.Length, o.Dimensions.Width, o.Dimensions.Height) < 1:
		return order{}, errors.New("dimensions_mm must be positive")
	case !o.ShipFrom.deliverable():
		return order{}, errors.New("ship_from is not a complete address with lines of at most 35 characters")
	case !o.ShipTo.deliverable():
		return order{}, errors.New("ship_to is not a complete address with lines of at most 35 characters")
	}
	return o, nil
}

func (p *postal) deliverable() bool {
	if p == nil {
		return false
	}
	for _, required := range []string{p.Name, p.Street1, p.City, p.PostalCode, p.Country} {
		if strings.TrimSpace(required) == "" {
			return false
		}
	}
	for _, line := range []string{p.Name, p.Company, p.Street1, p.Street2, p.City, p.State} {
		if utf8.RuneCountInString(strings.TrimSpace(line)) > 35 {
			return false
		}
	}
	return true
}

// tariff is what a service costs: a base for the first kilogram, and a price for every kilogram
// begun after it.
type tariff struct{ baseCents, perKgCents int64 }

var tariffs = map[string]tariff{
	"ground":    {600, 45},
	"express":   {1500, 90},
	"overnight": {2900, 150},
}

// speeds are the services of the carriers, by what they are called there, and what they cost like.
var speeds = map[string]string{
	// EasyPost
	"GroundAdvantage": "ground",
	"Priority":        "express",
	"Express":         "overnight",
	"Ground":          "ground",
	"NextDayAir":      "overnight",

	// USPS
	"USPS_GROUND_ADVANTAGE": "ground",
	"PRIORITY_MAIL":         "express",
	"PRIORITY_MAIL_EXPRESS": "overnight",

	// ShipEngine
	"usps_ground_advantage":      "ground",
	"usps_priority_mail":         "express",
	"usps_priority_mail_express": "overnight",
	"ups_ground":                 "ground",
	"ups_next_day_air":           "overnight",
	"fedex_ground":               "ground",

	// Easyship: any other courier costs like the first.
	"01563646-58c1-4607-8fe0-cae3e33c0001": "ground",
	"01563646-58c1-4607-8fe0-cae3e33c0002": "express",
	"01563646-58c1-4607-8fe0-cae3e33c0003": "overnight",

	// FedEx
	"FEDEX_GROUND":         "ground",
	"GROUND_HOME_DELIVERY": "ground",
	"FEDEX_2_DAY":          "express",
	"FEDEX_EXPRESS_SAVER":  "express",
	"STANDARD_OVERNIGHT":   "overnight",
	"PRIORITY_OVERNIGHT":   "overnight",
}

// surchargeCents is what the fault over_price adds: more than anybody's limit.
const surchargeCents = 1_000_000

func (o order) price() int64 {
	t, known := tariffs[cmp.Or(speeds[o.Service], o.Service)]
	if !known {
		t = tariffs["ground"] // a courier of those that have no names, but ids
	}
	kilograms := (o.WeightG + 999) / 1000
	return t.baseCents + (kilograms-1)*t.perKgCents
}
