package simbench

import "waybill/carrier"

// Shipment is one that every dialect takes, by a service of the carrier: each call makes another. Its
// price limit lies above the simulator's prices.
func Shipment(service string) carrier.Shipment {
	return carrier.Shipment{
		Service:    service,
		WeightG:    1450,
		Dimensions: &carrier.Dimensions{Length: 300, Width: 200, Height: 120},
		ShipFrom: carrier.Address{
			Name: "Dispatch", Company: "Northwind Depot", Street1: "1 Dock Road", City: "Reno",
			State: "NV", PostalCode: "89501", Country: "US", Phone: "775 555 0100", Email: "dock@example.org",
		},
		ShipTo: carrier.Address{
			Name: "Zoë Müller", Street1: "12 Fable Street", Street2: "Flat 3", City: "Springfield",
			State: "IL", PostalCode: "62701", Country: "US", Phone: "+1 217 555 0100", Email: "zoe@example.org",
		},
		Format:       carrier.PDF,
		MaxCostCents: new(int64(2500)),
	}
}
