package simserver

import (
	"encoding/json/jsontext"
	"net/http"
	"slices"
	"strings"
)

// easypostOrder is the body of POST /shipments.
type easypostOrder struct {
	Shipment *struct {
		Reference       string           `json:"reference"`
		ToAddress       *easypostAddress `json:"to_address"`
		FromAddress     *easypostAddress `json:"from_address"`
		Parcel          *easypostParcel  `json:"parcel"`
		Options         easypostOptions  `json:"options"`
		IsReturn        bool             `json:"is_return"`
		CustomsInfo     jsontext.Value   `json:"customs_info"`
		CarrierAccounts []string         `json:"carrier_accounts"`
		Service         string           `json:"service"`
	} `json:"shipment"`
}

// easypostCreate makes a shipment and rates it, which costs nothing. With a service named it buys it
// as well, in the same call.
func (s *Server) easypostCreate(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 {
		easypostRefuse(w, http.StatusLengthRequired, "BAD_REQUEST", "The length of the body must be announced.")
		return
	}
	var body easypostOrder
	raw, err := readJSON(w, r, &body)
	if err != nil {
		easypostInvalid(w, "shipment", err.Error())
		return
	}
	if field, complaint := body.complaint(); field != "" {
		easypostRefuse(w, http.StatusUnprocessableEntity, "PARAMETER.REQUIRED", "Missing or invalid parameter.",
			easypostFieldError{Field: field, Message: complaint})
		return
	}
	shipment := s.easypostMake(body)
	if body.Shipment.Service == "" {
		s.pause(s.faults.latency())
		s.easypostKeep(shipment)
		reply(w, http.StatusCreated, shipment)
		return
	}
	i := slices.IndexFunc(shipment.Rates, func(r easypostRate) bool { return r.Service == body.Shipment.Service })
	if i < 0 {
		easypostRefuse(w, http.StatusUnprocessableEntity, "SHIPMENT.INVALID_PARAMS", "The service is not offered.")
		return
	}
	s.easypostSell(w, r, http.StatusCreated, shipment, shipment.Rates[i], digest(raw))
}

// maxEasypostOunces is 70 pounds, the most that the carriers behind it take.
const maxEasypostOunces = 70 * 16

// complaint names the first member that is missing or makes no sense.
func (o easypostOrder) complaint() (field, message string) {
	order := o.Shipment
	switch {
	case order == nil:
		return "shipment", "cannot be blank"
	case order.Parcel == nil || len(order.Parcel.Weight.Value) == 0:
		return "parcel.weight", "cannot be blank"
	case order.Parcel.Weight.float() > maxEasypostOunces:
		return "parcel.weight", "is in ounces and above the limit"
	case easypostFormats[order.Options.LabelFormat] == "":
		return "options.label_format", "must be PNG, PDF or ZPL"
	case order.Service != "" && len(order.CarrierAccounts) == 0:
		return "carrier_accounts", "cannot be blank"
	}
	if sides := order.Parcel; len(sides.Length.Value)+len(sides.Width.Value)+len(sides.Height.Value) > 0 &&
		(len(sides.Length.Value) == 0 || len(sides.Width.Value) == 0 || len(sides.Height.Value) == 0) {
		return "parcel", "needs all three of length, width and height"
	}
	if lacks := order.ToAddress.lacks(); lacks != "" {
		return "to_address." + lacks, "cannot be blank"
	}
	if lacks := order.FromAddress.lacks(); lacks != "" {
		return "from_address." + lacks, "cannot be blank"
	}
	return "", ""
}

// lacks names the first member that an address cannot do without.
func (a *easypostAddress) lacks() string {
	blank := func(s *string) bool { return s == nil || strings.TrimSpace(*s) == "" }
	switch {
	case a == nil:
		return "street1"
	case blank(a.Name) && blank(a.Company):
		return "name"
	case blank(a.Street1):
		return "street1"
	case blank(a.City):
		return "city"
	case blank(a.Zip):
		return "zip"
	case blank(a.Country):
		return "country"
	}
	return ""
}

// easypostOffers are the rates of every shipment, in an order that has no meaning.
var easypostOffers = []struct{ carrier, service string }{
	{"USPS", "Priority"}, {"UPS", "Ground"}, {"USPS", "GroundAdvantage"}, {"USPS", "Express"}, {"UPS", "NextDayAir"},
}

func (s *Server) easypostMake(o easypostOrder) easypostShipment {
	now := s.cfg.Now().UTC()
	e := easypostShipment{
		ID:          newID("shp_"),
		Object:      "Shipment",
		Reference:   nilIfEmpty(o.Shipment.Reference),
		Mode:        "test",
		CreatedAt:   now,
		UpdatedAt:   now,
		IsReturn:    o.Shipment.IsReturn,
		Status:      "unknown",
		ToAddress:   *o.Shipment.ToAddress,
		FromAddress: *o.Shipment.FromAddress,
		Parcel:      *o.Shipment.Parcel,
		Options:     o.Shipment.Options,
	}
	e.ToAddress.ID, e.FromAddress.ID, e.Parcel.ID = newID("adr_"), newID("adr_"), newID("prcl_")
	account := "ca_simulated"
	if accounts := o.Shipment.CarrierAccounts; len(accounts) > 0 {
		account = accounts[0]
	}
	for _, offer := range easypostOffers {
		e.Rates = append(e.Rates, easypostRate{
			ID:               newID("rate_"),
			Object:           "Rate",
			Carrier:          offer.carrier,
			CarrierAccountID: account,
			Service:          offer.service,
			Rate:             decimal(e.asOrder(offer.service).price()),
			Currency:         s.cfg.Currency,
			ShipmentID:       e.ID,
		})
	}
	return e
}

func (s *Server) easypostKeep(e easypostShipment) {
	s.easypostRemember(e)
	s.keep("easypost", e)
}

func (s *Server) easypostRemember(e easypostShipment) {
	s.easypost.mu.Lock()
	defer s.easypost.mu.Unlock()
	s.easypost.prepared[e.ID] = e
	s.easypost.order = append(s.easypost.order, e.ID)
	if e.Reference != nil {
		s.easypost.byReference[*e.Reference] = append(s.easypost.byReference[*e.Reference], e.ID)
	}
}

func (s *Server) easypostPrepared(id string) (easypostShipment, bool) {
	s.easypost.mu.Lock()
	defer s.easypost.mu.Unlock()
	e, ok := s.easypost.prepared[id]
	return e, ok
}
