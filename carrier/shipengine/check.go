package shipengine

import (
	"regexp"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// ShipEngine documents no limits of its own for these; these are the shortest of the carriers behind it, so that
// nothing is cut off, or refused, on a label that was paid for.
const (
	maxWeightG = 68_038 // 150 lb: UPS and FedEx
	maxSideMM  = 2_743  // 108 in: UPS
)

var addressLimits = carrierhttp.AddressLimits{
	Line:       35, // UPS and FedEx
	PostalCode: 10,
	Phone:      20, // 15 digits, with what stands between them
	Email:      50,
	WithState:  []string{"US", "CA"},
}

var servicePattern = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// Check implements [carrier.Carrier].
func (a *Adapter) Check(s carrier.Shipment) []carrier.FieldError {
	var c carrierhttp.Complaints
	switch {
	case !servicePattern.MatchString(s.Service):
		c.Add("/service", "must be a service code such as usps_ground_advantage")
	case len(a.cfg.Services) > 0:
		c.OneOf("/service", s.Service, a.cfg.Services...)
	}
	c.Weight(s.WeightG, maxWeightG)
	if s.Dimensions != nil {
		c.Sides(*s.Dimensions, maxSideMM)
	}
	c.Address("/ship_from", s.ShipFrom, addressLimits)
	c.Address("/ship_to", s.ShipTo, addressLimits)
	c.Format(s.Format)
	return c
}
