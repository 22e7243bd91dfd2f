package easyship

import (
	"regexp"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// The carrier's own limits. Of names and companies clients send 22 characters (seen in clients); 35 of a
// line, 20 of a postal code and of a telephone number are in its own error messages (documented). Weights
// and lengths are the couriers' affair: these bound only what a parcel is.
const (
	maxWeightG    = 150_000
	maxSideMM     = 3_000
	maxName       = 22
	maxLine       = 35
	maxPostalCode = 20
	maxPhone      = 20
	maxEmail      = 80
)

var emailPattern = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)

// Check implements [carrier.Carrier].
func (a *Adapter) Check(s carrier.Shipment) []carrier.FieldError {
	var c carrierhttp.Complaints
	c.OneOf("/service", s.Service, a.services()...)
	c.Weight(s.WeightG, maxWeightG)
	if s.Dimensions != nil {
		c.Sides(*s.Dimensions, maxSideMM)
	} else {
		c.Add("/dimensions_mm", "is required by easyship")
	}
	checkAddress(&c, "/ship_from", s.ShipFrom)
	checkAddress(&c, "/ship_to", s.ShipTo)
	if s.ShipTo.Country != s.ShipFrom.Country {
		c.Add("/ship_to/country", "must be the sender's: this account makes no customs documents")
	}
	c.Format(s.Format)
	return c
}

func checkAddress(c *carrierhttp.Complaints, at string, a carrier.Address) {
	c.Required(at+"/name", a.Name, maxName)
	c.Text(at+"/company", a.Company, maxName)
	c.Required(at+"/street1", a.Street1, maxLine)
	c.Text(at+"/street2", a.Street2, maxLine)
	c.Required(at+"/city", a.City, maxLine)
	c.Text(at+"/state", a.State, maxLine)
	c.Required(at+"/postal_code", a.PostalCode, maxPostalCode)
	c.Country(at+"/country", a.Country)
	// Both must be there, although the reference calls them optional (documented in the forum).
	c.Required(at+"/phone", a.Phone, maxPhone)
	c.Required(at+"/email", a.Email, maxEmail)
	if email := strings.TrimSpace(a.Email); email != "" && !emailPattern.MatchString(email) {
		c.Add(at+"/email", "must be an e-mail address")
	}
}
