package sim

import (
	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// The carrier's own limits.
const (
	maxWeightG = 70_000
	maxSideMM  = 2_000
)

var addressLimits = carrierhttp.AddressLimits{Line: 35, PostalCode: 12, Phone: 20, Email: 80}

var services = []string{"ground", "express", "overnight"}

// Check implements [carrier.Carrier].
func (a *Adapter) Check(s carrier.Shipment) []carrier.FieldError {
	var c carrierhttp.Complaints
	c.OneOf("/service", s.Service, services...)
	c.Weight(s.WeightG, maxWeightG)
	if s.Dimensions != nil {
		c.Sides(*s.Dimensions, maxSideMM)
	}
	c.Address("/ship_from", s.ShipFrom, addressLimits)
	c.Address("/ship_to", s.ShipTo, addressLimits)
	c.Format(s.Format)
	return c
}
