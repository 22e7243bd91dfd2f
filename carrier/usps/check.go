package usps

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// services are the mail classes that need nothing but a parcel and an address. PARCEL_SELECT and its
// like need the postal facility where the parcel is handed in.
var services = []string{"USPS_GROUND_ADVANTAGE", "PRIORITY_MAIL", "PRIORITY_MAIL_EXPRESS", "MEDIA_MAIL", "LIBRARY_MAIL"}

// The carrier's own limits: 70 pounds; 50 characters of a name or a line, 28 of a city (the vendor's
// description); length and girth of 130 inches for Ground Advantage and 108 for the others (Domestic
// Mail Manual).
const (
	maxWeightG = 31_751
	maxLine    = 50
	maxCity    = 28
	maxSideMM  = 2_743
)

var (
	zipPattern   = regexp.MustCompile(`^[0-9]{5}(-?[0-9]{4})?$`)
	statePattern = regexp.MustCompile(`^(A[AEKLPRSZ]|C[AOT]|D[CE]|F[LM]|G[AU]|HI|I[ADLN]|K[SY]|LA|M[ADEHINOPST]|N[CDEHJMVY]|O[HKR]|P[ARW]|RI|S[CD]|T[NX]|UT|V[AIT]|W[AIVY])$`)
)

// Check implements [carrier.Carrier].
func (a *Adapter) Check(s carrier.Shipment) []carrier.FieldError {
	var c carrierhttp.Complaints
	c.OneOf("/service", s.Service, services...)
	c.Weight(s.WeightG, maxWeightG)
	checkSize(&c, s)
	checkAddress(&c, "/ship_from", s.ShipFrom)
	checkAddress(&c, "/ship_to", s.ShipTo)
	c.Format(s.Format)
	return c
}

func checkSize(c *carrierhttp.Complaints, s carrier.Shipment) {
	if s.Dimensions == nil {
		c.Add("/dimensions_mm", "is required by usps")
		return
	}
	girth := carrierhttp.Girth{Sent: hundredths, Most: 108_00, Name: "108 inches"}
	if s.Service == "USPS_GROUND_ADVANTAGE" {
		girth.Most, girth.Name = 130_00, "130 inches"
	}
	c.Size(*s.Dimensions, maxSideMM, girth)
}

// hundredths of an inch are the steps in which sides go out.
func hundredths(mm int64) int64 { return units.Inch.Steps(mm, inchDecimals) }

func checkAddress(c *carrierhttp.Complaints, at string, a carrier.Address) {
	checkName(c, at, a)
	c.Text(at+"/company", a.Company, maxLine)
	c.Required(at+"/street1", a.Street1, maxLine)
	c.Text(at+"/street2", a.Street2, maxLine)
	c.Required(at+"/city", a.City, maxCity)
	if !statePattern.MatchString(strings.TrimSpace(a.State)) {
		c.Add(at+"/state", "must be the two capital letters of a state such as NV")
	}
	if !zipPattern.MatchString(strings.TrimSpace(a.PostalCode)) {
		c.Add(at+"/postal_code", "must be a ZIP code such as 89501 or 89501-1234")
	}
	if a.Country != "US" {
		c.Add(at+"/country", "must be US: this account makes domestic labels")
	}
}

// checkName holds the name against the two members that it goes into.
func checkName(c *carrierhttp.Complaints, at string, a carrier.Address) {
	c.Required(at+"/name", a.Name, 2*maxLine+1)
	if first, last := splitName(a.Name); utf8.RuneCountInString(strings.TrimSpace(a.Name)) <= 2*maxLine+1 &&
		max(utf8.RuneCountInString(first), utf8.RuneCountInString(last)) > maxLine {
		c.Add(at+"/name", fmt.Sprintf("must be at most %d characters before its last word, and %d in it", maxLine, maxLine))
	}
}
