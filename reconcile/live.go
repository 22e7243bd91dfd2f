package reconcile

import (
	"slices"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// live judges a label that is not void: one bill counts, at the label's cost.
func (j *judgement) live(l *Label, bills []*bill, credits []*Charge, contested bool) LabelState {
	counted := primary(bills, l.Cost)
	extras := j.surcharges(l, bills, counted)
	if counted == nil {
		counted = j.firstBilledLate(l, bills)
	}
	if counted != nil {
		j.compare(l, counted, extras)
	}
	for _, b := range bills {
		j.tooMany(l, b, counted)
		j.corrected(l, b, b == counted)
	}
	switch {
	case counted != nil:
		return Billed
	case len(credits) > 0:
		j.find(aboutLines(CreditUnexpected, Warning, CreditWithoutVoid, credits).naming(*l).nothingExpected())
		return Refunded
	case len(bills) > 0:
		return BilledBefore
	case contested:
		return Contested
	}
	return j.unbilled(l)
}

// primary picks the bill that counts as the label's own: the one at its cost, else the first that is
// money in its currency, else the first of any.
func primary(bills []*bill, cost carrier.Money) *bill {
	var best *bill
	rank := 0
	for _, b := range bills {
		if !b.carries() {
			continue
		}
		is := 1
		total := sum(b.price)
		switch {
		case total == cost:
			is = 4
		case total.Cents > 0 && total.Currency == cost.Currency:
			is = 3
		case total.Cents > 0:
			is = 2
		}
		if is > rank {
			best, rank = b, is
		}
	}
	return best
}

// surcharges deals with parts of a price that are billed apart from the freight. Where they complete
// the price to the label's cost they belong to it; else the carrier charged them afterwards.
func (j *judgement) surcharges(l *Label, bills []*bill, counted *bill) (extras []*Charge) {
	for _, b := range bills {
		if b != counted && b.freight() == nil {
			extras = append(extras, b.price...)
		}
	}
	if counted != nil && len(extras) > 0 && completes(l.Cost, slices.Concat(counted.price, extras)) {
		for _, b := range bills {
			if b != counted && b.freight() == nil {
				b.price = nil
			}
		}
		return extras
	}
	for _, b := range bills {
		if b != counted && b.freight() == nil {
			b.corrections = append(b.corrections, b.price...)
			b.price = nil
		}
	}
	return nil
}

// completes tells whether charges, all in one currency, make up a cost.
func completes(cost carrier.Money, charges []*Charge) bool {
	return sum(charges) == cost && !slices.ContainsFunc(charges, func(c *Charge) bool {
		return c.Amount.Currency != cost.Currency
	})
}

// firstBilledLate finds the bill whose corrections are the label's whole price: carriers print a parcel
// that they forgot to bill among their adjustments.
func (j *judgement) firstBilledLate(l *Label, bills []*bill) *bill {
	for _, b := range bills {
		if sum(b.corrections) == l.Cost && slices.ContainsFunc(b.corrections, func(c *Charge) bool {
			return c.Kind == invoice.Freight
		}) {
			b.price, b.corrections = append(b.price, b.corrections...), nil
			return b
		}
	}
	return nil
}

// compare holds what the label is billed against what it cost.
func (j *judgement) compare(l *Label, b *bill, extras []*Charge) {
	price := slices.Concat(b.price, extras)
	b.price = nil
	j.judgePrice(l, price, l.Cost)
}

// judgePrice holds the lines of a price against a cost.
func (j *judgement) judgePrice(l *Label, price []*Charge, cost carrier.Money) {
	total := sum(price)
	if total != cost {
		// Two equal surcharges can be real; where the cost says that they are not, they are named.
		for _, again := range (&bill{price: price}).repeated() {
			if sum(again).Cents <= 0 {
				continue
			}
			j.placeAll(again, Duplicate)
			f := aboutLines(PossibleDuplicateLine, Error, TwiceOnOneInvoice, again).naming(*l).nothingExpected()
			f.OtherInvoiceNo = again[0].InvoiceNo
			j.find(f)
			price = without(price, again)
		}
		total = sum(price)
	}
	if total == cost {
		j.placeAll(price, Matched)
		return
	}
	bucket, kind, severity, why := Differs, OverBilled, Error, AboveCost
	switch {
	case total.Currency != cost.Currency:
		kind, why = CurrencyMismatch, OtherCurrency
	case j.tolerates(Price, total.Cents-cost.Cents, cost):
		bucket, kind, severity, why = Tolerated, WithinTolerance, Info, InsideTolerance
	case total.Cents < cost.Cents:
		kind, severity, why = UnderBilled, Warning, BelowCost
	}
	j.placeAll(price, bucket)
	j.find(aboutLines(kind, severity, why, price).naming(*l).expecting(cost))
}

// tooMany takes a bill that is not the label's own. A carriage for nothing is no second charge.
func (j *judgement) tooMany(l *Label, b, counted *bill) {
	if len(b.price) == 0 {
		return
	}
	if total := sum(b.price); counted == nil || total.Cents <= 0 {
		j.placeAll(b.price, Adjusted)
		if total.Cents != 0 {
			j.find(aboutLines(CreditUnexpected, Warning, CreditWithoutVoid, b.price).naming(*l).nothingExpected())
		}
		return
	}
	j.placeAll(b.price, Duplicate)
	f := aboutLines(BilledTwice, Error, OnAnotherInvoice, b.price).naming(*l).nothingExpected()
	f.OtherInvoiceNo = counted.invoiceNo
	j.find(f)
}

// corrected takes what came after a label's price, one finding for each invoice and matter.
func (j *judgement) corrected(l *Label, b *bill, counted bool) {
	correction, severity := LateAdjustment, Info
	if counted {
		correction = Adjustment
	} else if sum(b.corrections).Cents > 0 {
		// Charged after the fact, on another invoice: the days in which it can be disputed run.
		severity = Warning
	}
	for _, matter := range []struct {
		charges  []*Charge
		kind     Kind
		severity Severity
		why      Reason
	}{
		{b.corrections, correction, severity, CorrectedLater},
		{b.voids, CreditUnexpected, Warning, CreditWithoutVoid},
		{b.services, CreditUnexpected, Info, CreditForService},
		{b.chargebacks, Chargeback, Error, ChargedLater},
	} {
		if matter.kind == correction && j.toleratesAll(matter.charges, l.Cost) {
			j.placeAll(matter.charges, Tolerated)
			j.find(aboutLines(WithinTolerance, Info, InsideTolerance, matter.charges).naming(*l).nothingExpected())
			continue
		}
		j.placeAll(matter.charges, Adjusted)
		if sum(matter.charges).Cents != 0 {
			j.find(aboutLines(matter.kind, matter.severity, matter.why, matter.charges).naming(*l).nothingExpected())
		}
	}
}

// unbilled judges a label that no line belongs to.
func (j *judgement) unbilled(l *Label) LabelState {
	kind, severity, why, state := NeverBilled, Warning, PastGrace, Unbilled
	if int(j.AsOf-invoice.DateOf(l.BoughtAt, j.Zone)) < j.GraceDays {
		kind, severity, why, state = Pending, Info, InsideGrace, Waiting
	}
	j.find(aboutLabel(kind, severity, why, *l).expecting(l.Cost))
	return state
}
