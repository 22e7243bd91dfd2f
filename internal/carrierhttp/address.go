package carrierhttp

import (
	"slices"
	"strings"

	"waybill/carrier"
)

// AddressLimits are the most characters a carrier takes of each part of an address. Line is the limit
// of names and companies, of both lines of a street and of cities and states.
type AddressLimits struct {
	Line       int
	PostalCode int
	Phone      int
	Email      int

	// WithState are the countries whose addresses need a state.
	WithState []string
}

// Trimmed is an address as it is sent: without the spaces around its parts, which no limit counts.
func Trimmed(a carrier.Address) carrier.Address {
	for _, part := range []*string{
		&a.Name, &a.Company, &a.Street1, &a.Street2, &a.City, &a.State, &a.PostalCode, &a.Country, &a.Phone, &a.Email,
	} {
		*part = strings.TrimSpace(*part)
	}
	return a
}

// Address complains of the parts of an address, which lies at the pointer. Carriers with rules of their
// own for a part (a state's code, a telephone number's digits) check part by part instead.
func (c *Complaints) Address(at string, a carrier.Address, most AddressLimits) {
	c.Required(at+"/name", a.Name, most.Line)
	c.Text(at+"/company", a.Company, most.Line)
	c.Required(at+"/street1", a.Street1, most.Line)
	c.Text(at+"/street2", a.Street2, most.Line)
	c.Required(at+"/city", a.City, most.Line)
	if slices.Contains(most.WithState, a.Country) {
		c.Required(at+"/state", a.State, most.Line)
	} else {
		c.Text(at+"/state", a.State, most.Line)
	}
	c.Required(at+"/postal_code", a.PostalCode, most.PostalCode)
	c.Text(at+"/phone", a.Phone, most.Phone)
	c.Text(at+"/email", a.Email, most.Email)
	c.Country(at+"/country", a.Country)
}
