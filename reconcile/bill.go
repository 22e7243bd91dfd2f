package reconcile

import (
	"cmp"
	"slices"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// bill is what one invoice says about one label in one currency. A carrier may print a label's price
// as several lines; they are one bill.
type bill struct {
	invoiceNo   string
	price       []*Charge
	corrections []*Charge
	voids       []*Charge
	services    []*Charge
	chargebacks []*Charge
}

// billsOf sorts a label's charges by invoice, the earliest first. Lines keep the order in which they
// came, so that what a finding is named by does not depend on files.
func billsOf(charges []*Charge) []*bill {
	type key struct {
		account, invoiceNo, currency string
	}
	type dated struct {
		key
		date invoice.Date
		*bill
	}
	var all []dated
	for _, c := range charges {
		k := key{c.Account, c.InvoiceNo, c.Amount.Currency}
		i := slices.IndexFunc(all, func(d dated) bool { return d.key == k })
		if i < 0 {
			i = len(all)
			all = append(all, dated{key: k, date: c.InvoiceDate, bill: &bill{invoiceNo: c.InvoiceNo}})
		}
		all[i].take(c)
	}
	slices.SortFunc(all, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.account, b.account),
			cmp.Compare(a.key.invoiceNo, b.key.invoiceNo), cmp.Compare(a.currency, b.currency))
	})
	bills := make([]*bill, 0, len(all))
	for _, d := range all {
		bills = append(bills, d.bill)
	}
	return bills
}

func (b *bill) take(c *Charge) {
	switch roleOf(c.Line) {
	case ofPrice:
		b.price = append(b.price, c)
	case ofCorrection:
		b.corrections = append(b.corrections, c)
	case ofVoid:
		b.voids = append(b.voids, c)
	case ofService:
		b.services = append(b.services, c)
	case ofChargeback:
		b.chargebacks = append(b.chargebacks, c)
	case ofNone:
		// Never given to a label.
	}
}

// freight is the line that the bill is named by; nil if the bill carries nothing.
func (b *bill) freight() *Charge {
	i := slices.IndexFunc(b.price, func(c *Charge) bool {
		return c.Kind == invoice.Freight && c.Amount.Cents >= 0
	})
	if i < 0 {
		return nil
	}
	return b.price[i]
}

// carries tells whether the bill charges for carriage, so that a second one like it is one too many.
func (b *bill) carries() bool { return b.freight() != nil && sum(b.price).Cents >= 0 }

// repeated are the copies that the bill prints of its price lines, the same charge with the same amount: all
// that is there a second time, all that is there a third. Discounts go with their charges.
func (b *bill) repeated() (copies [][]*Charge) {
	for i, c := range b.price {
		before := 0
		for _, o := range b.price[:i] {
			if o.Kind == c.Kind && o.Text == c.Text && o.Amount == c.Amount && o.TrackingNo == c.TrackingNo {
				before++
			}
		}
		if before == 0 || c.Amount.Cents == 0 {
			continue
		}
		for len(copies) < before {
			copies = append(copies, nil)
		}
		copies[before-1] = append(copies[before-1], c)
	}
	return copies
}

// sum adds lines of one currency.
func sum(charges []*Charge) carrier.Money {
	var total carrier.Money
	for _, c := range charges {
		total.Currency = c.Amount.Currency
		total.Cents += c.Amount.Cents
	}
	return total
}

// without returns the charges that are not among others.
func without(charges, others []*Charge) []*Charge {
	return slices.DeleteFunc(slices.Clone(charges), func(c *Charge) bool { return slices.Contains(others, c) })
}
