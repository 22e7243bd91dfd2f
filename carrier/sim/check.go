package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"waybill/carrier"
)

// The carrier's own limits.
const (
	maxWeightG     = 70_000
	maxSideMM      = 2_000
	maxAddressLine = 35
	maxPostalCode  = 12
	maxPhone       = 20
	maxEmail       = 80
)

var services = []string{"ground", "express", "overnight"}

var formats = []carrier.Format{carrier.PDF, carrier.PNG, carrier.ZPL}

var countryPattern = regexp.MustCompile(`^[A-Z]{2}$`)

// Check implements [carrier.Carrier].
func (a *Adapter) Check(s carrier.Shipment) []carrier.FieldError {
	var c complaints
	if !slices.Contains(services, s.Service) {
		c.add("/service", "must be one of "+strings.Join(services, ", "))
	}
	if s.WeightG < 1 || s.WeightG > maxWeightG {
		c.add("/weight_g", fmt.Sprintf("must be from 1 to %d grams", maxWeightG))
	}
	if d := s.Dimensions; d != nil {
		c.side("/dimensions_mm/length", d.Length)
		c.side("/dimensions_mm/width", d.Width)
		c.side("/dimensions_mm/height", d.Height)
	}
	c.address("/ship_from", s.ShipFrom)
	c.address("/ship_to", s.ShipTo)
	if !slices.Contains(formats, s.Format) {
		c.add("/label_format", "must be one of pdf, png, zpl")
	}
	return c
}

// complaints collects in the order of the request's members.
type complaints []carrier.FieldError

func (c *complaints) add(pointer, detail string) {
	*c = append(*c, carrier.FieldError{Pointer: pointer, Detail: detail})
}

func (c *complaints) side(pointer string, mm int64) {
	if mm < 1 || mm > maxSideMM {
		c.add(pointer, fmt.Sprintf("must be from 1 to %d millimetres", maxSideMM))
	}
}

func (c *complaints) address(at string, a carrier.Address) {
	const required, optional = true, false
	c.text(at+"/name", a.Name, maxAddressLine, required)
	c.text(at+"/company", a.Company, maxAddressLine, optional)
	c.text(at+"/street1", a.Street1, maxAddressLine, required)
	c.text(at+"/street2", a.Street2, maxAddressLine, optional)
	c.text(at+"/city", a.City, maxAddressLine, required)
	c.text(at+"/state", a.State, maxAddressLine, optional)
	c.text(at+"/postal_code", a.PostalCode, maxPostalCode, required)
	c.text(at+"/phone", a.Phone, maxPhone, optional)
	c.text(at+"/email", a.Email, maxEmail, optional)
	if !countryPattern.MatchString(a.Country) {
		c.add(at+"/country", "must be an ISO 3166-1 alpha-2 code such as US")
	}
}

// text never repeats the value: it is personal data.
func (c *complaints) text(pointer, value string, longest int, required bool) {
	trimmed := strings.TrimSpace(value)
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unprintable):
		c.add(pointer, "must be printable Latin-1 text")
	case required && trimmed == "":
		c.add(pointer, "is required")
	case utf8.RuneCountInString(trimmed) > longest:
		c.add(pointer, fmt.Sprintf("must be at most %d characters", longest))
	}
}

// unprintable is true outside of the printable part of ISO 8859-1, which is all that the carrier's
// label printers know.
func unprintable(r rune) bool {
	return r < 0x20 || (r > 0x7e && r < 0xa0) || r > 0xff
}
