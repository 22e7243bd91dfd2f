package simserver

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// easyship is what Easyship keeps outside the ledger: the failures that it answers a key with again.
// They are lost at a restart, which frees the keys too early.
type easyship struct {
	mu       sync.Mutex
	failures map[string]easyshipFailure
}

// easyshipFailure is an answer as it was given.
type easyshipFailure struct {
	at     time.Time
	status int
	body   []byte
}

func (s *Server) routeEasyship() {
	s.easyship.failures = map[string]easyshipFailure{}
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST /easyship/2023-01/shipments":             s.easyshipReplays(s.easyshipBuy),
		"GET /easyship/2023-01/shipments":              s.easyshipList,
		"GET /easyship/2023-01/shipments/{id}":         s.easyshipShow,
		"POST /easyship/2023-01/shipments/{id}/cancel": s.easyshipCancel,
		"GET /easyship/2023-01/account":                s.easyshipAccount,
		"/easyship/2023-01/":                           easyshipNotFound,
	} {
		s.mux.HandleFunc(pattern, s.easyshipToken(handle))
	}
	s.mux.HandleFunc("GET /easyship/files/{file}", func(w http.ResponseWriter, r *http.Request) {
		s.serveFile(w, r.PathValue("file"))
	})
}

func (s *Server) easyshipToken(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.Secret != "" && subtle.ConstantTimeCompare([]byte(bearer(r)), []byte(s.cfg.Secret)) != 1 {
			easyshipRefuse(w, http.StatusUnauthorized, "invalid_token", "Invalid token.")
			return
		}
		next(w, r)
	}
}

// easyshipError is Easyship's error body.
type easyshipError struct {
	Error easyshipFault `json:"error"`
}

type easyshipFault struct {
	Code      string   `json:"code"`
	Details   []string `json:"details"`
	Message   string   `json:"message"`
	RequestID string   `json:"request_id"`
	Type      string   `json:"type"`
}

func easyshipRefuse(w http.ResponseWriter, status int, code, message string, details ...string) {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "api_error"
	}
	reply(w, status, easyshipError{easyshipFault{
		Code: code, Details: details, Message: message, RequestID: newID(""), Type: kind,
	}})
}

// easyshipInvalid refuses a request for what it holds.
func easyshipInvalid(w http.ResponseWriter, detail string) {
	easyshipRefuse(w, http.StatusUnprocessableEntity, "invalid_content", "The request body content is not valid.", detail)
}

func easyshipNotFound(w http.ResponseWriter, _ *http.Request) {
	easyshipRefuse(w, http.StatusNotFound, "resource_not_found", "The resource was not found.")
}

var easyshipDialect = dialect{
	carrier: "easyship",
	status:  http.StatusCreated,
	name: func(r *record) {
		r.LabelID = fmt.Sprintf("ESUS%d%05d", r.Seq, crc32.ChecksumIEEE([]byte(r.TrackingNo))%100_000)
	},
	label: func(r *http.Request, charge record) any {
		return easyshipOne{Shipment: easyshipShipmentOf(r, sale{record: charge}, true), Meta: easyshipMeta{RequestID: newID("")}}
	},
	refuse: func(w http.ResponseWriter, f failure) {
		switch f {
		case undeliverable:
			easyshipInvalid(w, "The destination address is not served by the courier.")
		case tooMany:
			w.Header().Set("X-Ratelimit-Limit", "1")
			w.Header().Set("X-Ratelimit-Remaining", "0")
			easyshipRefuse(w, http.StatusTooManyRequests, "too_many_requests", "Rate Limit Exceeded.")
		case timedOut:
			easyshipRefuse(w, http.StatusGatewayTimeout, "internal_server_error", "The courier did not answer in time.")
		case otherOrder, alreadySold: // a key answers any body with what it answered first
		case broken:
			easyshipRefuse(w, http.StatusInternalServerError, "internal_server_error", "Something went wrong.")
		}
	},
}

// easyshipReplays answers a key that met a failure with that failure again, whatever the body is.
// Two answers are given before the key is looked at: to a wrong token, and to too many requests.
func (s *Server) easyshipReplays(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		if key == "" || s.faults.show().Mode != Keyed {
			next(w, r)
			return
		}
		if failure, ok := s.easyshipFailed(key); ok {
			writeRaw(w, failure.status, len(failure.body), failure.body)
			return
		}
		witness := &easyshipWitness{ResponseWriter: w}
		next(witness, r)
		if witness.status >= http.StatusBadRequest && witness.status != http.StatusTooManyRequests {
			s.easyship.mu.Lock()
			defer s.easyship.mu.Unlock()
			s.easyship.failures[key] = easyshipFailure{at: s.cfg.Now(), status: witness.status, body: witness.body.Bytes()}
		}
	}
}

func (s *Server) easyshipFailed(key string) (easyshipFailure, bool) {
	window := milliseconds(s.faults.show().KeyWindowMS)
	s.easyship.mu.Lock()
	defer s.easyship.mu.Unlock()
	failure, ok := s.easyship.failures[key]
	if ok && window > 0 && s.cfg.Now().Sub(failure.at) >= window {
		delete(s.easyship.failures, key)
		return easyshipFailure{}, false
	}
	return failure, ok
}

// easyshipWitness notes an answer as it goes out.
type easyshipWitness struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// Unwrap lets faults get at the connection.
func (w *easyshipWitness) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (w *easyshipWitness) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *easyshipWitness) Write(b []byte) (int, error) {
	w.body.Write(b)
	return w.ResponseWriter.Write(b)
}

// easyshipAccount is something harmless to ask for.
func (s *Server) easyshipAccount(w http.ResponseWriter, _ *http.Request) {
	s.pause(s.faults.latency())
	type account struct {
		Name     string `json:"name"`
		Currency string `json:"currency"`
	}
	reply(w, http.StatusOK, struct {
		Account account      `json:"account"`
		Meta    easyshipMeta `json:"meta"`
	}{account{s.cfg.Account, s.cfg.Currency}, easyshipMeta{RequestID: newID("")}})
}

func (s *Server) easyshipShow(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	charge, voided, ok := s.ledger.chargeByLabel(r.PathValue("id"))
	if ok && s.faults.show().Mode != Blind {
		if found := s.shown("easyship", []record{charge}, []bool{voided}); len(found) == 1 {
			reply(w, http.StatusOK, easyshipOne{
				Shipment: easyshipShipmentOf(r, found[0], true), Meta: easyshipMeta{RequestID: newID("")},
			})
			return
		}
	}
	easyshipNotFound(w, r)
}

// easyshipList shows shipments, the youngest first, without their documents. A page after the last
// is an error.
func (s *Server) easyshipList(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	query := r.URL.Query()
	size, err := pageOf(query.Get("per_page"), 20, 100)
	page, pageErr := pageOf(query.Get("page"), 1, 1_000_000)
	switch {
	case s.faults.show().Mode == Blind:
		easyshipNotFound(w, r)
		return
	case err != nil || pageErr != nil:
		easyshipRefuse(w, http.StatusBadRequest, "invalid_url_param", "The request URL param is invalid.")
		return
	}
	all := s.easyshipFound(r)
	pages := max((len(all)+size-1)/size, 1)
	if page > pages {
		easyshipRefuse(w, http.StatusBadRequest, "invalid_url_param", "The request URL param is invalid.",
			fmt.Sprintf("expected :page to be < %d; got %d", pages+1, page))
		return
	}
	meta := easyshipMeta{RequestID: newID(""), Pagination: &easyshipPagination{Count: len(all), Page: page}}
	if page < pages {
		query.Set("page", strconv.Itoa(page+1))
		meta.Pagination.Next = new(serverURL(r, r.URL.Path+"?"+query.Encode()))
	}
	start := (page - 1) * size
	reply(w, http.StatusOK, struct {
		Shipments []easyshipShipment `json:"shipments"`
		Meta      easyshipMeta       `json:"meta"`
	}{all[start:min(start+size, len(all))], meta})
}

// easyshipFound are the shipments that the filters of a query leave.
func (s *Server) easyshipFound(r *http.Request) []easyshipShipment {
	query := r.URL.Query()
	charges, voided := s.ledger.everyCharge("easyship")
	if reference := query.Get("platform_order_number"); reference != "" {
		charges, voided = s.ledger.chargesByReference(reference)
	}
	var all []easyshipShipment
	for _, sold := range s.shown("easyship", charges, voided) {
		shipment := easyshipShipmentOf(r, sold, false)
		wanted := true
		for name, value := range map[string]string{
			"platform_order_number": sold.Reference, "easyship_shipment_id": sold.LabelID, "label_state": shipment.LabelState,
		} {
			wanted = wanted && (query.Get(name) == "" || query.Get(name) == value)
		}
		if wanted {
			all = append(all, shipment)
		}
	}
	slices.Reverse(all)
	return all
}

// easyshipCancel: a second cancellation is an error like any other, which a look at the shipment
// explains.
func (s *Server) easyshipCancel(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	charge, _, ok := s.ledger.chargeByLabel(r.PathValue("id"))
	if !ok || charge.Dialect != "easyship" {
		easyshipNotFound(w, r)
		return
	}
	answer, err := s.giveBack(charge.LabelID)
	switch {
	case err != nil:
		easyshipDialect.refuse(w, broken)
	case answer.Status != "voided":
		easyshipInvalid(w, "The shipment is cancelled already.")
	default:
		type success struct {
			Message string `json:"message"`
		}
		reply(w, http.StatusOK, struct {
			Meta    easyshipMeta `json:"meta"`
			Success success      `json:"success"`
		}{easyshipMeta{RequestID: newID("")}, success{"Shipment successfully cancelled"}})
	}
}
