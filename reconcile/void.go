package reconcile

import (
	"slices"

	"waybill/reconcile/invoice"
)

// voided judges a label that was cancelled: what is charged must come back. Credits that give back a
// part reduce what is asked for, the earliest bill first.
func (j *judgement) voided(l *Label, bills []*bill) LabelState {
	back := make(map[string]int64)
	var asked [][]*Charge
	for _, b := range bills {
		var charged []*Charge
		for _, c := range slices.Concat(b.price, b.corrections, b.voids, b.services, b.chargebacks) {
			j.place(c, VoidCharged)
			if role := roleOf(c.Line); role == ofVoid || role == ofService {
				back[c.Amount.Currency] -= c.Amount.Cents
			} else {
				charged = append(charged, c)
			}
		}
		switch total := sum(charged); {
		case total.Cents > 0:
			asked = append(asked, charged)
		default:
			back[total.Currency] -= total.Cents
		}
	}
	state := VoidedClean
	for _, charged := range asked {
		total := sum(charged)
		taken := min(total.Cents, back[total.Currency])
		back[total.Currency] -= taken
		if taken == total.Cents {
			continue
		}
		state = VoidedBilled
		f := j.afterVoid(l, charged)
		expected := total
		expected.Cents = taken
		j.find(f.naming(*l).expecting(expected))
	}
	return state
}

// afterVoid is the finding for a charge that has to come back. An invoice that is older than the void
// could not know of it: the credit comes on a later one.
func (j *judgement) afterVoid(l *Label, charged []*Charge) Finding {
	day := invoice.DateOf(l.VoidedAt, j.Zone)
	if charged[0].InvoiceDate >= day {
		return aboutLines(BilledVoided, Error, InvoicedAfterVoid, charged)
	}
	severity := Warning
	if int(j.AsOf-day) < j.GraceDays {
		severity = Info
	}
	return aboutLines(VoidCreditMissing, severity, InvoicedBeforeVoid, charged)
}
