package main

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"waybill/carrier"
	"waybill/carrier/catalog"
)

// What no parcel and no carrier comes near. The carriers' own, narrower limits are theirs to check.
const (
	maxText      = 200        // characters of one line of an address
	maxName      = 64         // characters of a carrier's or a service's name
	maxWeightG   = 1_000_000  // a tonne
	maxLengthMM  = 100_000    // a hundred metres
	maxCostCents = 100_000_00 // a typing error, not a price
)

// validate notes everything that is wrong with a decoded request, the carrier's own limits included
// once the rest is right: what is accepted can be sent.
func (r *labelRequest) validate(found *faults, carriers *catalog.Catalog) {
	before := len(*found)
	requireInt(found, "/order_id", r.OrderID, math.MaxInt64)
	requireInt(found, "/parcel_no", r.ParcelNo, math.MaxInt32)
	optionalInt(found, "/label_version", r.LabelVersion, math.MaxInt32)
	requireName(found, "/service", r.Service)
	requireInt(found, "/weight_g", r.WeightG, maxWeightG)
	if r.Dimensions != nil {
		requireInt(found, "/dimensions_mm/length", r.Dimensions.Length, maxLengthMM)
		requireInt(found, "/dimensions_mm/width", r.Dimensions.Width, maxLengthMM)
		requireInt(found, "/dimensions_mm/height", r.Dimensions.Height, maxLengthMM)
	}
	if r.ShipTo == nil {
		found.add("/ship_to", "is required")
	} else {
		validateAddress(found, "/ship_to", r.ShipTo.Address)
	}
	switch {
	case r.ShipFrom != nil:
		validateAddress(found, "/ship_from", r.ShipFrom.Address)
	case carriers.DefaultShipFrom == nil:
		found.add("/ship_from", "is required: no default sender is configured")
	}
	if r.LabelFormat != nil {
		validateFormat(found, *r.LabelFormat)
	}
	optionalInt(found, "/max_cost_cents", r.MaxCostCents, maxCostCents)
	c := r.validateCarrier(found, carriers)
	if len(*found) > before || c == nil {
		return
	}
	for _, fault := range c.Check(r.shipment(carriers.DefaultShipFrom)) {
		found.add(fault.Pointer, fault.Detail)
	}
}

// validateCarrier finds the carrier that is named, or the default.
func (r *labelRequest) validateCarrier(found *faults, carriers *catalog.Catalog) carrier.Carrier {
	name := valueOr(r.Carrier, carriers.DefaultCarrier)
	c, ok := carriers.Carrier(name)
	switch {
	case ok:
		return c
	case r.Carrier == nil:
		found.add("/carrier", "is required: no default carrier is configured")
	default:
		found.add("/carrier", "must be one of "+strings.Join(carriers.Names(), ", "))
	}
	return nil
}

func validateAddress(found *faults, at string, a carrier.Address) {
	for _, line := range []struct{ name, text string }{
		{"/name", a.Name},
		{"/company", a.Company},
		{"/street1", a.Street1},
		{"/street2", a.Street2},
		{"/city", a.City},
		{"/state", a.State},
		{"/postal_code", a.PostalCode},
		{"/phone", a.Phone},
		{"/email", a.Email},
	} {
		if utf8.RuneCountInString(line.text) > maxText {
			found.add(at+line.name, fmt.Sprintf("must be at most %d characters", maxText))
		}
	}
	if blank(a.Name) && blank(a.Company) {
		found.add(at+"/name", "is required unless company is given")
	}
	if blank(a.Street1) {
		found.add(at+"/street1", "is required")
	}
	if blank(a.City) {
		found.add(at+"/city", "is required")
	}
	if !isCountry(a.Country) {
		found.add(at+"/country", "must be an ISO 3166-1 alpha-2 code in capitals, e.g. US")
	}
}

func validateFormat(found *faults, format string) {
	switch carrier.Format(format) {
	case carrier.PDF, carrier.PNG, carrier.ZPL:
	default:
		found.add("/label_format", "must be pdf, png or zpl")
	}
}

func requireInt(found *faults, at string, n *int64, most int64) {
	if n == nil {
		found.add(at, "is required")
		return
	}
	optionalInt(found, at, n, most)
}

func optionalInt(found *faults, at string, n *int64, most int64) {
	if n != nil && (*n < 1 || *n > most) {
		found.add(at, fmt.Sprintf("must be from 1 to %d", most))
	}
}

func requireName(found *faults, at string, name *string) {
	switch {
	case name == nil || blank(*name):
		found.add(at, "is required")
	case utf8.RuneCountInString(*name) > maxName:
		found.add(at, fmt.Sprintf("must be at most %d characters", maxName))
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
