package reconcile

// Bucket is where a line's money goes. Every line is in exactly one.
type Bucket int

// The buckets, in the order in which they are reported.
const (
	// Matched: the label's one charge, in one line or several, at the label's cost.
	Matched Bucket = iota

	// Differs: the label's one charge, at another amount or in another currency.
	Differs

	// NoLabel: a charge or credit for no label of ours.
	NoLabel

	// Ambiguous: a charge that several labels could have caused.
	Ambiguous

	// Duplicate: a label's second, third, … charge.
	Duplicate

	// VoidCharged: charges and credits of a label that was voided.
	VoidCharged

	// Cancelled: a charge and the credit that takes it back, together nothing.
	Cancelled

	// Adjusted: corrections and credits after the fact.
	Adjusted

	// Taxes: tax and duty.
	Taxes

	// InvoiceLevel: what belongs to the invoice and no label.
	InvoiceLevel

	// Unknown: charges that the dialect does not know.
	Unknown

	// Tolerated: a label's one charge, or a correction, that differs by no more than the rules allow.
	Tolerated

	// Rounding: what the carrier's own rounding leaves between the lines and the stated total, as a line
	// of its own or as what is missing.
	Rounding

	// Buckets is how many there are.
	Buckets
)

var bucketNames = [Buckets]string{
	Matched:      "matched",
	Differs:      "amount_differs",
	NoLabel:      "no_label",
	Ambiguous:    "ambiguous",
	Duplicate:    "duplicate",
	VoidCharged:  "voided",
	Cancelled:    "cancelled",
	Adjusted:     "adjustments",
	Taxes:        "tax",
	InvoiceLevel: "invoice_level",
	Unknown:      "unknown",
	Tolerated:    "within_tolerance",
	Rounding:     "rounding",
}

// String is the bucket's name in the outputs.
func (b Bucket) String() string { return bucketNames[b] }
