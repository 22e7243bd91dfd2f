package simserver

import (
	"net/http"
	"slices"
	"time"
)

// easypostAll is every shipment as a look-up shows it by now, newest first. One that was bought too
// lately to be seen shows as it was before.
func (s *Server) easypostAll(r *http.Request) []easypostShipment {
	var all []easypostShipment
	known := map[string]bool{}
	charges, voided := s.ledger.everyCharge("easypost")
	for _, sold := range s.shown("easypost", charges, voided) {
		all = append(all, remembered[easypostShipment](sold.record).bought(r, sold))
		known[sold.RemoteID] = true
	}
	s.easypost.mu.Lock()
	for _, id := range s.easypost.order {
		if !known[id] {
			all = append(all, s.easypost.prepared[id])
		}
	}
	s.easypost.mu.Unlock()
	slices.SortStableFunc(all, func(a, b easypostShipment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	slices.Reverse(all)
	return all
}

// easypostShow finds a shipment by its id or by its reference. Of several with one reference it
// shows the youngest: nothing says which, and it need not be the one that was bought.
func (s *Server) easypostShow(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	if shipment, ok := s.easypostOne(r); ok {
		reply(w, http.StatusOK, shipment)
		return
	}
	easypostNotFound(w, r)
}

func (s *Server) easypostOne(r *http.Request) (easypostShipment, bool) {
	if s.faults.show().Mode == Blind {
		return easypostShipment{}, false
	}
	id := r.PathValue("id")
	charges, voided := s.ledger.chargesByRemoteID(id)
	if len(charges) == 0 {
		charges, voided = s.ledger.chargesByReference(id)
	}
	var found []easypostShipment
	known := map[string]bool{}
	for _, sold := range s.shown("easypost", charges, voided) {
		found = append(found, remembered[easypostShipment](sold.record).bought(r, sold))
		known[sold.RemoteID] = true
	}
	for _, made := range s.easypostMadeAs(id) {
		if !known[made.ID] {
			found = append(found, made)
		}
	}
	if len(found) == 0 {
		return easypostShipment{}, false
	}
	slices.SortStableFunc(found, func(a, b easypostShipment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return found[len(found)-1], true
}

// easypostMadeAs are the shipments made since the start of an id, or else of a reference.
func (s *Server) easypostMadeAs(id string) []easypostShipment {
	s.easypost.mu.Lock()
	defer s.easypost.mu.Unlock()
	if e, ok := s.easypost.prepared[id]; ok {
		return []easypostShipment{e}
	}
	var made []easypostShipment
	for _, of := range s.easypost.byReference[id] {
		made = append(made, s.easypost.prepared[of])
	}
	return made
}

// easypostConvert is the label in another format.
func (s *Server) easypostConvert(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	shipment, ok := s.easypostOne(r)
	if !ok || shipment.PostageLabel == nil {
		easypostNotFound(w, r)
		return
	}
	charges, _ := s.ledger.chargesByRemoteID(shipment.ID)
	url := func(f format) *string { return new(easypostFileURL(r, charges[0], f)) }
	switch r.URL.Query().Get("file_format") {
	case "PDF":
		shipment.PostageLabel.LabelPDFURL = url("pdf")
	case "ZPL":
		shipment.PostageLabel.LabelZPLURL = url("zpl")
	default:
		easypostInvalid(w, "file_format", "must be PDF or ZPL")
		return
	}
	reply(w, http.StatusOK, shipment)
}

// easypostPage is a page of shipments, newest first.
type easypostPage struct {
	Shipments []easypostShipment `json:"shipments"`
	HasMore   bool               `json:"has_more"`
}

// The carrier's page sizes.
const (
	easypostPageSize    = 20
	maxEasypostPageSize = 100
)

// easypostWindow is what the list looks back where no start is given.
const easypostWindow = 31 * 24 * time.Hour

// easypostList shows what was bought, or everything with purchased=false. It cannot be asked for a
// reference.
func (s *Server) easypostList(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	query := r.URL.Query()
	size, err := pageOf(query.Get("page_size"), easypostPageSize, maxEasypostPageSize)
	if err != nil {
		easypostInvalid(w, "page_size", err.Error())
		return
	}
	start, end := s.cfg.Now().Add(-easypostWindow), s.cfg.Now()
	for name, at := range map[string]*time.Time{"start_datetime": &start, "end_datetime": &end} {
		if text := query.Get(name); text != "" {
			if *at, err = time.Parse(time.RFC3339, text); err != nil {
				easypostInvalid(w, name, "is not a time of ISO 8601")
				return
			}
		}
	}
	if s.faults.show().Mode == Blind {
		easypostNotFound(w, r)
		return
	}
	all := slices.DeleteFunc(s.easypostAll(r), func(e easypostShipment) bool {
		unwanted := e.PostageLabel == nil && query.Get("purchased") != "false"
		return unwanted || e.CreatedAt.Before(start) || e.CreatedAt.After(end)
	})
	if id := query.Get("before_id"); id != "" {
		i := slices.IndexFunc(all, func(e easypostShipment) bool { return e.ID == id })
		all = all[i+1:]
	}
	more := len(all) > size
	reply(w, http.StatusOK, easypostPage{Shipments: all[:min(size, len(all))], HasMore: more})
}
