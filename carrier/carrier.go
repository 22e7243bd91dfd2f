// Package carrier is the vocabulary shared by everything that talks about carriers: shipments,
// money, labels, the outcome of a call, and what a carrier can and cannot promise.
//
// It is a leaf: it imports the standard library only, holds no state and makes no calls. Adapters
// live in packages of their own below it (carrier/sim, …) and never meet each other.
package carrier

import (
	"context"
	"time"
)

// Carrier buys, finds and voids labels at one account of one carrier.
//
// An adapter classifies what it saw and returns; it never sleeps, never retries and never decides
// what follows. Whatever it does not recognise is [Unknown]. All methods are safe for concurrent use.
type Carrier interface {
	// Name is the carrier's name as callers write it in a request, e.g. "sim".
	Name() string

	// Account is the account that is charged, as the carrier's invoices spell it.
	Account() string

	// Capabilities says what the carrier honours. It never changes while the process runs.
	Capabilities() Capabilities

	// Check compares a shipment with the carrier's own limits (services, weights, lengths of
	// lines, scripts), before the intent is accepted. No complaint means that it may be sent.
	Check(Shipment) []FieldError

	// Buy sends one purchase and reports how it ended. Repeating it repeats the purchase, unless
	// Capabilities promise otherwise: who calls it decides whether that is safe.
	Buy(ctx context.Context, p Purchase) Result

	// Find returns every label that the carrier holds under the reference, or that was bought of
	// what the remote id names, oldest first: an empty answer means that it holds none it can show
	// yet. Harmless to repeat. Without [Capabilities.Lookup] it returns [ErrNoLookup].
	Find(ctx context.Context, q Query) ([]Label, error)

	// Void asks the carrier to cancel a label. "Already void" is success, so repeating is safe.
	Void(ctx context.Context, carrierLabelID string) VoidResult
}

// Preparer is a carrier that buys in two steps: first something is made that costs nothing, then it
// is bought by its id. The id is stored in between, so that after an unknown outcome the carrier can
// be asked about this very thing.
type Preparer interface {
	Carrier

	// Prepare makes what [Carrier.Buy] will buy. Whatever becomes of it, nothing is charged, so
	// repeating it is safe: it leaves another unsold thing behind.
	Prepare(ctx context.Context, p Purchase) Preparation
}

// Preparation is the answer of [Preparer.Prepare].
type Preparation struct {
	// RemoteID is the carrier's id of what was made: at most 255 visible characters of ASCII.
	RemoteID string

	// Sold is true if what RemoteID names was there already, and is sold: by a call of this order that
	// nobody knows of any more, or by somebody else under its reference. It must not be bought again; a
	// look-up tells what was bought.
	Sold bool

	// Refusal says why nothing was made, if RemoteID is empty: its Outcome is Rejected or NotBought.
	Refusal Result
}

// Documents is a carrier whose documents can be fetched after the purchase.
type Documents interface {
	Carrier

	// Document fetches the printable label of one that was bought. It may be repeated, unless its error
	// wraps [ErrNoDocument].
	Document(ctx context.Context, r DocumentRequest) (Document, error)
}

// DocumentRequest names a label that was bought, in every way that a carrier may know it by.
type DocumentRequest struct {
	LabelID    string
	TrackingNo string
	CarrierKey string
	Format     Format
}

// Prober is a carrier whose credentials can be tried without buying anything.
type Prober interface {
	// Probe asks the carrier for something harmless that it tells only to those it knows.
	Probe(ctx context.Context) error
}

// Query names what [Carrier.Find] looks for.
type Query struct {
	// Reference is what the purchase bore.
	Reference string

	// RemoteID is what [Preparer.Prepare] made for the intent; empty for other carriers, and where
	// the intent never got so far.
	RemoteID string
}

// Purchase is one order to a carrier, the same bytes on every attempt for one intent.
type Purchase struct {
	// CarrierKey is the idempotency key sent downstream. Adapters of carriers that honour no key
	// must not send it as one.
	CarrierKey string

	// RemoteID is what is to be bought, of a [Preparer].
	RemoteID string

	// Reference is the name under which the label can be looked up: at most 35 characters
	// of [A-Z0-9], unique per intent.
	Reference string

	Shipment Shipment
}

// Capabilities says what a carrier promises beyond taking an order. They are configuration as much
// as nature: the same carrier may honour a key for one account and not for another.
type Capabilities struct {
	// Key is how the carrier honours an idempotency key; nil if it does not.
	Key *Key

	// Lookup is how labels are found by our reference; nil if they cannot be.
	Lookup *Lookup

	// Void is true if labels can be cancelled through the API.
	Void bool
}

// Key describes an idempotency key that a carrier honours.
type Key struct {
	// Window is how long the carrier remembers a key, from its first use; 0 means for ever.
	Window time.Duration

	// Margin is kept free at the end of Window: our clock and theirs differ.
	Margin time.Duration

	// ReplaysFailures is true if a refusal, or an error, is remembered under the key as well: then
	// the key that met one will never buy anything within its window, and another key needs proof
	// that this one has bought nothing.
	ReplaysFailures bool
}

// Lookup describes a look-up by reference.
type Lookup struct {
	// Lag is the longest time until a label that was bought can be found.
	Lag time.Duration

	// Processing is the carrier's longest processing time: a purchase that was sent may take
	// effect this long after we stopped waiting for it.
	Processing time.Duration
}

// QuietPeriod is how long look-ups must have found nothing, since the last purchase call ended,
// before absence is taken for "not bought".
func (l Lookup) QuietPeriod() time.Duration { return l.Processing + l.Lag }

// Class is the kind of promise that is possible with a carrier.
type Class string

// The three classes, from the strongest promise to the weakest.
const (
	// Keyed carriers honour our key: calling again with it is safe inside the window.
	Keyed Class = "keyed"

	// ByLookup carriers honour no key, but show labels by our reference.
	ByLookup Class = "lookup"

	// Blind carriers offer neither: after an unknown outcome nothing may be sent again.
	Blind Class = "blind"
)

// Class tells which promise the capabilities allow, for a key first used so long ago.
// Past the key's window a keyed carrier is as good as its look-up, or blind.
func (c Capabilities) Class(keyAge time.Duration) Class {
	switch {
	case c.Key != nil && (c.Key.Window == 0 || keyAge < c.Key.Window-c.Key.Margin):
		return Keyed
	case c.Lookup != nil:
		return ByLookup
	default:
		return Blind
	}
}
