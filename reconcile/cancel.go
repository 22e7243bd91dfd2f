package reconcile

import "slices"

// cancel takes out of a label's bills what is nothing together, a charge and the credit that gives it
// back, before anything is counted: a rebill and its credit are no double charge. It returns the void
// credits, and the negative charges, that were used.
//
// A single line that a credit matches to the cent is the best evidence, then all of a bill by all that
// one invoice credits, then all of a bill by one credit. A credit for service, or a correction, takes back
// only a bill that was one too many: what it gives back of the only bill is a discount on it.
func (j *judgement) cancel(bills []*bill) (credits []*Charge) {
	for _, b := range bills {
		for _, credit := range slices.Concat(b.price, b.voids) {
			if credit.Amount.Cents < 0 && j.cancelLine(bills, b, credit) {
				credits = append(credits, credit)
			}
		}
	}
	for _, b := range bills {
		if sum(b.price).Cents < 0 && b.freight() == nil {
			// Nothing but negative charges: they give back what another invoice asked for.
			b.voids, b.price = append(b.voids, b.price...), nil
		}
	}
	for _, b := range bills {
		if j.cancelBill(bills, b.voids, 0) {
			credits = append(credits, b.voids...)
			b.voids = nil
		}
		for _, credit := range slices.Clone(b.voids) {
			if j.cancelBill(bills, []*Charge{credit}, 0) {
				credits = append(credits, credit)
				b.voids = without(b.voids, []*Charge{credit})
			}
		}
		for _, credit := range slices.Clone(b.services) {
			if j.cancelBill(bills, []*Charge{credit}, 1) {
				b.services = without(b.services, []*Charge{credit})
			}
		}
		// A credit note gives back what was billed once too often; of the only bill it is a correction.
		if j.cancelBill(bills, b.corrections, 1) {
			b.corrections = nil
		}
	}
	return credits
}

// cancelLine finds the latest line that a credit gives back to the cent. A void gives back a charge of
// any kind, a negative charge only one of its own.
func (j *judgement) cancelLine(bills []*bill, of *bill, credit *Charge) bool {
	void := roleOf(credit.Line) == ofVoid
	for _, b := range slices.Backward(bills) {
		for _, c := range slices.Backward(b.price) {
			if c.Amount.Cents != -credit.Amount.Cents || c.Amount.Currency != credit.Amount.Currency ||
				!void && c.Kind != credit.Kind {
				continue
			}
			j.place(c, Cancelled)
			j.place(credit, Cancelled)
			b.price = without(b.price, []*Charge{c})
			of.price = without(of.price, []*Charge{credit})
			of.voids = without(of.voids, []*Charge{credit})
			return true
		}
	}
	return false
}

// cancelBill finds the latest bill that credits give back to the cent, and leaves so many bills alone.
func (j *judgement) cancelBill(bills []*bill, credits []*Charge, spare int) bool {
	back := sum(credits)
	if back.Cents >= 0 {
		return false
	}
	carrying := 0
	for _, b := range bills {
		if b.carries() {
			carrying++
		}
	}
	for _, b := range slices.Backward(bills) {
		total := sum(b.price)
		if carrying <= spare || total.Cents != -back.Cents || total.Currency != back.Currency || !b.carries() {
			continue
		}
		for _, c := range slices.Concat(b.price, credits) {
			j.place(c, Cancelled)
		}
		b.price = nil
		return true
	}
	return false
}
