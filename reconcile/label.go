// Package reconcile judges what carriers bill against what was bought: invoice lines and labels in,
// buckets and findings out.
//
// The rules are pure. They open no file and no database, read no clock and know no carrier's
// format, so the same inputs always give the same findings. They stream: what is held in memory
// grows with the number of invoices, never with the number of lines or labels.
//
// It promises that every line lands in exactly one bucket, so that an invoice's buckets add up to
// the total it states, to the cent, or the invoice is reported.
package reconcile

import (
	"time"

	"waybill/carrier"
)

// Label is what was bought, as far as an invoice can tell.
type Label struct {
	LabelID  string
	IntentID string

	Carrier    string
	Account    string
	TrackingNo string
	Reference  string

	// Shipment names what has to be judged together: see [Group].
	Shipment string

	OrderID      int64
	ParcelNo     int32
	LabelVersion int32

	CallerID       string
	IdempotencyKey string

	Cost     carrier.Money
	BoughtAt time.Time

	// VoidedAt is zero for a label that is not void, as far as the carrier has confirmed.
	VoidedAt time.Time
}

// KeyRecord is an idempotency key's saved state.
type KeyRecord struct {
	// Carrier is that of the key's intent; of a key whose intent is gone, the carrier whose run looks at it.
	Carrier string

	CallerID       string
	IdempotencyKey string
	Completed      bool

	// Status is the saved answer's status; 0 while there is none.
	Status int

	// AnsweredLabelID and AnsweredTrackingNo are what a saved 201 tells the caller; both are
	// empty if it cannot be read.
	AnsweredLabelID    string
	AnsweredTrackingNo string
}

// Intent is a label intent's final word, for comparison with its label.
type Intent struct {
	IntentID  string
	Purchased bool
	LabelID   string
}

// Hint is what a line's reference names, for a line whose tracking number names nothing. It is
// shown to a person and never counted as a match.
type Hint struct {
	IntentID     string
	OrderID      int64
	ParcelNo     int32
	LabelVersion int32
	CallerID     string

	// Labelled is true if the intent has a label.
	Labelled bool
}
