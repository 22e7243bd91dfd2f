package invoicegen

import (
	"cmp"
	"slices"
)

// whole picks an invoice about which nothing is planted yet, when all are added up.
func (b *builder) whole(ok func(*Invoice) bool) *Invoice {
	var free []*Invoice
	for _, inv := range b.invoices {
		damaged := slices.ContainsFunc(inv.Billings, func(x Billing) bool { return x.refused })
		if !inv.reported && !damaged && len(inv.Billings) > 0 && (ok == nil || ok(inv)) {
			free = append(free, inv)
		}
	}
	if len(free) == 0 {
		return nil
	}
	slices.SortFunc(free, func(x, y *Invoice) int {
		return cmp.Or(cmp.Compare(x.No, y.No), cmp.Compare(x.Account, y.Account), cmp.Compare(x.Currency, y.Currency))
	})
	picked := free[b.chance.IntN(len(free))]
	picked.reported = true
	return picked
}

// later lets a plant act on a whole invoice, once it is whole.
func (b *builder) later(p Plant, ok func(*Invoice) bool, act func(*Invoice)) {
	b.reports = append(b.reports, func() {
		if inv := b.whole(ok); inv != nil {
			b.plant = p
			act(inv)
		}
	})
}

func rounding(b *builder) {
	b.later(Rounding, nil, func(inv *Invoice) {
		inv.Stated++
		b.expectInvoice("rounding", inv, 1)
	})
}

func notFooting(b *builder) {
	b.later(NotFooting, func(inv *Invoice) bool { return !repeats(inv) }, func(inv *Invoice) {
		off := 10 + b.chance.Int64N(5000)
		inv.Stated += off
		b.expectInvoice("invoice_not_footing", inv, -off)
	})
}

// repeats tells whether an invoice has lines that only inform: without a total that foots, nobody
// can say whether they count.
func repeats(inv *Invoice) bool {
	return slices.ContainsFunc(inv.Billings, func(x Billing) bool {
		return slices.ContainsFunc(x.Charges, func(c Charge) bool { return c.Kind == Informative || c.Kind == Counted })
	})
}

func resent(b *builder) {
	b.later(Resent, nil, func(inv *Invoice) {
		inv.resent = true
		b.expectInvoice("invoice_resent", inv, 0)
	})
}

func changed(b *builder) {
	b.later(Changed, nil, func(inv *Invoice) {
		inv.changed = 1 + b.chance.Int64N(400)
		b.expectInvoice("invoice_changed", inv, 0)
	})
}
