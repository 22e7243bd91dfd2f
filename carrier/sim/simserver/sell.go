package simserver

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"net/http"

	"go.uber.org/zap"
)

// purchase is one order for a label, in whatever format it came.
type purchase struct {
	dialect dialect
	order   order
	key     string // the idempotency key; empty for none
	digest  string // of what the key stands for
	fault   Fault

	// remoteID names what was made before it is bought, of a two-step carrier. If once is set, it
	// can be sold one time only.
	remoteID string
	once     bool

	// told is what the dialect must still know of the order when it shows the label again.
	told jsontext.Value
}

// digest tells one order from another.
func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// dialect is how one carrier writes what became of a purchase. What became of it is the same for all.
type dialect struct {
	// carrier is whose words these are: look-ups show a carrier its own charges. It is empty for the
	// reference protocol.
	carrier string

	// name gives a label the carrier's kind of id, after the reference protocol's; it may be nil.
	name func(*record)

	// status and label are a good answer: the label as JSON.
	status int
	label  func(r *http.Request, charge record) any

	// refuse answers with the carrier's own words for a failure.
	refuse func(w http.ResponseWriter, f failure)
}

// failure is one reason for a purchase to be answered without a label.
type failure string

// The failures that every dialect has words for.
const (
	undeliverable failure = "undeliverable" // refused for good
	tooMany       failure = "too many"      // rate limited; Retry-After is set
	timedOut      failure = "timed out"     // the carrier's own system did not answer
	otherOrder    failure = "other order"   // the key was used with another body
	alreadySold   failure = "already sold"  // what can be sold once was sold
	broken        failure = "broken"        // anything may have happened
)

// sell carries a purchase out, as the faults have it, and answers.
func (s *Server) sell(w http.ResponseWriter, r *http.Request, p purchase) {
	p.fault = s.faults.draw()
	s.pause(s.faults.latency())
	if _, known := s.stored(p); known && (p.fault == Refuse || p.fault == OverPrice) {
		p.fault = "" // what a key was answered with cannot become a refusal or another price
	}
	// The ledger tells what was charged; only this tells of the calls that were not.
	s.cfg.Logger.Info("purchase", zap.String("reference", p.order.Reference), zap.String("fault", string(p.fault)))
	if s.spoilBefore(w, r, p) {
		return
	}
	charge, err := s.charge(p)
	switch {
	case errors.Is(err, errSold):
		p.dialect.refuse(w, alreadySold)
	case err != nil:
		s.cfg.Logger.Error("charge is not in the ledger", zap.Error(err))
		p.dialect.refuse(w, broken)
	case charge.Digest != p.digest:
		p.dialect.refuse(w, otherOrder)
	default:
		s.deliver(w, r, charge, p)
	}
}

// stored returns the charge that the key stands for, where keys are honoured.
func (s *Server) stored(p purchase) (record, bool) {
	now := s.faults.show()
	if now.Mode != Keyed || p.key == "" {
		return record{}, false
	}
	return s.ledger.chargeByKey(p.key, s.cfg.Now(), milliseconds(now.KeyWindowMS))
}

// charge makes one charge, or finds the one already made under the key. Calls with one key wait for
// each other, so that only the first of them charges.
func (s *Server) charge(p purchase) (record, error) {
	if p.key == "" || s.faults.show().Mode != Keyed {
		return s.enter(p)
	}
	charge, err, _ := s.flights.Do("buy "+p.key, func() (any, error) {
		if stored, ok := s.stored(p); ok {
			return stored, nil
		}
		return s.enter(p)
	})
	return charge.(record), err
}

// errSold is what charge returns for what was sold before, or is being sold.
var errSold = errors.New("already sold")

// enter puts the charge into the ledger.
func (s *Server) enter(p purchase) (record, error) {
	if p.once {
		if !s.claim(p.remoteID) {
			return record{}, errSold
		}
		defer s.unclaim(p.remoteID)
	}
	amount := p.order.price()
	if p.fault == OverPrice {
		amount += surchargeCents
	}
	r := record{
		Entry: Entry{
			Kind:        Charge,
			CarrierKey:  p.key,
			Reference:   p.order.Reference,
			AmountCents: amount,
			Currency:    s.cfg.Currency,
			At:          s.cfg.Now().UTC(),
		},
		Order:    &p.order,
		Digest:   p.digest,
		RemoteID: p.remoteID,
		Dialect:  p.dialect.carrier,
		Told:     p.told,
	}
	r, err := s.ledger.append(r, p.dialect.nameLabel)
	if err != nil {
		return record{}, fmt.Errorf("charging reference %s: %w", p.order.Reference, err)
	}
	if s.cfg.OnCharge != nil {
		s.cfg.OnCharge(r.Entry)
	}
	return r, nil
}

// claim reserves what can be sold once; it fails for what was sold, or is reserved. Two charges at
// once must not both find that the ledger holds none.
func (s *Server) claim(remoteID string) bool {
	s.claims.Lock()
	defer s.claims.Unlock()
	charges, _ := s.ledger.chargesByRemoteID(remoteID)
	if len(charges) > 0 || s.claimed[remoteID] {
		return false
	}
	s.claimed[remoteID] = true
	return true
}

func (s *Server) unclaim(remoteID string) {
	s.claims.Lock()
	defer s.claims.Unlock()
	delete(s.claimed, remoteID)
}

func (d dialect) nameLabel(r *record) {
	nameLabel(r)
	if d.name != nil {
		d.name(r)
	}
}

// nameLabel makes the label's numbers: the sequence makes them unique in one ledger, the hash keeps
// the labels of a new ledger apart from those of an old one.
func nameLabel(r *record) {
	sum := sha256.Sum256(fmt.Append(nil, r.Seq, r.Reference, r.At.UnixNano()))
	suffix := base32.StdEncoding.EncodeToString(sum[:5])[:6]
	r.TrackingNo = fmt.Sprintf("SIM%09d%s", r.Seq, suffix)
	r.LabelID = "lbl_" + r.TrackingNo[3:]
}
