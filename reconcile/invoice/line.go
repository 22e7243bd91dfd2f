// Package invoice is the vocabulary of carriers' invoices: a charge line, its civil dates and
// amounts, the guards every identifier passes, and what a dialect is.
//
// It is a leaf that a carrier's package may import to describe its own dialect without meeting the
// rules that judge the lines. It knows no file format, no label and no database.
package invoice

import (
	"slices"
	"strconv"

	"waybill/carrier"
)

// Kind says what a line charges for, in words that all carriers share.
type Kind string

// The kinds of lines that make up a label's price: what was known, or could have been, when it was
// bought. Their sum is held against the label's cost.
const (
	// Freight is the carriage itself. A label has one; where a carrier bills one amount for
	// everything, it is this.
	Freight Kind = "freight"

	Fuel        Kind = "fuel"
	Residential Kind = "residential"
	Area        Kind = "area"
	Return      Kind = "return"

	// Accessorial is every other surcharge that belongs to a label.
	Accessorial Kind = "accessorial"
)

// The kinds that come after the price, and those that are no label's.
const (
	// Adjustment corrects a price afterwards, either way, where the carrier does not say which part.
	Adjustment Kind = "adjustment"

	// AddressCorrection and Weight are the two corrections that carriers name.
	AddressCorrection Kind = "address_correction"
	Weight            Kind = "weight"

	// VoidCredit gives back the price of a label that was cancelled. It is never positive.
	VoidCredit Kind = "void_credit"

	// ServiceCredit gives money back for another reason: a late delivery, a claim.
	ServiceCredit Kind = "service_credit"

	// Chargeback bills the shipper for what another should have paid, often months later.
	Chargeback Kind = "chargeback"

	// Tax, Duty and Brokerage are not in a label's price.
	Tax       Kind = "tax"
	Duty      Kind = "duty"
	Brokerage Kind = "brokerage"

	// InvoiceLevel belongs to the invoice and to no label: a weekly fee, a late fee.
	InvoiceLevel Kind = "invoice_level"

	// Rounding is what an invoice's stated total and its lines are apart where its carrier rounds each
	// on its own: one minor unit, either way, and no label's.
	Rounding Kind = "rounding"

	// Unknown is a charge that the dialect does not know. It is kept, counted and reported.
	Unknown Kind = "unknown"
)

// Kinds are all kinds, in the order in which documents list them.
func Kinds() []Kind {
	return []Kind{
		Freight, Fuel, Residential, Area, Return, Accessorial, Adjustment, AddressCorrection, Weight,
		VoidCredit, ServiceCredit, Chargeback, Tax, Duty, Brokerage, InvoiceLevel, Rounding, Unknown,
	}
}

// PriceKinds are the kinds that make up a label's price.
func PriceKinds() []Kind { return []Kind{Freight, Fuel, Residential, Area, Return, Accessorial} }

// InPrice tells whether charges of this kind make up a label's price.
func (k Kind) InPrice() bool { return slices.Contains(PriceKinds(), k) }

// ParseKind reads a kind as files spell it.
func ParseKind(s string) (Kind, bool) {
	k := Kind(s)
	return k, slices.Contains(Kinds(), k)
}

// Source is where a line was read: a file's name without its folder, and the row as an editor
// counts it, the header being row 1.
type Source struct {
	File string
	Row  int
}

// String is "file:row", or the file alone where no single row is meant.
func (s Source) String() string {
	if s.Row == 0 {
		return s.File
	}
	return s.File + ":" + strconv.Itoa(s.Row)
}

// Line is one charge or credit of an invoice. Identifiers are text and never pass through a
// number; names and addresses of people have no place in it.
type Line struct {
	Source Source

	Carrier     string
	Account     string
	InvoiceNo   string
	InvoiceDate Date

	// OriginalInvoiceNo is the invoice that this one corrects, where it says so.
	OriginalInvoiceNo string

	// LineNo tells the lines of an invoice apart, so that a finding keeps its id when the same
	// invoice comes again in another file.
	LineNo string

	Kind Kind

	// Correction is true for a line that corrects an earlier charge of its kind, either way: a rebilled
	// weight, a fuel surcharge that follows it.
	Correction bool

	// Informative is true for a line whose amount repeats what other lines say (UPS calls it INF). Such
	// lines count only where the invoice adds up to its stated total with them and not without.
	Informative bool

	// TrackingNo is empty where a line belongs to no label. Carriers use numbers again.
	TrackingNo string

	// MasterTrackingNo is the number of the shipment that the parcel is a piece of; empty if it is
	// the only one or the invoice does not say.
	MasterTrackingNo string

	// OriginalTrackingNo is the number that this one replaced, where the carrier labelled anew.
	OriginalTrackingNo string

	// Reference is ours where the carrier prints it, else empty: see [OurReference].
	Reference string

	// ShipDate is 0 where the invoice does not say.
	ShipDate Date

	// Text is the carrier's own name of the charge.
	Text string

	Amount carrier.Money

	// StatedCents is the invoice's total as the invoice states it, in the currency of Amount.
	StatedCents int64

	// Unstated is true where the file states no total for the line's invoice in the line's currency, so
	// that nothing can be held against the sum of its lines. StatedCents is 0 then.
	Unstated bool
}

// Date is the day on which the charge arose, as well as the invoice tells.
func (l Line) Date() Date {
	if l.ShipDate != 0 {
		return l.ShipDate
	}
	return l.InvoiceDate
}
