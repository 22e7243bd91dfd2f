package fedex

import (
	"regexp"
	"slices"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// services are those that carry one parcel within a country.
var services = []string{
	"FEDEX_GROUND", homeDelivery, "FEDEX_EXPRESS_SAVER", "FEDEX_2_DAY", "FEDEX_2_DAY_AM",
	"STANDARD_OVERNIGHT", "PRIORITY_OVERNIGHT", "FIRST_OVERNIGHT",
}

// The carrier's own limits. Of names FedEx only recommends a length, and cuts longer ones on the label.
// 150 pounds, 119 inches and 165 inches of length and girth are those of its parcel services; it measures
// the whole inches that are sent.
const (
	maxWeightG    = 68_038
	maxSideMM     = 3_022
	maxGirth      = 165
	maxName       = 70
	maxLine       = 35
	maxPostalCode = 10
)

var (
	// Ten digits in North America, after a 1 or +1 or nothing; 10 to 15 elsewhere.
	northAmerican = regexp.MustCompile(`^(\+?1)?[0-9]{10}$`)
	otherPhone    = regexp.MustCompile(`^\+?[0-9]{10,15}$`)

	// Where a state is needed, and elsewhere.
	statePattern = regexp.MustCompile(`^[A-Z]{2}$`)
	otherState   = regexp.MustCompile(`^[A-Z0-9]{0,2}$`)
)

// withStates are the countries whose addresses need one.
var withStates = []string{"US", "CA", "PR"}

// Check implements [carrier.Carrier].
func (a *Adapter) Check(s carrier.Shipment) []carrier.FieldError {
	var c carrierhttp.Complaints
	c.OneOf("/service", s.Service, services...)
	c.Weight(s.WeightG, maxWeightG)
	if s.Dimensions != nil {
		c.Size(*s.Dimensions, maxSideMM, carrierhttp.Girth{Sent: wholeInches, Most: maxGirth, Name: "165 inches"})
	}
	checkAddress(&c, "/ship_from", s.ShipFrom)
	checkAddress(&c, "/ship_to", s.ShipTo)
	if s.ShipTo.Country != s.ShipFrom.Country {
		c.Add("/ship_to/country", "must be the sender's: this account makes no customs documents")
	}
	c.Format(s.Format)
	return c
}

func wholeInches(mm int64) int64 { return units.Inch.Steps(mm, inchDecimals) }

func checkAddress(c *carrierhttp.Complaints, at string, a carrier.Address) {
	c.Required(at+"/name", a.Name, maxName)
	c.Text(at+"/company", a.Company, maxLine)
	c.Required(at+"/street1", a.Street1, maxLine)
	c.Text(at+"/street2", a.Street2, maxLine)
	c.Required(at+"/city", a.City, maxLine)
	state := strings.TrimSpace(a.State)
	if slices.Contains(withStates, a.Country) && !statePattern.MatchString(state) || !otherState.MatchString(state) {
		c.Add(at+"/state", "must be a code of two capital letters such as NV")
	}
	c.Required(at+"/postal_code", a.PostalCode, maxPostalCode)
	c.Country(at+"/country", a.Country)
	checkPhone(c, at, a)
}

func checkPhone(c *carrierhttp.Complaints, at string, a carrier.Address) {
	phone := plainPhone(a.Phone)
	switch {
	case phone == "":
		c.Add(at+"/phone", "is required by fedex")
	case slices.Contains(withStates, a.Country) && !northAmerican.MatchString(phone):
		c.Add(at+"/phone", "must have ten digits, after a 1 or +1 or nothing")
	case !otherPhone.MatchString(phone):
		c.Add(at+"/phone", "must have 10 to 15 digits")
	}
}
