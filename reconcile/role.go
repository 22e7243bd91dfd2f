package reconcile

import "waybill/reconcile/invoice"

// role is what a line is to the label that it belongs to.
type role int

const (
	// ofPrice: a part of what the label costs; all parts together are held against the cost.
	ofPrice role = iota

	// ofCorrection: changes the price afterwards.
	ofCorrection

	// ofVoid: gives a cancelled label's price back.
	ofVoid

	// ofService: gives money back for another reason.
	ofService

	// ofChargeback: what another should have paid.
	ofChargeback

	// ofNone: no part of any label's price, whatever number the line bears.
	ofNone
)

// roleOf tells what a line is to its label.
func roleOf(l invoice.Line) role {
	switch {
	case l.Kind.InPrice() && l.Correction:
		return ofCorrection
	case l.Kind.InPrice():
		return ofPrice
	}
	switch l.Kind {
	case invoice.Adjustment, invoice.AddressCorrection, invoice.Weight:
		return ofCorrection
	case invoice.VoidCredit:
		return ofVoid
	case invoice.ServiceCredit:
		return ofService
	case invoice.Chargeback:
		return ofChargeback
	default:
		return ofNone
	}
}

// apart is the bucket of a line that is no label's.
func apart(k invoice.Kind) Bucket {
	switch k {
	case invoice.Tax, invoice.Duty, invoice.Brokerage:
		return Taxes
	case invoice.InvoiceLevel:
		return InvoiceLevel
	case invoice.Rounding:
		return Rounding
	default:
		return Unknown
	}
}
