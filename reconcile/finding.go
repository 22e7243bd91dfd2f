package reconcile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// Kind names what a finding is about. The names are part of the output's schema.
type Kind string

// The kinds of findings.
const (
	// About an input: what was read is not all, or not true.

	FileUnreadable    Kind = "file_unreadable"
	ColumnMissing     Kind = "column_missing"
	RowRejected       Kind = "row_rejected"
	IDCorrupted       Kind = "id_corrupted"
	InvoiceNotFooting Kind = "invoice_not_footing"
	InvoiceChanged    Kind = "invoice_changed"
	InvoiceResent     Kind = "invoice_resent"
	RoundedTotal      Kind = "rounding"
	TaxOrDuty         Kind = "tax_or_duty"

	InvoiceExpectedMissing Kind = "invoice_expected_missing"
	AccountUnknown         Kind = "account_unknown"

	// About a charge.

	BilledTwice           Kind = "billed_twice"
	PossibleDuplicateLine Kind = "possible_duplicate_line"
	BilledNoLabel         Kind = "billed_no_label"
	BilledVoided          Kind = "billed_voided"
	OverBilled            Kind = "over_billed"
	UnderBilled           Kind = "under_billed"
	WithinTolerance       Kind = "within_tolerance"
	CurrencyMismatch      Kind = "currency_mismatch"
	AmbiguousMatch        Kind = "ambiguous_match"
	Adjustment            Kind = "adjustment"
	LateAdjustment        Kind = "late_adjustment"
	Chargeback            Kind = "chargeback"
	CreditUnexpected      Kind = "credit_unexpected"
	VoidCreditMissing     Kind = "void_credit_missing"
	InvoiceLevelCharge    Kind = "invoice_level_charge"
	UnknownCharge         Kind = "unknown_charge"

	// About a label.

	NeverBilled Kind = "never_billed"
	Pending     Kind = "pending"

	// About our own records.

	LabelWithoutKey     Kind = "label_without_key"
	KeyWithoutLabel     Kind = "key_without_label"
	KeyLabelMismatch    Kind = "key_label_mismatch"
	IntentWithoutLabel  Kind = "intent_without_label"
	IntentLabelMismatch Kind = "intent_label_mismatch"
	DoublePurchase      Kind = "double_purchase"
	DoubtUnbilled       Kind = "doubt_unbilled"
	IntentSettled       Kind = "intent_settled"
)

// Distrusts tells whether a finding of this kind means that the inputs cannot be relied upon, and
// with them the rest of the report.
func (k Kind) Distrusts() bool {
	switch k {
	case FileUnreadable, ColumnMissing, RowRejected, IDCorrupted, InvoiceNotFooting, InvoiceChanged:
		return true
	default:
		return false
	}
}

// Severity says who has to look.
type Severity string

// The severities. Info is for the record: it asks nobody to act and changes no exit status.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one thing that reconciliation wants a person to see.
type Finding struct {
	// ID is the same on every run that finds the same thing.
	ID       string
	Kind     Kind
	Severity Severity
	Why      Reason

	Carrier     string
	Account     string
	InvoiceNo   string
	InvoiceDate invoice.Date
	LineNo      string
	TrackingNo  string
	Reference   string

	OrderID        int64
	ParcelNo       int32
	LabelVersion   int32
	LabelID        string
	IntentID       string
	CallerID       string
	IdempotencyKey string

	// Billed is what the invoice asks, Expected what it should ask, Difference what is disputed.
	// Where currencies differ there is no difference: they are never netted.
	Billed     carrier.Money
	Expected   carrier.Money
	Difference carrier.Money

	// OtherInvoiceNo is the invoice with the charge that counts, where this one is a further charge
	// for the same label; VoidedAt is when the carrier confirmed that the label is void, or zero.
	// Both are evidence for a claim.
	OtherInvoiceNo string
	VoidedAt       time.Time

	// Content tells the content of the copy of an invoice that the finding is about, for who accepts it; 0
	// for all other findings.
	Content int64

	// Text is the carrier's own name of the charge; Advice says what to do about an input.
	Text   string
	Advice string

	Source invoice.Source

	// State is where the finding is in its life; FirstSeen the as-of day of the run that found it first.
	State     State
	FirstSeen invoice.Date

	// DisputeBy is the last day on which the carrier takes a claim; 0 where nothing is to be claimed.
	DisputeBy invoice.Date
}

// State is where a finding is in its life. A run makes it new, open or cleared; a person, by
// `reconcile findings`, the others.
type State string

// The states of findings.
const (
	New          State = "new"
	Open         State = "open"
	Acknowledged State = "acknowledged"
	Disputed     State = "disputed"
	CreditedBack State = "credited"
	Cleared      State = "cleared"
)

// findingID names a finding by its kind and what it is about, never by when or in which file it was
// found. Each part is framed by its length: "ab","c" and "a","bc" are not the same.
func findingID(kind Kind, identity ...string) string {
	h := sha256.New()
	var length [8]byte
	for _, part := range append([]string{string(kind)}, identity...) {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return "F-" + hex.EncodeToString(h.Sum(nil)[:10])
}

// aboutLine starts a finding about one charge.
func aboutLine(kind Kind, severity Severity, why Reason, c Charge) Finding {
	return Finding{
		ID: findingID(kind, c.Carrier, c.Account, c.InvoiceNo, c.LineNo, c.TrackingNo,
			decimal(c.Copy)),
		Kind:        kind,
		Severity:    severity,
		Why:         why,
		Carrier:     c.Carrier,
		Account:     c.Account,
		InvoiceNo:   c.InvoiceNo,
		InvoiceDate: c.InvoiceDate,
		LineNo:      c.LineNo,
		TrackingNo:  c.TrackingNo,
		Reference:   c.Reference,
		Billed:      c.Amount,
		Text:        c.Text,
		Source:      c.Source,
	}
}

// aboutLines starts a finding about charges that are one matter; the first gives it its name.
func aboutLines(kind Kind, severity Severity, why Reason, charges []*Charge) Finding {
	f := aboutLine(kind, severity, why, *charges[0])
	f.Billed = sum(charges)
	// What the most of the money is for says best what it is about.
	f.Text = slices.MaxFunc(charges, func(a, b *Charge) int {
		return cmp.Compare(magnitude(a.Amount.Cents), magnitude(b.Amount.Cents))
	}).Text
	return f
}

func magnitude(cents int64) int64 { return max(cents, -cents) }

// aboutLabel starts a finding about one label.
func aboutLabel(kind Kind, severity Severity, why Reason, l Label) Finding {
	f := Finding{
		ID:         findingID(kind, l.LabelID),
		Kind:       kind,
		Severity:   severity,
		Why:        why,
		Carrier:    l.Carrier,
		Account:    l.Account,
		TrackingNo: l.TrackingNo,
	}
	return f.naming(l)
}

// naming adds whose label it is.
func (f Finding) naming(l Label) Finding {
	f.Reference = l.Reference
	f.OrderID, f.ParcelNo, f.LabelVersion = l.OrderID, l.ParcelNo, l.LabelVersion
	f.LabelID, f.IntentID = l.LabelID, l.IntentID
	f.CallerID, f.IdempotencyKey = l.CallerID, l.IdempotencyKey
	f.VoidedAt = l.VoidedAt
	return f
}

// expecting adds what should have been billed, and the difference where there can be one.
func (f Finding) expecting(m carrier.Money) Finding {
	f.Expected = m
	if f.Billed.Currency == "" || f.Billed.Currency == m.Currency {
		f.Difference = carrier.Money{Cents: f.Billed.Cents - m.Cents, Currency: m.Currency}
	}
	return f
}

// nothingExpected says that the whole charge is in dispute.
func (f Finding) nothingExpected() Finding {
	return f.expecting(carrier.Money{Currency: f.Billed.Currency})
}
