// Package invoice is the vocabulary of carriers' invoices: a charge line, its civil dates and
// amounts, the guards every identifier passes, and what a dialect is.
//
// It is a leaf that a carrier's package may import to describe its own dialect without meeting the
// rules that judge the lines. It knows no file format, no label and no database.
package invoice

import (
	"strconv"

	"waybill/carrier"
)

// Kind says what a line charges for.
type Kind string

// The kinds of lines.
const (
	// Freight is the price of one label: all that was known when it was bought. A label has one.
	Freight Kind = "freight"

	// Adjustment corrects a price afterwards (weight, address, residential), either way.
	Adjustment Kind = "adjustment"

	// VoidCredit gives back the price of a label that was cancelled. It is never positive.
	VoidCredit Kind = "void_credit"

	// Tax is tax or duty, which a label's price does not include.
	Tax Kind = "tax"

	// InvoiceLevel belongs to the invoice and to no label: a weekly fee, a late fee.
	InvoiceLevel Kind = "invoice_level"
)

// ParseKind reads a kind as files spell it.
func ParseKind(s string) (Kind, bool) {
	switch k := Kind(s); k {
	case Freight, Adjustment, VoidCredit, Tax, InvoiceLevel:
		return k, true
	default:
		return "", false
	}
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

	// LineNo tells the lines of an invoice apart, so that a finding keeps its id when the same
	// invoice comes again in another file.
	LineNo string

	Kind Kind

	// TrackingNo is empty where a line belongs to no label. Carriers use numbers again.
	TrackingNo string

	// Reference is ours where the carrier prints it.
	Reference string

	// ShipDate is 0 where the invoice does not say.
	ShipDate Date

	// Text is the carrier's own name of the charge.
	Text string

	Amount carrier.Money

	// StatedCents is the invoice's total as the invoice states it, in the currency of Amount.
	StatedCents int64
}

// Date is the day on which the charge arose, as well as the invoice tells.
func (l Line) Date() Date {
	if l.ShipDate != 0 {
		return l.ShipDate
	}
	return l.InvoiceDate
}
