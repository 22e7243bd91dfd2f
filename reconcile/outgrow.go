package reconcile

import (
	"fmt"

	"waybill/carrier"
)

// Stake is what a finding was about when somebody last looked at it: how bad it was, and how much money.
type Stake struct {
	Severity Severity
	// Billed and Difference are in minor units of Currency, which is empty where it is not about money.
	Billed     int64
	Difference int64
	Currency   string
}

// Stake is what the finding is about now. The currency is that of the difference, else of what was billed.
func (f Finding) Stake() Stake {
	s := Stake{Severity: f.Severity, Billed: f.Billed.Cents, Difference: f.Difference.Cents}
	for _, m := range []carrier.Money{f.Difference, f.Billed, f.Expected} {
		if s.Currency == "" {
			s.Currency = m.Currency
		}
	}
	return s
}

// Outgrows tells whether a finding is more than what a person decided about: more money, money in another
// currency or the other way round, or worse. It says what changed. Less of the same is covered by what was
// decided.
//
// A finding's id holds no amount, so that it is the same every night; without this the decision about
// one unit would hide a thousand.
func (s Stake) Outgrows(was Stake) (why string, outgrown bool) {
	now, before := s.amount(), was.amount()
	switch {
	case s.Currency != was.Currency:
		return fmt.Sprintf("was about %s, is about %s", was.text(), s.text()), true
	case now != 0 && (now < 0) != (before < 0) || magnitude(now) > magnitude(before):
		return fmt.Sprintf("grew from %s to %s", was.text(), s.text()), true
	case rank(s.Severity) < rank(was.Severity):
		return fmt.Sprintf("was %s, is %s: %s", was.Severity, s.Severity, s.text()), true
	}
	return "", false
}

// amount is what is in dispute; where nothing is, as between two currencies, what was billed.
func (s Stake) amount() int64 {
	if s.Difference != 0 {
		return s.Difference
	}
	return s.Billed
}

func (s Stake) text() string {
	if s.Currency == "" {
		return "no money"
	}
	return carrier.Money{Cents: s.amount(), Currency: s.Currency}.Decimal() + " " + s.Currency
}
