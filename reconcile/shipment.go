package reconcile

import (
	"cmp"
	"slices"

	"waybill/carrier"
)

// shipment judges parcels that a carrier bills as one shipment, where their lines add up to what they
// cost together and not parcel by parcel: an invoice may print the price at the first parcel alone, or
// share it out as it likes. It returns false, and has done nothing, where each parcel is to be judged
// by itself.
func (j *judgement) shipment(labels []Label, owned [][]*Charge) bool {
	price, ok := onePrice(labels, owned)
	if !ok {
		return false
	}
	var cost carrier.Money
	for _, l := range labels {
		cost.Currency = l.Cost.Currency
		cost.Cents += l.Cost.Cents
	}
	carried := 0
	for i := range labels {
		if slices.ContainsFunc(owned[i], isFreight) {
			carried++
		}
	}
	total := sum(price)
	if total != cost && carried == len(labels) {
		return false
	}
	for i := range labels {
		j.Standings = append(j.Standings, Standing{Label: &labels[i], State: Billed})
	}
	// Named by the first parcel that the invoice names.
	first := slices.IndexFunc(owned, func(charges []*Charge) bool { return len(charges) > 0 })
	j.judgePrice(&labels[first], price, cost)
	return true
}

func isFreight(c *Charge) bool { return (&bill{price: []*Charge{c}}).freight() != nil }

// onePrice is all lines of parcels that one invoice bills as one shipment, all live, with nothing but
// parts of a price, and not each at its own cost.
func onePrice(labels []Label, owned [][]*Charge) (price []*Charge, ok bool) {
	if len(labels) < 2 {
		return nil, false
	}
	single := true
	for i, l := range labels {
		if !l.VoidedAt.IsZero() || l.Cost.Currency != labels[0].Cost.Currency || l.Account != labels[0].Account ||
			slices.ContainsFunc(labels[:i], func(o Label) bool { return o.TrackingNo == l.TrackingNo }) {
			return nil, false
		}
		price = append(price, owned[i]...)
		single = single && sum(owned[i]) == l.Cost
	}
	if single || len(price) == 0 {
		return nil, false
	}
	named := slices.ContainsFunc(price, func(c *Charge) bool { return c.MasterTrackingNo != "" })
	return price, named && !slices.ContainsFunc(price, func(c *Charge) bool {
		return roleOf(c.Line) != ofPrice || c.InvoiceNo != price[0].InvoiceNo || c.Account != price[0].Account ||
			c.Amount.Currency != labels[0].Cost.Currency || shipmentNo(c) != shipmentNo(price[0])
	})
}

// shipmentNo is the number of the shipment that a line's parcel is a piece of. The lines of the piece that gives
// the shipment its number need not say so.
func shipmentNo(c *Charge) string { return cmp.Or(c.MasterTrackingNo, c.TrackingNo) }
