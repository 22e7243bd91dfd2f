package report

import (
	"fmt"
	"maps"
	"slices"

	"waybill/reconcile"
)

// rollforward is what became of the labels bought in one currency: the states add up to them.
type rollforward struct {
	Currency   string           `json:"currency"`
	Bought     rollforwardSum   `json:"bought"`
	States     []rollforwardRow `json:"states"`
	Difference rollforwardSum   `json:"difference"`
}

type rollforwardSum struct {
	Labels int64        `json:"labels"`
	Cost   summaryMoney `json:"cost"`
}

type rollforwardRow struct {
	State  reconcile.LabelState `json:"state"`
	Labels int64                `json:"labels"`
	Cost   summaryMoney         `json:"cost"`
}

// rollForward holds how the labels stand against what was bought, and refuses if it is not the same:
// then a label was lost on the way or judged twice, and no number of the report may be believed.
func rollForward(bought []Bought, stand []reconcile.LabelTotal) ([]rollforward, error) {
	left := make(map[string]*rollforward)
	at := func(currency string) *rollforward {
		if left[currency] == nil {
			left[currency] = &rollforward{Currency: currency}
		}
		return left[currency]
	}
	for _, b := range bought {
		r := at(b.Currency)
		r.Bought.Labels += b.Labels
		r.Bought.Cost.Minor += b.Cents
	}
	for _, s := range stand {
		r := at(s.Currency)
		r.States = append(r.States, rollforwardRow{State: s.State, Labels: s.Count, Cost: money(s.Cents, s.Currency)})
	}
	var out []rollforward
	for _, currency := range slices.Sorted(maps.Keys(left)) {
		r := left[currency]
		r.Difference = r.Bought
		for _, s := range r.States {
			r.Difference.Labels -= s.Labels
			r.Difference.Cost.Minor -= s.Cost.Minor
		}
		r.Bought.Cost = money(r.Bought.Cost.Minor, currency)
		r.Difference.Cost = money(r.Difference.Cost.Minor, currency)
		if r.Difference.Labels != 0 || r.Difference.Cost.Minor != 0 {
			return nil, fmt.Errorf("rolling labels forward: %d labels for %s %s were bought, of which %d for %s are not accounted for",
				r.Bought.Labels, r.Bought.Cost.Decimal, currency, r.Difference.Labels, r.Difference.Cost.Decimal)
		}
		out = append(out, *r)
	}
	return out, nil
}

// checkFooting refuses invoices whose buckets do not hold what was read, the carrier's rounding
// included, and those of which the difference is not what parts them from the stated total. It trusts
// nobody to have checked it before.
func checkFooting(invoices []*reconcile.Invoice) error {
	for _, i := range invoices {
		placed := total(&i.Buckets)
		if placed.Count != i.Lines.Count || placed.Cents != i.Lines.Cents+i.RoundedCents {
			return fmt.Errorf("footing invoice %s: its buckets hold %d lines for %d minor units, and %d for %d were read",
				i.InvoiceNo, placed.Count, placed.Cents, i.Lines.Count, i.Lines.Cents+i.RoundedCents)
		}
		if !i.Unstated && i.Difference() != i.StatedCents-placed.Cents {
			return fmt.Errorf("footing invoice %s: a difference of %d minor units is told, and it is %d",
				i.InvoiceNo, i.Difference(), i.StatedCents-placed.Cents)
		}
	}
	return nil
}
