package simserver

import (
	"net/http"
	"time"
)

// uspsByKey finds the charge of the key of a call, in the one mode that knows keys.
func (s *Server) uspsByKey(w http.ResponseWriter, r *http.Request) (record, bool) {
	now := s.faults.show()
	key, ok := s.uspsKey(w, r)
	switch {
	case !ok:
		return record{}, false
	case now.Mode != Keyed || key == "":
		uspsRefuse(w, http.StatusNotFound, "", uspsKeyHeader, "There is no such resource.")
		return record{}, false
	}
	charge, found := s.ledger.chargeByKey(key, s.cfg.Now(), milliseconds(now.KeyWindowMS))
	if !found || charge.Dialect != uspsDialect.carrier {
		uspsRefuse(w, http.StatusBadRequest, "", uspsKeyHeader, "Order not found")
		return record{}, false
	}
	w.Header().Set(uspsKeyHeader, key)
	return charge, true
}

func (s *Server) uspsByTracking(w http.ResponseWriter, r *http.Request) (record, bool) {
	charge, _, found := s.ledger.chargeByLabel(r.PathValue("trackingNumber"))
	if !found || charge.Dialect != uspsDialect.carrier {
		uspsRefuse(w, http.StatusBadRequest, "", "trackingNumber", "Order not found")
		return record{}, false
	}
	return charge, true
}

func (s *Server) uspsCancelByKey(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	if charge, ok := s.uspsByKey(w, r); ok {
		s.uspsGiveBack(w, charge)
	}
}

func (s *Server) uspsCancel(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	if charge, ok := s.uspsByTracking(w, r); ok {
		s.uspsGiveBack(w, charge)
	}
}

// uspsCancelled is the answer to a cancellation: CANCELED, or DISPUTED after the label was announced
// to the postal systems, which is on the night after its mailing date.
type uspsCancelled struct {
	TrackingNumber string `json:"trackingNumber"`
	Status         string `json:"status"`
	DisputeID      string `json:"disputeId,omitzero"`
}

func (s *Server) uspsGiveBack(w http.ResponseWriter, charge record) {
	answer, err := s.giveBack(charge.LabelID)
	switch {
	case err != nil:
		uspsDialect.refuse(w, broken)
	case answer.Status != "voided":
		uspsRefuse(w, http.StatusBadRequest, "", "trackingNumber",
			"A refund request for this order has already been submitted today")
	case s.uspsMailed(charge):
		reply(w, http.StatusOK, uspsCancelled{charge.TrackingNo, "DISPUTED", "103789"})
	default:
		reply(w, http.StatusOK, uspsCancelled{charge.TrackingNo, "CANCELED", ""})
	}
}

// uspsMailed reports whether the mailing date is over.
func (s *Server) uspsMailed(charge record) bool {
	day, _ := time.Parse(time.DateOnly, remembered[uspsOrder](charge).Package.MailingDate)
	return !s.cfg.Now().Before(day.Add(24 * time.Hour))
}

func (s *Server) uspsReprintByKey(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	if charge, ok := s.uspsByKey(w, r); ok {
		s.uspsPrintAgain(w, r, charge)
	}
}

func (s *Server) uspsReprint(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	if charge, ok := s.uspsByTracking(w, r); ok {
		s.uspsPrintAgain(w, r, charge)
	}
}

// maxUSPSReprints is how often one label is printed again.
const maxUSPSReprints = 3

func (s *Server) uspsPrintAgain(w http.ResponseWriter, r *http.Request, charge record) {
	var body struct {
		ImageInfo uspsImage `json:"imageInfo"`
	}
	_, err := readJSON(w, r, &body)
	f := uspsFormats[body.ImageInfo.ImageType]
	_, voided, _ := s.ledger.chargeByLabel(charge.LabelID)
	switch {
	case err != nil:
		uspsRefuse(w, http.StatusBadRequest, "", "body", err.Error())
	case f == "":
		uspsRefuse(w, http.StatusBadRequest, "", "imageInfo.imageType", "The simulator prints PDF, PNG, ZPL203DPI and ZPL300DPI.")
	case voided:
		uspsRefuse(w, http.StatusBadRequest, "", "trackingNumber", "Canceled labels are not eligible for reprint")
	case s.uspsMailed(charge):
		uspsRefuse(w, http.StatusBadRequest, "", "trackingNumber", "The mailing date is over")
	case !s.uspsMayReprint(charge.LabelID):
		uspsRefuse(w, http.StatusBadRequest, "", "trackingNumber", "The label was printed as often as can be")
	default:
		reply(w, http.StatusOK, uspsReprintOf(charge, f))
	}
}

func (s *Server) uspsMayReprint(id string) bool {
	s.usps.mu.Lock()
	defer s.usps.mu.Unlock()
	if s.usps.reprinted[id] >= maxUSPSReprints {
		return false
	}
	s.usps.reprinted[id]++
	return true
}
