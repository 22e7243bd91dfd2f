// Package history says what callers may be told about idempotency keys, in any order of events that
// they could have seen.
//
// It holds a small sequential model: what a key and a parcel stand for, and which answers that
// allows. Stateful tests step the model beside the real thing; tests with many clients record a
// history of overlapping calls and have it checked: is there one order of the calls, each placed
// between its begin and its end, that the model could have given? The package knows nothing of how
// intents are stored or bought. Only tests import it.
package history

import "slices"

// Op is what a client asks for.
type Op string

// The operations.
const (
	// Submit orders a label. A submission that waits for its result is two operations with the
	// same begin and end: the order, and a Submit that repeats it.
	Submit Op = "submit"

	// Read asks what a key stands for, without a body and without any effect.
	Read Op = "read"
)

// Request is one call. A key belongs to its caller. Parcel is the business key in any spelling; it
// is part of the body, so two bodies of one key may name two parcels.
type Request struct {
	Op     Op
	Caller string
	Key    string
	Body   string // any name of the body; Submit only
	Parcel string // Submit only
}

// Kind is what a client was told.
type Kind string

// The kinds of answer.
const (
	// Accepted: this very call made a new intent.
	Accepted Kind = "accepted"

	// Known: the intent is there; nothing is said of its state.
	Known Kind = "known"

	// Open: the intent is not final: in progress, or in doubt.
	Open Kind = "open"

	// Final: the saved answer; to a Read, the final state alone.
	Final Kind = "final"

	// Reused: the key names another body.
	Reused Kind = "reused"

	// Taken: another key names the parcel.
	Taken Kind = "taken"

	// NotFound: to a Read, the key names nothing.
	NotFound Kind = "not found"

	// Refused: the call had no effect and tells nothing (malformed, rate limited, overloaded).
	Refused Kind = "refused"

	// Lost: nobody knows (time-out, reset, crash, a commit whose outcome is unknown). The call may
	// take effect at any time after it began, or never.
	Lost Kind = "lost"
)

// Answer is what a client was told. Empty members were not told.
type Answer struct {
	Kind   Kind
	Intent string
	State  string // Final: purchased, rejected or failed
	Bytes  string // Final, to a Submit: status and body, byte for byte
}

// State is everything that keys stand for at one moment. The zero value is the beginning. A State
// is never changed; Step returns the next one.
type State struct{ intents []Intent }

// Intent is what the model knows of an accepted submission: what clients were told so far.
type Intent struct {
	Caller, Key, Body, Parcel string

	ID    string // "" until an answer names it
	Final bool
	Verdict,
	Bytes string // "" until an answer tells them
}

// Intents are the intents that exist, in the order in which they were accepted.
func (s State) Intents() []Intent { return slices.Clone(s.intents) }

// Equal tells whether nothing distinguishes two states.
func (s State) Equal(other State) bool { return slices.Equal(s.intents, other.intents) }

// Step tells whether the answer may be given in this state, and the state after it.
func (s State) Step(r Request, a Answer) (State, bool) {
	switch a.Kind {
	case Refused:
		return s, true
	case Lost:
		return s.lost(r), true
	default:
	}
	if r.Op == Read {
		return s.read(r, a)
	}
	return s.submit(r, a)
}

// lost takes the effect that the call would have had. Never to have had one is the same as having it
// after everything else: a lost call ends at the end of time.
func (s State) lost(r Request) State {
	if r.Op == Read || s.byKey(r) >= 0 || s.byParcel(r) >= 0 {
		return s
	}
	return s.with(len(s.intents), Intent{Caller: r.Caller, Key: r.Key, Body: r.Body, Parcel: r.Parcel})
}

func (s State) submit(r Request, a Answer) (State, bool) {
	n, other := s.byKey(r), -1
	if n < 0 {
		other = s.byParcel(r)
	}
	switch {
	case n >= 0 && s.intents[n].Body != r.Body:
		return s.tell(n, a, a.Kind == Reused)
	case n >= 0:
		return s.answer(n, a)
	case other >= 0 && s.intents[other].Caller != r.Caller:
		return s, a.Kind == Taken && a.Intent == "" // another caller's intent is not told
	case other >= 0 && s.intents[other].Body != r.Body:
		return s.tell(other, a, a.Kind == Taken)
	case other >= 0:
		return s.answer(other, a) // the same order under another key: the one intent's answer
	}
	fresh := Intent{Caller: r.Caller, Key: r.Key, Body: r.Body, Parcel: r.Parcel, ID: a.Intent}
	known := a.Intent != "" && slices.ContainsFunc(s.intents, func(i Intent) bool { return i.ID == a.Intent })
	return s.with(len(s.intents), fresh), a.Kind == Accepted && !known
}

func (s State) read(r Request, a Answer) (State, bool) {
	n := s.byKey(r)
	if n < 0 {
		return s, a.Kind == NotFound
	}
	return s.answer(n, a)
}

// answer is an answer about an intent to the one who ordered it: once final it never changes.
func (s State) answer(n int, a Answer) (State, bool) {
	switch a.Kind {
	case Known:
		return s.tell(n, a, true)
	case Open:
		return s.tell(n, a, !s.intents[n].Final)
	case Final:
		return s.tell(n, a, a.State != "")
	default:
		return s, false
	}
}

// tell adds what an answer says of an intent, if it contradicts nothing said before.
func (s State) tell(n int, a Answer, allowed bool) (State, bool) {
	i := s.intents[n]
	i.Final = i.Final || a.Kind == Final
	ok := allowed && learn(&i.ID, a.Intent) && learn(&i.Verdict, a.State) && learn(&i.Bytes, a.Bytes)
	if !ok || i == s.intents[n] {
		return s, ok
	}
	return s.with(n, i), true
}

// learn fills a gap; it fails on a contradiction.
func learn(known *string, told string) bool {
	if *known == "" {
		*known = told
	}
	return told == "" || *known == told
}

func (s State) with(n int, i Intent) State {
	next := make([]Intent, max(n+1, len(s.intents)))
	copy(next, s.intents)
	next[n] = i
	return State{next}
}

func (s State) byKey(r Request) int {
	return slices.IndexFunc(s.intents, func(i Intent) bool { return i.Caller == r.Caller && i.Key == r.Key })
}

func (s State) byParcel(r Request) int {
	return slices.IndexFunc(s.intents, func(i Intent) bool { return i.Parcel == r.Parcel })
}
