package dhl

import (
	"fmt"
	"strings"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// shipment makes the lines of a shipment's charges. They add up to the row's total, tax included.
func (b *book) shipment(r *sheet.Row, key billKey, base invoice.Line, total carrier.Money) []invoice.Line {
	base.TrackingNo = r.ID(b.shipmentNo)
	base.ShipDate = r.Date(b.shipmentDate, "20060102", "2006-01-02")
	base.Reference = r.OurReference(b.references...)
	of := b.bills[key]
	if of == nil {
		of = &bill{absent: true}
	}
	base.Unstated, base.StatedCents = of.absent, of.line.StatedCents
	s := charges{base: base}
	s.add(invoice.Freight, "weight", "Weight charge "+r.Words(b.product), r.Money(b.weightCharge, key.currency))
	for i, c := range b.discounts {
		s.add(invoice.Accessorial, fmt.Sprintf("discount-%d", i+1), "Discount", r.Money(c, key.currency))
	}
	for i, p := range b.others {
		name := r.Words(p.Label)
		s.add(extraKind("", name), fmt.Sprintf("other-%d", i+1), name, r.Money(p.Amount, key.currency))
	}
	for _, x := range b.extras {
		code, name := r.ID(x.code), r.Words(x.name)
		s.add(extraKind(code, name), "xc-"+code[:min(len(code), 16)], name, x.net(r, key.currency))
	}
	s.add(invoice.Tax, "tax", "Tax", r.Money(b.tax, key.currency))
	s.balance(total)
	if r.Rejected() {
		// It is a shipment all the same: nothing is made up for what it would have said.
		of.shipments++
		return nil
	}
	if of.absent {
		// An invoice's row that comes later must not state a total for what was read without one.
		b.bills[key] = of
		return s.lines
	}
	of.sum += total.Cents
	of.shipments++
	return s.lines
}

// charges are the lines of one shipment.
type charges struct {
	base  invoice.Line
	lines []invoice.Line
	sum   int64
}

// add makes a line of a charge. An empty group is no charge, whatever stands in for its name.
func (s *charges) add(kind invoice.Kind, number, text string, amount carrier.Money) {
	if amount.Cents == 0 {
		return
	}
	line := s.base
	line.Kind, line.LineNo, line.Text, line.Amount = kind, number, strings.TrimSpace(text), amount
	if !kind.InPrice() {
		line.Correction = false
	}
	s.sum += amount.Cents
	s.lines = append(s.lines, line)
}

// balance makes a line of what the row's total says and its charges do not.
func (s *charges) balance(total carrier.Money) {
	rest := carrier.Money{Cents: total.Cents - s.sum, Currency: total.Currency}
	if rest.Cents == 1 || rest.Cents == -1 {
		s.add(invoice.Rounding, "rounding", "Rounding", rest)
	} else {
		s.add(invoice.Unknown, "rest", "Not itemised", rest)
	}
	if len(s.lines) == 0 {
		// A shipment that costs nothing was still billed.
		line := s.base
		line.Kind, line.LineNo, line.Text, line.Amount = invoice.Freight, "weight", "Weight charge", total
		s.lines = append(s.lines, line)
	}
}

// net is an extra charge after its discount and before its tax. The group's total decides, also where it is zero:
// then the charge was waived. In some countries it holds the tax, which has a line of its own.
func (x extra) net(r *sheet.Row, currency string) carrier.Money {
	charge, tax, discount := r.Money(x.charge, currency), r.Money(x.tax, currency), r.Money(x.discount, currency)
	if r.Text(x.total) == "" {
		charge.Cents += discount.Cents
		return charge
	}
	total := r.Money(x.total, currency)
	for _, before := range []int64{charge.Cents + discount.Cents, charge.Cents - discount.Cents} {
		if tax.Cents != 0 && total.Cents == before+tax.Cents {
			total.Cents -= tax.Cents
			break
		}
	}
	return total
}

// extraWords sort extra charges by what their names hold; the first that fits decides.
var extraWords = []struct {
	words string
	kind  invoice.Kind
}{
	{"fuel", invoice.Fuel},
	{"brandstof", invoice.Fuel},
	{"treibstoff", invoice.Fuel},
	{"address correction", invoice.AddressCorrection},
	{"residential", invoice.Residential},
	{"remote area", invoice.Area},
	{"import export duties", invoice.Duty},
	{"import export taxes", invoice.Tax},
	{"duty tax paid", invoice.Brokerage},
	{"clearance", invoice.Brokerage},
	{"disbursement", invoice.Brokerage},
	{"duty tax process", invoice.Brokerage},
	{"multiline entry", invoice.Brokerage},
	{"bonded", invoice.Brokerage},
	{"duties", invoice.Duty},
	{"vat", invoice.Tax},
	{"return", invoice.Return},
	{"gogreen", invoice.Accessorial},
	{"demand", invoice.Accessorial},
	{"emergency", invoice.Accessorial},
	{"elevated risk", invoice.Accessorial},
	{"restricted destination", invoice.Accessorial},
	{"exporter validation", invoice.Accessorial},
	{"oversize", invoice.Accessorial},
	{"over weight", invoice.Accessorial},
	{"overweight", invoice.Accessorial},
	{"non-conveyable", invoice.Accessorial},
	{"saturday", invoice.Accessorial},
	{"signature", invoice.Accessorial},
	{"insurance", invoice.Accessorial},
	{"protection", invoice.Accessorial},
	{"paperless", invoice.Accessorial},
	{"pickup", invoice.Accessorial},
}

// extraKind says what an extra charge is: by its code where that is known, else by its name.
func extraKind(code, name string) invoice.Kind {
	switch strings.ToUpper(code) {
	case "FF":
		return invoice.Fuel
	case "XX":
		return invoice.Duty
	case "XB":
		return invoice.Tax
	}
	name = strings.ToLower(name)
	for _, w := range extraWords {
		if strings.Contains(name, w.words) {
			return w.kind
		}
	}
	return invoice.Unknown
}
