package reconcile

import (
	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// Allowance is how far an amount may differ. An amount within either bound is within it.
type Allowance struct {
	// Cents is an amount in minor units; BasisPoints a share of what was expected, in hundredths of
	// a percent.
	Cents       int64
	BasisPoints int64
}

// whole is all of an amount, in basis points.
const whole = 10_000

// covers tells whether a difference, which is not negative, is within the allowance.
func (a Allowance) covers(difference, expected int64) bool {
	// Divided, not multiplied: a share of a very large amount must not overflow.
	share := expected/whole*a.BasisPoints + expected%whole*a.BasisPoints/whole
	return difference <= max(a.Cents, share)
}

// Tolerance is how much more and how much less may be billed than expected, each on its own.
type Tolerance struct {
	Over, Under Allowance
}

// Price is the kind under which [Rules] keep the tolerance for a label's price as a whole.
const Price invoice.Kind = "price"

// tolerates tells whether a difference asks nobody to act. It stays in the totals.
func (r Rules) tolerates(kind invoice.Kind, difference int64, cost carrier.Money) bool {
	t, ok := r.Tolerances[kind]
	switch {
	case !ok:
		return false
	case difference < 0:
		return t.Under.covers(-difference, cost.Cents)
	default:
		return t.Over.covers(difference, cost.Cents)
	}
}

// toleratesAll tells whether every one of some corrections is of a kind that may differ by so much as
// all of that kind do.
func (r Rules) toleratesAll(charges []*Charge, cost carrier.Money) bool {
	byKind := make(map[invoice.Kind]int64)
	for _, c := range charges {
		if c.Amount.Currency != cost.Currency {
			return false
		}
		byKind[c.Kind] += c.Amount.Cents
	}
	for kind, cents := range byKind {
		if !r.tolerates(kind, cents, cost) {
			return false
		}
	}
	return len(byKind) > 0
}
