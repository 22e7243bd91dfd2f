package carrier

import (
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Outcome is what a purchase call ended in.
type Outcome string

// The four outcomes. The zero value is none of them.
const (
	// Bought: a complete, valid answer names the label.
	Bought Outcome = "bought"

	// Rejected: an explicit, documented refusal for good. Nothing was bought by this call.
	Rejected Outcome = "rejected"

	// NotBought: proved that this call bought nothing, and a later one may succeed (the request
	// never left, the carrier is busy, a rate limit).
	NotBought Outcome = "not_bought"

	// Unknown: anything else. The label may exist and may have been paid for.
	Unknown Outcome = "unknown"
)

// Result is the answer of [Carrier.Buy].
type Result struct {
	Outcome Outcome

	// Label is set if and only if Outcome is Bought. An Unknown may carry one as evidence
	// (bought above the price limit, another reference echoed, or no more of it than its tracking
	// number could be read): it is recorded, never adopted. Without a currency its price is not known.
	Label *Label

	// Code and Message are the carrier's own, or ours where it said nothing, made safe by
	// [Sanitise]. They never hold anything of the shipment.
	Code    string
	Message string

	// RetryAfter is how long the carrier asked to be left alone; 0 if it did not.
	RetryAfter time.Duration

	// Answered is true if the carrier said something at all: where it replays failures, it will say
	// the same to the same key again.
	Answered bool

	// Renew is true if what [Preparer.Prepare] made can no longer be bought: it is gone, or its price
	// has run out. Only beside NotBought.
	Renew bool

	// AboutOrder is true if the refusal is about this very order, and says nothing of the carrier's
	// health: no circuit breaker counts it. Only beside NotBought.
	AboutOrder bool
}

// CodeOverPrice is the Code of an Unknown whose label was bought, but above the price limit: it is
// paid for, and only a person can say what is to become of it.
const CodeOverPrice = "over_price"

// CodeKeyMismatch is the Code of an Unknown by which the carrier says that it knows our key, with
// another order: repeating the call cannot help, and something was perhaps bought under the key.
// Adapters match the carrier's own code for it, never its words.
const CodeKeyMismatch = "key_mismatch"

// VoidState is where the voiding of a label stands, as a call left it.
type VoidState string

// What a void call ends in.
const (
	Voided      VoidState = "voided"
	VoidRefused VoidState = "refused"
	VoidUnknown VoidState = "unknown"
)

// VoidResult is the answer of [Carrier.Void]. Its Code is the carrier's own, or ours; its Message is ours
// alone, since the carrier's could quote the shipment.
type VoidResult struct {
	State   VoidState
	Code    string
	Message string
}

// ErrNoLookup is returned by Find where the carrier shows no labels by reference.
var ErrNoLookup = errors.New("carrier offers no look-up by reference")

// ErrNoDocument is what an error of [Documents] wraps where asking again could only cost: the carrier has
// counted a print, and what it sent is no document of the label. It is left to a person.
var ErrNoDocument = errors.New("the carrier's answer is no document of the label")

// maxMessage bounds what is kept of a carrier's words: enough for a person to act on.
const maxMessage = 300

// Sanitise makes foreign text safe to store, log and show: valid UTF-8 without control characters
// (a NUL cannot be stored in a text column, and a failing failure path loops for ever), at most
// 300 bytes.
func Sanitise(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	// A space may now be the last: the next to sanitise it would take that away, and find another text.
	return strings.TrimSpace(s[:cut])
}
