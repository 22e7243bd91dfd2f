package simserver

import (
	"crypto/subtle"
	"encoding/json/jsontext"
	"net/http"
	"sync"
)

// easypost is what EasyPost keeps outside the ledger: shipments that were made and not bought.
type easypost struct {
	mu          sync.Mutex
	prepared    map[string]easypostShipment
	byReference map[string][]string
	order       []string // their ids, oldest first
}

func (s *Server) routeEasyPost() {
	s.easypost.prepared, s.easypost.byReference = map[string]easypostShipment{}, map[string][]string{}
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST /easypost/v2/shipments":             s.easypostCreate,
		"GET /easypost/v2/shipments":              s.easypostList,
		"GET /easypost/v2/shipments/{id}":         s.easypostShow,
		"POST /easypost/v2/shipments/{id}/buy":    s.easypostBuy,
		"POST /easypost/v2/shipments/{id}/refund": s.easypostRefund,
		"GET /easypost/v2/shipments/{id}/label":   s.easypostConvert,
		"/easypost/v2/":                           easypostNotFound,
	} {
		s.mux.HandleFunc(pattern, s.easypostUser(handle))
	}
	s.mux.HandleFunc("GET /easypost/files/{file}", s.easypostFile)
}

// easypostUser checks the API key: the user of basic authentication, without a password.
func (s *Server) easypostUser(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		right := subtle.ConstantTimeCompare([]byte(user), []byte(s.cfg.Secret)) == 1 && password == ""
		if s.cfg.Secret != "" && !right {
			easypostRefuse(w, http.StatusUnauthorized, "APIKEY.INACTIVE", "This api key is not active.")
			return
		}
		next(w, r)
	}
}

// easypostError is EasyPost's error body.
type easypostError struct {
	Error easypostFault `json:"error"`
}

type easypostFault struct {
	Code    string               `json:"code"`
	Message string               `json:"message"`
	Errors  []easypostFieldError `json:"errors"`
}

type easypostFieldError struct {
	Field      string  `json:"field"`
	Message    string  `json:"message"`
	Suggestion *string `json:"suggestion"`
}

func easypostRefuse(w http.ResponseWriter, status int, code, message string, fields ...easypostFieldError) {
	reply(w, status, easypostError{easypostFault{Code: code, Message: message, Errors: fields}})
}

// easypostInvalid refuses a request for one of its members.
func easypostInvalid(w http.ResponseWriter, field, message string) {
	easypostRefuse(w, http.StatusUnprocessableEntity, "PARAMETER.INVALID", "Invalid parameters.",
		easypostFieldError{Field: field, Message: message})
}

func easypostNotFound(w http.ResponseWriter, _ *http.Request) {
	easypostRefuse(w, http.StatusNotFound, "NOT_FOUND", "The requested resource could not be found.")
}

// easypostDialect is how EasyPost answers a purchase: 200 where a shipment of before is bought, 201
// where it is made and bought in one call.
func easypostDialect(status int) dialect {
	return dialect{
		carrier: "easypost",
		status:  status,
		label: func(r *http.Request, charge record) any {
			return remembered[easypostShipment](charge).bought(r, sale{record: charge})
		},
		refuse: func(w http.ResponseWriter, f failure) {
			const unprocessable = http.StatusUnprocessableEntity
			switch f {
			case undeliverable:
				easypostRefuse(w, unprocessable, "ADDRESS.VERIFY.FAILURE", "The carrier delivers nothing to this address.")
			case tooMany:
				easypostRefuse(w, http.StatusTooManyRequests, "RATE_LIMITED", "Too many requests.")
			case timedOut:
				// The status says "refused", the code says "nobody knows".
				easypostRefuse(w, unprocessable, "SHIPMENT.POSTAGE.TIMED_OUT", "The carrier did not answer in time.")
			case alreadySold:
				easypostRefuse(w, unprocessable, "SHIPMENT.POSTAGE.EXISTS", "Postage already exists for this shipment.")
			case otherOrder: // no key is honoured
			case broken:
				easypostRefuse(w, http.StatusInternalServerError, "INTERNAL_SERVER_ERROR", "Something went wrong.")
			}
		},
	}
}

// easypostBuy is the second of two steps.
func (s *Server) easypostBuy(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Rate        *easypostChosenRate `json:"rate"`
		Insurance   jsontext.Value      `json:"insurance"`
		EndShipper  string              `json:"end_shipper"`
		LabelFormat string              `json:"label_format"`
	}
	raw, err := readJSON(w, r, &body)
	switch id := r.PathValue("id"); {
	case err != nil:
		easypostInvalid(w, "body", err.Error())
	case body.Rate == nil || body.Rate.ID == "":
		easypostRefuse(w, http.StatusUnprocessableEntity, "PARAMETER.REQUIRED", "Missing required parameter.",
			easypostFieldError{Field: "rate", Message: "cannot be blank"})
	case s.easypostIsSold(id):
		easypostDialect(0).refuse(w, alreadySold)
	default:
		s.easypostSellRate(w, r, id, body.Rate.ID, digest(raw))
	}
}

func (s *Server) easypostIsSold(id string) bool {
	charges, _ := s.ledger.chargesByRemoteID(id)
	return len(charges) > 0
}

func (s *Server) easypostSellRate(w http.ResponseWriter, r *http.Request, id, rateID, digest string) {
	shipment, ok := s.easypostPrepared(id)
	rate, offered := shipment.rate(rateID)
	if !ok || !offered {
		easypostNotFound(w, r)
		return
	}
	s.easypostSell(w, r, http.StatusOK, shipment, rate, digest)
}

func (s *Server) easypostSell(w http.ResponseWriter, r *http.Request, status int, shipment easypostShipment, rate easypostRate, digest string) {
	shipment.SelectedRate = &rate
	s.sell(w, r, purchase{
		dialect:  easypostDialect(status),
		order:    shipment.asOrder(rate.Service),
		digest:   digest,
		remoteID: shipment.ID,
		once:     true,
		told:     encode(shipment),
	})
}

// easypostRefund answers "submitted" to the first call and "refunded" to all that follow, as if the
// carrier had worked through it in between.
func (s *Server) easypostRefund(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	id := r.PathValue("id")
	charges, _ := s.ledger.chargesByRemoteID(id)
	if len(charges) == 0 {
		if _, ok := s.easypostPrepared(id); ok {
			easypostRefuse(w, http.StatusUnprocessableEntity, "SHIPMENT.REFUND.UNAVAILABLE", "No postage was bought for this shipment.")
			return
		}
		easypostNotFound(w, r)
		return
	}
	answer, err := s.giveBack(charges[0].LabelID)
	if err != nil {
		easypostDialect(0).refuse(w, broken)
		return
	}
	shown := remembered[easypostShipment](charges[0]).bought(r, sale{record: charges[0], voided: true})
	if answer.Status == "voided" {
		shown.RefundStatus = new("submitted")
	}
	reply(w, http.StatusOK, shown)
}

// easypostFile serves a label. The files lie with another company, which refuses credentials that
// are not its own: they were not to be sent there.
func (s *Server) easypostFile(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "Unsupported Authorization Type", http.StatusBadRequest)
		return
	}
	s.serveFile(w, r.PathValue("file"))
}
