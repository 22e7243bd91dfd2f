package invoicegen

import (
	"fmt"
	"slices"
	"time"
)

// billed is a label that was bought and billed once, at its cost.
func (b *builder) billed() *Label {
	l := b.buy(b.account())
	b.bill(l, week(l), b.price(l.Cost.Cents)...)
	return l
}

// price splits an amount into the charges that carriers print, the carriage the largest.
func (b *builder) price(cents int64) []Charge {
	charges := []Charge{{Freight, cents}}
	for _, k := range []Kind{Fuel, Residential, Area, Accessorial}[:b.chance.IntN(b.style.parts)] {
		part := 1 + b.chance.Int64N(max(1, cents/8))
		if charges[0].Cents-part <= part {
			break
		}
		charges[0].Cents -= part
		charges = append(charges, Charge{k, part})
	}
	return b.informed(charges)
}

// informed adds the row that only informs, where a dialect prints such.
func (b *builder) informed(charges []Charge) []Charge {
	if b.Options.Dialect != UPS || b.chance.IntN(3) > 0 {
		return charges
	}
	switch b.style.informative {
	case "zero":
		return append(charges, Charge{Informative, 0})
	case "repeats":
		return append(charges, Charge{Informative, charges[0].Cents})
	default:
		part := min(1+b.chance.Int64N(90), charges[0].Cents-1)
		charges[0].Cents -= part
		return append(charges, Charge{Counted, part})
	}
}

// Tolerated is how many minor units of difference the rules have to allow for a label's price, either way.
const Tolerated = 5

// share is a part of an amount, more than is tolerated.
func (b *builder) share(cents int64) int64 { return Tolerated + 1 + b.chance.Int64N(max(1, cents/3)) }

// latest is the week of the last weekly invoice.
const latest = 11

// after is a week after a label's own.
func (b *builder) after(l *Label) int { return week(l) + 1 + b.chance.IntN(latest-week(l)) }

func honest(b *builder) {
	if b.Options.Dialect != EasyPostInvoice {
		b.billed()
		return
	}
	// A report of adjustments says nothing of a label that was billed as quoted.
	corrected(b)
}

func secondCharge(b *builder) {
	l := b.billed()
	w := b.after(l)
	b.bill(l, w, b.price(l.Cost.Cents)...)
	b.expect("billed_twice", l, b.weekly(b.accountOf(l), w), l.Cost.Cents)
}

func repeatedLine(b *builder) {
	l := b.buy(b.account())
	w := week(l)
	charges := b.price(l.Cost.Cents)
	b.bill(l, w, charges...)
	if b.rowsAreShipments() {
		// The row as a whole comes twice.
		b.bill(l, w, charges...)
		b.expect("possible_duplicate_line", l, b.weekly(b.accountOf(l), w), l.Cost.Cents)
		return
	}
	b.bill(l, w, charges[0])
	b.expect("possible_duplicate_line", l, b.weekly(b.accountOf(l), w), charges[0].Cents)
}

// rowsAreShipments is true for formats that print a shipment in one row.
func (b *builder) rowsAreShipments() bool {
	return !slices.Contains([]Dialect{Neutral, UPS}, b.Options.Dialect)
}

func rebilledAndCredited(b *builder) {
	l := b.billed()
	w := b.after(l)
	other := l.Cost.Cents + b.share(l.Cost.Cents)
	b.bill(l, w, Charge{Freight, other})
	b.bill(l, min(w+1, latest), Charge{Freight, -other})
}

func almostRight(b *builder) {
	l := b.buy(b.account())
	by := 1 + b.chance.Int64N(Tolerated)
	if b.chance.IntN(2) == 0 {
		by = -by
	}
	b.bill(l, week(l), b.price(l.Cost.Cents+by)...)
	b.expect("within_tolerance", l, b.weekly(b.accountOf(l), week(l)), by)
}

func tooMuch(b *builder) {
	l := b.buy(b.account())
	more := b.share(l.Cost.Cents)
	b.bill(l, week(l), b.price(l.Cost.Cents+more)...)
	b.expect("over_billed", l, b.weekly(b.accountOf(l), week(l)), more)
}

func tooLittle(b *builder) {
	l := b.buy(b.account())
	less := b.share(l.Cost.Cents)
	b.bill(l, week(l), b.price(l.Cost.Cents-less)...)
	b.expect("under_billed", l, b.weekly(b.accountOf(l), week(l)), -less)
}

func afterVoid(b *builder) {
	l := b.buy(b.account())
	l.VoidedAt = l.BoughtAt.Add(time.Hour)
	// Not on the Monday after a void on a Sunday night, somewhere: a week later.
	w := week(l) + b.chance.IntN(2)
	b.bill(l, w, b.price(l.Cost.Cents)...)
	b.expect("billed_voided", l, b.weekly(b.accountOf(l), w), l.Cost.Cents)
}

// voidLater voids a label after its invoice.
func (b *builder) voidLater(l *Label) {
	l.VoidedAt = monday.AddDate(0, 0, 7*week(l)+2).Add(11 * time.Hour)
}

func creditMissing(b *builder) {
	l := b.billed()
	b.voidLater(l)
	b.expect("void_credit_missing", l, b.weekly(b.accountOf(l), week(l)), l.Cost.Cents)
}

func voidCredited(b *builder) {
	l := b.billed()
	b.voidLater(l)
	b.bill(l, b.after(l), Charge{VoidCredit, -l.Cost.Cents}).Late = true
}

func voidUnbilled(b *builder) {
	l := b.buy(b.account())
	l.VoidedAt = l.BoughtAt.Add(time.Hour)
}

func creditedAlive(b *builder) {
	l := b.billed()
	w := b.after(l)
	b.bill(l, w, Charge{VoidCredit, -l.Cost.Cents}).Late = true
	b.expect("credit_unexpected", l, b.weekly(b.accountOf(l), w), -l.Cost.Cents)
}

func corrected(b *builder) {
	var l *Label
	if b.Options.Dialect == EasyPostInvoice {
		l = b.buy(b.account())
	} else {
		l = b.billed()
	}
	w := b.after(l)
	by := b.share(l.Cost.Cents)
	kind := Correction
	switch {
	case b.Options.Dialect != EasyPostInvoice && b.chance.IntN(2) == 0:
		kind = AddressFix
	case b.Options.Dialect == EasyPostInvoice && b.chance.IntN(4) == 0:
		by = -by
	}
	b.bill(l, w, Charge{kind, by}).Late = true
	b.expect("late_adjustment", l, b.weekly(b.accountOf(l), w), by)
}

func chargedBack(b *builder) {
	l := b.billed()
	w := week(l) + 20
	cents := l.Cost.Cents + 1500
	b.bill(l, w, Charge{Chargeback, cents}).Late = true
	b.expect("chargeback", l, b.weekly(b.accountOf(l), w), cents)
}

func strangerChargedBack(b *builder) {
	l := b.unknown()
	cents := l.Cost.Cents + 1500
	b.bill(l, week(l), Charge{Chargeback, cents}).Late = true
	b.expect("chargeback", l, b.weekly(b.accountOf(l), week(l)), cents)
}

func cameLate(b *builder) {
	l := b.billed()
	w := b.after(l)
	back := l.Cost.Cents
	if b.chance.IntN(2) == 0 {
		back = b.share(back)
	}
	b.bill(l, w, Charge{ServiceCredit, -back}).Late = true
	b.expect("credit_unexpected", l, b.weekly(b.accountOf(l), w), -back)
}

func relabelled(b *builder) {
	l := b.buy(b.account())
	x := b.bill(l, week(l), b.price(l.Cost.Cents)...)
	x.OriginalNo, x.TrackingNo = l.TrackingNo, b.freshNumber(b.accountOf(l))
}

func twoCurrencies(b *builder) {
	l := b.billed()
	second := b.buy(b.accountOf(l))
	second.BoughtAt = l.BoughtAt
	second.Cost.Currency = "CHF"
	a := b.accountOf(second)
	a.currency = second.Cost.Currency
	inv := b.weekly(a, week(second))
	inv.Second = true
	b.billOn(inv, second, b.price(second.Cost.Cents)...)
}

// unknown is a label that somebody else bought: we know nothing of it.
func (b *builder) unknown() *Label {
	l := b.buy(b.account())
	b.labels = b.labels[:len(b.labels)-1]
	// Somebody typed a name where the reference belongs.
	l.Reference = b.person().name
	return l
}

func stranger(b *builder) {
	l := b.unknown()
	if b.Options.Dialect == EasyPostInvoice {
		b.bill(l, week(l), Charge{Correction, l.Cost.Cents})
	} else {
		b.bill(l, week(l), b.price(l.Cost.Cents)...)
	}
	b.expect("billed_no_label", l, b.weekly(b.accountOf(l), week(l)), l.Cost.Cents)
}

func unbilled(b *builder) {
	l := b.buy(b.account())
	b.expect("never_billed", l, nil, -l.Cost.Cents)
}

func fresh(b *builder) {
	l := b.buy(b.account())
	l.BoughtAt = asOf.Add(-40 * time.Hour)
	b.expect("pending", l, nil, -l.Cost.Cents)
}

func recycled(b *builder) {
	a := b.account()
	old, l := b.buy(a), b.buy(a)
	old.TrackingNo = l.TrackingNo
	old.BoughtAt = l.BoughtAt.AddDate(-1, 0, -3)
	b.bill(old, week(old), b.price(old.Cost.Cents)...)
	b.bill(l, week(l), b.price(l.Cost.Cents)...)
}

func severalLabels(b *builder) {
	a := b.account()
	first, second := b.buy(a), b.buy(a)
	second.TrackingNo = first.TrackingNo
	second.BoughtAt = first.BoughtAt.Add(time.Hour)
	b.bill(first, week(first), b.price(first.Cost.Cents)...)
	b.expect("ambiguous_match", first, b.weekly(a, week(first)), 0)
}

func boughtTwice(b *builder) {
	first, second := b.billed(), b.billed()
	if second.BoughtAt.Before(first.BoughtAt) {
		first, second = second, first
	}
	second.OrderID, second.ParcelNo, second.Version = first.OrderID, first.ParcelNo, 2
	b.expect("double_purchase", second, nil, second.Cost.Cents)
}

func doubtSettled(b *builder) {
	l := b.billed()
	l.InDoubt = true
	b.expect("intent_settled", l, b.weekly(b.accountOf(l), week(l)), 0)
}

func unknownCharge(b *builder) {
	l := b.buy(b.account())
	odd := b.share(l.Cost.Cents)
	b.bill(l, week(l), append(b.price(l.Cost.Cents), Charge{Unknown, odd})...)
	b.expect("unknown_charge", l, b.weekly(b.accountOf(l), week(l)), odd)
}

func otherCurrency(b *builder) {
	l := b.buy(b.account())
	b.bill(l, week(l), b.price(l.Cost.Cents)...)
	inv := b.weekly(b.accountOf(l), week(l))
	l.Cost.Currency = "CHF"
	b.expect("currency_mismatch", l, inv, 0)
}

func taxed(b *builder) {
	l := b.buy(b.account())
	b.bill(l, week(l), append(b.price(l.Cost.Cents), Charge{Tax, b.share(l.Cost.Cents)})...)
}

func multiPiece(b *builder) {
	a := b.account()
	lead := b.buy(a)
	for i := range 3 {
		l := lead
		if i > 0 {
			l = b.buy(a)
			l.OrderID, l.ParcelNo, l.BoughtAt = lead.OrderID, int32(i+1), lead.BoughtAt
		}
		b.bill(l, week(l), b.price(l.Cost.Cents)...).MasterNo = lead.TrackingNo
	}
}

func leadPays(b *builder) {
	a := b.account()
	lead := b.buy(a)
	pieces := []*Label{lead, b.buy(a), b.buy(a)}
	all := int64(0)
	for i, l := range pieces {
		l.OrderID, l.ParcelNo, l.BoughtAt = lead.OrderID, int32(i+1), lead.BoughtAt
		all += l.Cost.Cents
	}
	for i, l := range pieces {
		charges := []Charge{{Freight, 0}}
		if i == 0 {
			charges = b.price(all)
		}
		b.bill(l, week(lead), charges...).MasterNo = lead.TrackingNo
	}
}

func notPreviouslyBilled(b *builder) {
	l := b.buy(b.account())
	b.bill(l, b.after(l), Charge{Freight, l.Cost.Cents}).Late = true
}

func fee(b *builder) {
	a := b.account()
	inv := b.weekly(a, 1+b.chance.IntN(latest))
	cents := 500 + b.chance.Int64N(4000)
	inv.Billings = append(inv.Billings, Billing{
		Day: inv.Date.AddDate(0, 0, -2), Charges: []Charge{{InvoiceLevel, cents}}, Person: b.person(),
	})
	b.expect("invoice_level_charge", &Label{Account: a.printed}, inv, cents)
}

func corruptedID(b *builder) {
	l := b.billed()
	inv := b.weekly(b.accountOf(l), week(l))
	billing := &inv.Billings[len(inv.Billings)-1]
	billing.TrackingNo = fmt.Sprintf("%d.%02dE+11", 1+b.chance.IntN(9), b.chance.IntN(100))
	billing.refused = true
	b.expect("never_billed", l, nil, -l.Cost.Cents)
}
