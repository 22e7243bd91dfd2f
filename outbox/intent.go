package outbox

import (
	"encoding/base32"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/google/uuid"

	"waybill/carrier"
)

// State is where a label intent stands.
type State string

// The states. Purchased, Rejected and Failed are final; an intent reaches exactly one of the last four.
const (
	Pending   State = "pending"
	Purchased State = "purchased"
	Rejected  State = "rejected"
	Failed    State = "failed"
	InDoubt   State = "in_doubt"
)

// Settler is who decides about an intent in doubt.
type Settler string

// A job looks it up; or an invoice or a person decides, and no job touches it.
const (
	SettledByLookup Settler = "lookup"
	SettledByPerson Settler = "person"
)

// Parcel is the business key: at most one intent ever exists for it.
type Parcel struct {
	OrderID      int64
	ParcelNo     int32
	LabelVersion int32
}

// Submission is one request that is authenticated, validated and canonical.
type Submission struct {
	CallerID string

	// Key is the bare idempotency key, scoped to the caller.
	Key string

	// Fingerprint is SHA-256 over method, path and the canonical body.
	Fingerprint [32]byte

	// RequestID names the HTTP request; it becomes the instance of a saved problem.
	RequestID string
	Parcel    Parcel
	Carrier   string

	// Shipment has the configured defaults filled in: it is what the carrier will get, however
	// the configuration changes later.
	Shipment carrier.Shipment
}

// Intent is a label intent as its caller may see it.
type Intent struct {
	ID             uuid.UUID
	Parcel         Parcel
	Carrier        string
	Reference      string
	State          State
	SettledBy      Settler
	Attempts       int
	Calls          int
	LabelID        uuid.UUID
	CarrierCode    string
	CarrierMessage string
	CreatedAt      time.Time
	FinishedAt     *time.Time
}

// carrierKey is the key sent downstream. It names the caller: keys are scoped per caller, so two
// callers' equal keys must not be one purchase at the carrier. A later generation names nobody where
// the first names the caller, and so is no caller's key of any generation but its own.
func carrierKey(s slot, generation int) string {
	if generation <= 1 {
		return "carrier:" + s.caller + ":" + s.key
	}
	return "carrier::" + strconv.Itoa(generation) + ":" + s.caller + ":" + s.key
}

// reference is the intent's unique job id as carriers see it: 28 characters of [A-Z0-9], which every
// carrier's reference field takes. It is the parcel, of which there is ever one intent, and nothing
// that would be lost with our tables: ordered again after they were restored from a backup, the
// parcel has the same reference, and is found under it.
func reference(p Parcel) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(p.OrderID))       //nolint:gosec // G115: positive.
	binary.BigEndian.PutUint32(b[8:12], uint32(p.ParcelNo))    //nolint:gosec // G115: positive.
	binary.BigEndian.PutUint32(b[12:], uint32(p.LabelVersion)) //nolint:gosec // G115: positive.
	return "WB" + base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])
}
