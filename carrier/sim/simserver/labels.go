package simserver

import (
	"encoding/base64"
	"net/http"

	"go.uber.org/zap"
)

// label is a label as the protocol shows it.
type label struct {
	LabelID    string   `json:"label_id"`
	Reference  string   `json:"reference"`
	TrackingNo string   `json:"tracking_no,omitzero"`
	CostCents  int64    `json:"cost_cents"`
	Currency   string   `json:"currency"`
	Service    string   `json:"service"`
	WeightG    int64    `json:"weight_g"`
	Document   document `json:"document"`

	// Status and ShipTo are in look-ups only.
	Status string  `json:"status,omitzero"`
	ShipTo *postal `json:"ship_to,omitzero"`
}

type document struct {
	Format format `json:"format"`
	Base64 string `json:"base64"`
}

// newLabel shows a charge. The document is drawn anew each time, always with the same bytes.
func newLabel(charge record) label {
	return label{
		LabelID:    charge.LabelID,
		Reference:  charge.Reference,
		TrackingNo: charge.TrackingNo,
		CostCents:  charge.AmountCents,
		Currency:   charge.Currency,
		Service:    charge.Order.Service,
		WeightG:    charge.Order.WeightG,
		Document: document{
			Format: charge.Order.Format,
			Base64: base64.StdEncoding.EncodeToString(printers[charge.Order.Format](charge.Entry)),
		},
	}
}

func (s *Server) find(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	faults := s.faults.show()
	if faults.Mode == Blind {
		refuse(w, http.StatusNotFound, "not_found", "There is no look-up.")
		return
	}
	found := struct {
		Labels []label `json:"labels"`
	}{Labels: []label{}}
	charges, voided := s.ledger.chargesByReference(r.URL.Query().Get("reference"))
	for i, charge := range charges {
		if s.cfg.Now().Sub(charge.At) < milliseconds(faults.LookupLagMS) {
			continue
		}
		l := newLabel(charge)
		l.Status, l.ShipTo = "active", charge.Order.ShipTo
		if voided[i] {
			l.Status = "voided"
		}
		found.Labels = append(found.Labels, l)
	}
	reply(w, http.StatusOK, found)
}

// voidAnswer is the answer to POST /labels/{id}/void.
type voidAnswer struct {
	Status string `json:"status"`
	Code   string `json:"code,omitzero"`
}

func (s *Server) void(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	id := r.PathValue("id")
	answer, err := s.giveBack(id)
	switch {
	case err != nil:
		refuse(w, http.StatusInternalServerError, "internal", "The ledger could not be written.")
	case answer.Status == "":
		refuse(w, http.StatusNotFound, "not_found", "There is no such label.")
	default:
		reply(w, http.StatusOK, answer)
	}
}

// giveBack voids a label. The answer is empty for one that does not exist.
func (s *Server) giveBack(id string) (voidAnswer, error) {
	answer, err, _ := s.flights.Do("void "+id, func() (any, error) { return s.voidOnce(id) })
	if err != nil {
		s.cfg.Logger.Error("void is not in the ledger", zap.Error(err))
	}
	return answer.(voidAnswer), err
}

func (s *Server) voidOnce(id string) (voidAnswer, error) {
	charge, voided, ok := s.ledger.chargeByLabel(id)
	switch {
	case !ok:
		return voidAnswer{}, nil
	case voided:
		return voidAnswer{Status: "refused", Code: "already_voided"}, nil
	}
	entry := charge.Entry
	entry.Kind, entry.At = Void, s.cfg.Now().UTC()
	if _, err := s.ledger.append(record{Entry: entry}, nil); err != nil {
		return voidAnswer{}, err
	}
	return voidAnswer{Status: "voided"}, nil
}

func (s *Server) showLedger(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	for _, e := range s.ledger.entries() {
		if _, err := w.Write(append(encode(e), '\n')); err != nil {
			return // the reader has gone
		}
	}
}
