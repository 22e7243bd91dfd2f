package simserver

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

	"go.uber.org/zap"
)

// purchase is one POST /labels.
type purchase struct {
	order  order
	key    string
	digest string
	fault  Fault
}

func (s *Server) buy(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "The body could not be read.")
		return
	}
	o, err := parseOrder(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > 255 {
		refuse(w, http.StatusBadRequest, "invalid_key", "Idempotency-Key is longer than 255 characters.")
		return
	}
	sum := sha256.Sum256(body)
	p := purchase{order: o, key: key, digest: hex.EncodeToString(sum[:]), fault: s.faults.draw()}

	s.pause(s.faults.latency())
	if _, known := s.stored(p); known && (p.fault == Refuse || p.fault == OverPrice) {
		p.fault = "" // what a key was answered with cannot become a refusal or another price
	}
	// The ledger tells what was charged; only this tells of the calls that were not.
	s.cfg.Logger.Info("purchase", zap.String("reference", o.Reference), zap.String("fault", string(p.fault)))
	if s.spoilBefore(w, r, p) {
		return
	}
	charge, err := s.charge(p)
	if err != nil {
		s.cfg.Logger.Error("charge is not in the ledger", zap.Error(err))
		refuse(w, http.StatusInternalServerError, "internal", "The ledger could not be written.")
		return
	}
	if charge.Digest != p.digest {
		refuse(w, http.StatusConflict, "key_mismatch", "The key was used with another body.")
		return
	}
	s.deliver(w, r, charge, p.fault)
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

// enter puts the charge into the ledger.
func (s *Server) enter(p purchase) (record, error) {
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
		Order:  &p.order,
		Digest: p.digest,
	}
	r, err := s.ledger.append(r, nameLabel)
	if err != nil {
		return record{}, fmt.Errorf("charging reference %s: %w", p.order.Reference, err)
	}
	if s.cfg.OnCharge != nil {
		s.cfg.OnCharge(r.Entry)
	}
	return r, nil
}

// nameLabel makes the label's numbers: the sequence makes them unique in one ledger, the hash keeps
// the labels of a new ledger apart from those of an old one.
func nameLabel(r *record) {
	sum := sha256.Sum256(fmt.Append(nil, r.Seq, r.Reference, r.At.UnixNano()))
	suffix := base32.StdEncoding.EncodeToString(sum[:5])[:6]
	r.TrackingNo = fmt.Sprintf("SIM%09d%s", r.Seq, suffix)
	r.LabelID = "lbl_" + r.TrackingNo[3:]
}
