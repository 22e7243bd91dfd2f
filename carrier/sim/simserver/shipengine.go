package simserver

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json/jsontext"
	"fmt"
	"hash/crc32"
	"math/big"
	"net/http"
	"slices"
	"sync"
)

// shipengine is what ShipEngine keeps outside the ledger: shipments that were made and not bought.
type shipengine struct {
	mu         sync.Mutex
	prepared   map[string]shipengineShipment
	byExternal map[string]string
}

func (s *Server) routeShipEngine() {
	s.shipengine.prepared, s.shipengine.byExternal = map[string]shipengineShipment{}, map[string]string{}
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST /shipengine/v1/shipments":                           s.shipengineCreate,
		"GET /shipengine/v1/shipments/{id}":                       s.shipengineShow,
		"GET /shipengine/v1/shipments/external_shipment_id/{ext}": s.shipengineShow,
		"POST /shipengine/v1/labels/shipment/{id}":                s.shipengineBuy,
		"GET /shipengine/v1/labels":                               s.shipengineList,
		"GET /shipengine/v1/labels/{label}":                       s.shipengineLabel,
		"GET /shipengine/v1/labels/external_shipment_id/{ext}":    s.shipengineLabel,
		"PUT /shipengine/v1/labels/{label}/void":                  s.shipengineVoid,
		"GET /shipengine/v1/carriers":                             s.shipengineCarriers,
		"/shipengine/v1/":                                         shipengineNotFound,
	} {
		s.mux.HandleFunc(pattern, s.shipengineKey(handle))
	}
	s.mux.HandleFunc("GET /shipengine/v1/downloads/{file}", func(w http.ResponseWriter, r *http.Request) {
		s.serveFile(w, r.PathValue("file"))
	})
}

func (s *Server) shipengineKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := []byte(r.Header.Get("API-Key"))
		if s.cfg.Secret != "" && subtle.ConstantTimeCompare(key, []byte(s.cfg.Secret)) != 1 {
			shipengineRefuse(w, http.StatusUnauthorized, shipengineFault{
				Type: "security", Code: "unauthorized", Message: "The API key is invalid.",
			})
			return
		}
		next(w, r)
	}
}

// shipengineError is ShipEngine's error body.
type shipengineError struct {
	RequestID string            `json:"request_id"`
	Errors    []shipengineFault `json:"errors"`
}

type shipengineFault struct {
	Source  string `json:"error_source"`
	Type    string `json:"error_type"`
	Code    string `json:"error_code"`
	Message string `json:"message"`
	Field   string `json:"field_name,omitzero"`
}

func shipengineRefuse(w http.ResponseWriter, status int, fault shipengineFault) {
	if fault.Source == "" {
		fault.Source = "shipengine"
	}
	reply(w, status, shipengineError{RequestID: newID(""), Errors: []shipengineFault{fault}})
}

// shipengineInvalid refuses a request for one of its members.
func shipengineInvalid(w http.ResponseWriter, field, message string) {
	shipengineRefuse(w, http.StatusBadRequest, shipengineFault{
		Type: "validation", Code: "invalid_field_value", Message: message, Field: field,
	})
}

func shipengineNotFound(w http.ResponseWriter, _ *http.Request) {
	shipengineRefuse(w, http.StatusNotFound, shipengineFault{
		Type: "validation", Code: "not_found", Message: "There is no such resource.",
	})
}

// shipengineDialect answers a purchase; inline asks for the document in the answer.
func shipengineDialect(inline bool) dialect {
	return dialect{
		carrier: "shipengine",
		status:  http.StatusOK,
		name: func(r *record) {
			r.LabelID = fmt.Sprintf("se-%d%05d", r.Seq, crc32.ChecksumIEEE([]byte(r.TrackingNo))%100_000)
		},
		label: func(r *http.Request, charge record) any {
			return shipengineLabelOf(r, sale{record: charge}, inline)
		},
		refuse: func(w http.ResponseWriter, f failure) {
			switch f {
			case undeliverable:
				shipengineRefuse(w, http.StatusBadRequest, shipengineFault{
					Source: "carrier", Type: "business_rules", Code: "invalid_address", Message: "No delivery to this address.",
				})
			case tooMany:
				shipengineRefuse(w, http.StatusTooManyRequests, shipengineFault{
					Type: "system", Code: "rate_limit_exceeded", Message: "Too many requests.",
				})
			case timedOut:
				shipengineRefuse(w, http.StatusGatewayTimeout, shipengineFault{
					Source: "carrier", Type: "system", Code: "unspecified", Message: "The carrier did not answer in time.",
				})
			case otherOrder, alreadySold: // no key is honoured, and a shipment can be bought again
			case broken:
				shipengineRefuse(w, http.StatusInternalServerError, shipengineFault{
					Type: "system", Code: "unspecified", Message: "Something went wrong.",
				})
			}
		},
	}
}

// shipengineID is "se-" and digits.
func shipengineID() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000_000_000))
	if err != nil {
		panic(fmt.Sprintf("simserver: drawing an id: %v", err)) // the system's source never fails
	}
	return fmt.Sprintf("se-%012d", n)
}

// maxExternalID is where ShipEngine cuts an external id off, without a word.
const maxExternalID = 50

// shipengineCreate makes shipments, which costs nothing. An external id can be used once.
func (s *Server) shipengineCreate(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	var body struct {
		Shipments []shipengineShipment `json:"shipments"`
	}
	if _, err := readJSON(w, r, &body); err != nil {
		shipengineInvalid(w, "shipments", err.Error())
		return
	}
	if len(body.Shipments) != 1 {
		shipengineInvalid(w, "shipments", "The simulator takes one shipment.")
		return
	}
	made := body.Shipments[0]
	if field, message := made.complaint(); field != "" {
		shipengineInvalid(w, field, message)
		return
	}
	if runes := []rune(made.ExternalShipmentID); len(runes) > maxExternalID {
		made.ExternalShipmentID = string(runes[:maxExternalID])
	}
	made.ShipmentID, made.ShipmentStatus = shipengineID(), "pending"
	made.CreatedAt = s.cfg.Now().UTC()
	if made.ExternalShipmentID == "" {
		made.ExternalShipmentID = made.ShipmentID
	}
	if !s.shipengineKeep(made) {
		shipengineRefuse(w, http.StatusBadRequest, shipengineFault{
			Type: "business_rules", Code: "identifier_conflict", Field: "external_shipment_id",
			Message: "A shipment of this external_shipment_id exists.",
		})
		return
	}
	reply(w, http.StatusOK, struct {
		HasErrors bool             `json:"has_errors"`
		Shipments []shipengineMade `json:"shipments"`
	}{Shipments: []shipengineMade{{Errors: []string{}, shipengineShipment: made}}})
}

// shipengineMade is a shipment with what is wrong about it: an answer of 200 may hold errors.
type shipengineMade struct {
	Errors []string `json:"errors"`
	shipengineShipment
}

// shipengineKeep fails if the external id was used: bought or not.
func (s *Server) shipengineKeep(made shipengineShipment) bool {
	s.shipengine.mu.Lock()
	defer s.shipengine.mu.Unlock()
	if _, used := s.shipengineFind("", made.ExternalShipmentID); used {
		return false
	}
	s.shipengine.prepared[made.ShipmentID] = made
	s.shipengine.byExternal[made.ExternalShipmentID] = made.ShipmentID
	s.keep("shipengine", made)
	return true
}

func (s *Server) shipengineRemember(made shipengineShipment) {
	s.shipengine.mu.Lock()
	defer s.shipengine.mu.Unlock()
	s.shipengine.prepared[made.ShipmentID] = made
	s.shipengine.byExternal[made.ExternalShipmentID] = made.ShipmentID
}

// shipengineFind looks among the shipments made since the start, and those bought before, by either
// id. The caller holds the lock.
func (s *Server) shipengineFind(id, external string) (shipengineShipment, bool) {
	if made, ok := s.shipengine.byExternal[external]; ok && id == "" {
		id = made
	}
	if made, ok := s.shipengine.prepared[id]; ok {
		return made, true
	}
	charges, _ := s.ledger.chargesByRemoteID(id)
	if id == "" {
		charges, _ = s.ledger.chargesByReference(external)
	}
	for _, charge := range charges {
		if charge.Dialect == "shipengine" {
			return remembered[shipengineKept](charge).Shipment, true
		}
	}
	return shipengineShipment{}, false
}

// shipengineAsked is the shipment that the path names.
func (s *Server) shipengineAsked(r *http.Request) (shipengineShipment, bool) {
	s.shipengine.mu.Lock()
	defer s.shipengine.mu.Unlock()
	return s.shipengineFind(r.PathValue("id"), r.PathValue("ext"))
}

func (s *Server) shipengineShow(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	shipment, ok := s.shipengineAsked(r)
	if !ok || s.faults.show().Mode == Blind {
		shipengineNotFound(w, r)
		return
	}
	charges, voided := s.ledger.chargesByRemoteID(shipment.ShipmentID)
	if len(s.shown("shipengine", charges, voided)) > 0 {
		shipment.ShipmentStatus = "label_purchased"
	}
	reply(w, http.StatusOK, shipment)
}

// shipengineKept is what the ledger keeps of a purchase.
type shipengineKept struct {
	Shipment shipengineShipment
	Layout   string
}

// shipengineBuy buys a shipment of before. Nothing says that it can be bought once only: it can be
// bought again.
func (s *Server) shipengineBuy(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ValidateAddress   string         `json:"validate_address"`
		LabelLayout       string         `json:"label_layout"`
		LabelFormat       string         `json:"label_format"`
		LabelDownloadType string         `json:"label_download_type"`
		DisplayScheme     string         `json:"display_scheme"`
		TestLabel         bool           `json:"test_label"`
		LabelImageID      jsontext.Value `json:"label_image_id"`
	}
	raw, err := readJSON(w, r, &body)
	f := map[string]format{"": "pdf", "pdf": "pdf", "png": "png", "zpl": "zpl"}[body.LabelFormat]
	shipment, ok := s.shipengineAsked(r)
	switch {
	case err != nil:
		shipengineInvalid(w, "body", err.Error())
	case f == "":
		shipengineInvalid(w, "label_format", "It must be pdf, png or zpl.")
	case !slices.Contains([]string{"", "url", "inline"}, body.LabelDownloadType):
		shipengineInvalid(w, "label_download_type", "It must be url or inline.")
	case !ok:
		shipengineNotFound(w, r)
	default:
		s.sell(w, r, purchase{
			dialect:  shipengineDialect(body.LabelDownloadType == "inline"),
			order:    shipment.asOrder(f),
			digest:   digest(append(raw, shipment.ShipmentID...)),
			remoteID: shipment.ShipmentID,
			told:     encode(shipengineKept{shipment, body.LabelLayout}),
		})
	}
}

// shipengineCarriers is something harmless to ask for.
func (s *Server) shipengineCarriers(w http.ResponseWriter, _ *http.Request) {
	s.pause(s.faults.latency())
	type carrier struct {
		ID            string `json:"carrier_id"`
		Code          string `json:"carrier_code"`
		AccountNumber string `json:"account_number"`
	}
	reply(w, http.StatusOK, struct {
		Carriers  []carrier         `json:"carriers"`
		RequestID string            `json:"request_id"`
		Errors    []shipengineFault `json:"errors"`
	}{Carriers: []carrier{{"se-123890", "stamps_com", s.cfg.Account}}, RequestID: newID("")})
}

// shipengineVoid: a refusal is no error, but an answer that is not approved.
func (s *Server) shipengineVoid(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	charge, _, ok := s.ledger.chargeByLabel(r.PathValue("label"))
	if !ok || charge.Dialect != "shipengine" {
		shipengineNotFound(w, r)
		return
	}
	type verdict struct {
		Approved   bool    `json:"approved"`
		Message    string  `json:"message"`
		ReasonCode *string `json:"reason_code"`
	}
	answer, err := s.giveBack(charge.LabelID)
	switch {
	case err != nil:
		shipengineDialect(false).refuse(w, broken)
	case answer.Status == "voided":
		reply(w, http.StatusOK, verdict{Approved: true, Message: "This label has been voided."})
	default:
		reply(w, http.StatusOK, verdict{Message: "The label was voided before.", ReasonCode: new("label_already_voided")})
	}
}
