package simserver

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

type shipengineShipment struct {
	ShipmentID         string              `json:"shipment_id,omitzero"`
	CarrierID          string              `json:"carrier_id"`
	ServiceCode        string              `json:"service_code"`
	ExternalShipmentID string              `json:"external_shipment_id"`
	ShipmentNumber     string              `json:"shipment_number,omitzero"`
	ExternalOrderID    string              `json:"external_order_id,omitzero"`
	ShipDate           string              `json:"ship_date,omitzero"`
	CreatedAt          time.Time           `json:"created_at,omitzero"`
	ShipmentStatus     string              `json:"shipment_status,omitzero"`
	ValidateAddress    string              `json:"validate_address,omitzero"`
	Confirmation       string              `json:"confirmation,omitzero"`
	InsuranceProvider  string              `json:"insurance_provider,omitzero"`
	AdvancedOptions    jsontext.Value      `json:"advanced_options,omitzero"`
	ShipTo             *shipengineAddress  `json:"ship_to"`
	ShipFrom           *shipengineAddress  `json:"ship_from"`
	Packages           []shipenginePackage `json:"packages"`
}

type shipengineAddress struct {
	Name                 string `json:"name"`
	Phone                string `json:"phone,omitzero"`
	Email                string `json:"email,omitzero"`
	CompanyName          string `json:"company_name,omitzero"`
	AddressLine1         string `json:"address_line1"`
	AddressLine2         string `json:"address_line2,omitzero"`
	AddressLine3         string `json:"address_line3,omitzero"`
	CityLocality         string `json:"city_locality"`
	StateProvince        string `json:"state_province"`
	PostalCode           string `json:"postal_code"`
	CountryCode          string `json:"country_code"`
	ResidentialIndicator string `json:"address_residential_indicator,omitzero"`
}

type shipenginePackage struct {
	PackageCode   string                `json:"package_code,omitzero"`
	Weight        shipengineWeight      `json:"weight"`
	Dimensions    *shipengineDimensions `json:"dimensions,omitzero"`
	LabelMessages jsontext.Value        `json:"label_messages,omitzero"`
}

type shipengineWeight struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

type shipengineDimensions struct {
	Unit   string  `json:"unit"`
	Length float64 `json:"length"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

var shipengineWeights = map[string]float64{"pound": poundG, "ounce": ounceG, "gram": 1, "kilogram": 1000}

// shipengineServices are what the carrier behind it offers.
var shipengineServices = []string{
	"usps_ground_advantage", "usps_priority_mail", "usps_priority_mail_express",
	"ups_ground", "ups_next_day_air", "fedex_ground",
}

// complaint names the first member that is missing or makes no sense.
func (e shipengineShipment) complaint() (field, message string) {
	switch {
	case e.ShipmentID != "" || e.ShipmentStatus != "" || !e.CreatedAt.IsZero():
		return "shipment_id", "It is read-only."
	case !strings.HasPrefix(e.CarrierID, "se-"):
		return "carrier_id", "It is required, and begins with se-."
	case !slices.Contains(shipengineServices, e.ServiceCode):
		return "service_code", "It is not one that is offered."
	case len(e.Packages) != 1:
		return "packages", "The simulator takes one parcel."
	}
	if lacks := e.ShipTo.lacks(); lacks != "" {
		return "ship_to." + lacks, "It is required."
	}
	if lacks := e.ShipFrom.lacks(); lacks != "" {
		return "ship_from." + lacks, "It is required."
	}
	parcel := e.Packages[0]
	switch d := parcel.Dimensions; {
	case shipengineWeights[parcel.Weight.Unit] == 0:
		return "packages.weight.unit", "It must be pound, ounce, gram or kilogram."
	case parcel.Weight.Value <= 0 || parcel.grams() > grams(maxFedExPounds, poundG):
		return "packages.weight.value", "It must be above 0 and at most 150 pounds."
	case d != nil && d.Unit != "inch" && d.Unit != "centimeter":
		return "packages.dimensions.unit", "It must be inch or centimeter."
	case d != nil && (min(d.Length, d.Width, d.Height) <= 0 || (d.Unit == "inch" && d.Length > 108)):
		return "packages.dimensions", "They must be above 0 and at most 108 inches."
	}
	return "", ""
}

func (p shipenginePackage) grams() int64 {
	return grams(p.Weight.Value, shipengineWeights[p.Weight.Unit])
}

// lacks names the first member that an address cannot do without.
func (a *shipengineAddress) lacks() string {
	switch {
	case a == nil || a.Name == "":
		return "name"
	case a.AddressLine1 == "":
		return "address_line1"
	case a.CityLocality == "":
		return "city_locality"
	case a.StateProvince == "" && a.CountryCode == "US":
		return "state_province"
	case a.PostalCode == "":
		return "postal_code"
	case len(a.CountryCode) != 2:
		return "country_code"
	}
	return ""
}

func (e shipengineShipment) asOrder(f format) order {
	return order{Reference: e.ExternalShipmentID, Service: e.ServiceCode, WeightG: e.Packages[0].grams(), Format: f}
}

// shipengineSold is a label.
type shipengineSold struct {
	LabelID            string              `json:"label_id"`
	Status             string              `json:"status"`
	ShipmentID         string              `json:"shipment_id"`
	ExternalShipmentID string              `json:"external_shipment_id"`
	ExternalOrderID    *string             `json:"external_order_id"`
	ShipDate           string              `json:"ship_date"`
	CreatedAt          time.Time           `json:"created_at"`
	ShipmentCost       shipengineMoney     `json:"shipment_cost"`
	InsuranceCost      shipengineMoney     `json:"insurance_cost"`
	TrackingNumber     string              `json:"tracking_number"`
	IsReturnLabel      bool                `json:"is_return_label"`
	CarrierID          string              `json:"carrier_id"`
	CarrierCode        string              `json:"carrier_code"`
	ServiceCode        string              `json:"service_code"`
	Voided             bool                `json:"voided"`
	LabelFormat        format              `json:"label_format"`
	LabelLayout        string              `json:"label_layout"`
	ChargeEvent        string              `json:"charge_event"`
	LabelDownload      shipengineLinks     `json:"label_download"`
	FormDownload       *shipengineLinks    `json:"form_download"`
	ShipTo             *shipengineAddress  `json:"ship_to"`
	Packages           []shipenginePackage `json:"packages"`
}

// shipengineMoney has its currency in lower case.
type shipengineMoney struct {
	Currency string         `json:"currency"`
	Amount   jsontext.Value `json:"amount"`
}

type shipengineLinks struct {
	Href string `json:"href"`
	PDF  string `json:"pdf,omitzero"`
	PNG  string `json:"png,omitzero"`
	ZPL  string `json:"zpl,omitzero"`
}

func shipengineLabelOf(r *http.Request, sold sale, inline bool) shipengineSold {
	kept := remembered[shipengineKept](sold.record)
	money := func(cents int64) shipengineMoney {
		return shipengineMoney{Currency: strings.ToLower(sold.Currency), Amount: amount(cents)}
	}
	label := shipengineSold{
		LabelID:            sold.LabelID,
		Status:             "completed",
		ShipmentID:         kept.Shipment.ShipmentID,
		ExternalShipmentID: sold.Reference,
		ShipDate:           sold.At.Format(time.RFC3339),
		CreatedAt:          sold.At,
		ShipmentCost:       money(sold.AmountCents),
		InsuranceCost:      money(0),
		TrackingNumber:     sold.TrackingNo,
		CarrierID:          kept.Shipment.CarrierID,
		CarrierCode:        "stamps_com",
		ServiceCode:        sold.Order.Service,
		Voided:             sold.voided,
		LabelFormat:        sold.Order.Format,
		LabelLayout:        kept.Layout,
		ChargeEvent:        "carrier_default",
		LabelDownload:      shipengineLinksOf(r, sold.record, inline),
		ShipTo:             kept.Shipment.ShipTo,
		Packages:           kept.Shipment.Packages,
	}
	if sold.voided {
		label.Status = "voided"
	}
	return label
}

func shipengineLinksOf(r *http.Request, charge record, inline bool) shipengineLinks {
	if inline {
		content := base64.StdEncoding.EncodeToString(printers[charge.Order.Format](charge.Entry))
		return shipengineLinks{Href: "data:" + mediaTypes[charge.Order.Format] + ";base64," + content}
	}
	url := func(extension string) string {
		return serverURL(r, "/shipengine/v1/downloads/"+charge.LabelID+"."+extension)
	}
	return shipengineLinks{Href: url(string(charge.Order.Format)), PDF: url("pdf"), PNG: url("png"), ZPL: url("zpl")}
}

// shipengineList shows labels, the youngest first unless asked otherwise.
func (s *Server) shipengineList(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	query := r.URL.Query()
	size, err := pageOf(query.Get("page_size"), 25, 500)
	page, pageErr := pageOf(query.Get("page"), 1, 1_000_000)
	switch {
	case s.faults.show().Mode == Blind:
		shipengineNotFound(w, r)
		return
	case err != nil:
		shipengineInvalid(w, "page_size", err.Error())
		return
	case pageErr != nil:
		shipengineInvalid(w, "page", pageErr.Error())
		return
	}
	labels := []shipengineSold{}
	charges, voided := s.ledger.everyCharge("shipengine")
	if id := query.Get("shipment_id"); id != "" {
		charges, voided = s.ledger.chargesByRemoteID(id)
	}
	for _, sold := range s.shown("shipengine", charges, voided) {
		if label := shipengineLabelOf(r, sold, false); label.asked(query.Get) {
			labels = append(labels, label)
		}
	}
	if query.Get("sort_dir") != "asc" {
		slices.Reverse(labels)
	}
	total, pages := len(labels), (len(labels)+size-1)/size
	start := min((page-1)*size, total)
	reply(w, http.StatusOK, shipenginePage{
		Labels: labels[start:min(start+size, total)], Total: total, Page: page, Pages: pages,
		Links: shipenginePageLinks(r, page, pages),
	})
}

// asked compares the label with the filters of a query.
func (l shipengineSold) asked(filter func(string) string) bool {
	for name, value := range map[string]string{
		"shipment_id": l.ShipmentID, "tracking_number": l.TrackingNumber, "label_status": l.Status,
		"carrier_id": l.CarrierID, "service_code": l.ServiceCode,
	} {
		if wanted := filter(name); wanted != "" && wanted != value {
			return false
		}
	}
	return true
}

type shipenginePage struct {
	Labels []shipengineSold               `json:"labels"`
	Total  int                            `json:"total"`
	Page   int                            `json:"page"`
	Pages  int                            `json:"pages"`
	Links  map[string]*shipenginePageLink `json:"links"`
}

type shipenginePageLink struct {
	Href string `json:"href"`
}

func shipenginePageLinks(r *http.Request, page, pages int) map[string]*shipenginePageLink {
	link := func(n int) *shipenginePageLink {
		query := r.URL.Query()
		query.Set("page", strconv.Itoa(n))
		return &shipenginePageLink{serverURL(r, r.URL.Path+"?"+query.Encode())}
	}
	links := map[string]*shipenginePageLink{"first": link(1), "last": link(max(pages, 1)), "prev": {}, "next": {}}
	if page > 1 {
		links["prev"] = link(page - 1)
	}
	if page < pages {
		links["next"] = link(page + 1)
	}
	return links
}

// shipengineLabel shows one label, by its id or as the youngest of an external id.
func (s *Server) shipengineLabel(w http.ResponseWriter, r *http.Request) {
	s.pause(s.faults.latency())
	charges, voided := s.ledger.chargesByReference(r.PathValue("ext"))
	if charge, isVoid, ok := s.ledger.chargeByLabel(r.PathValue("label")); ok {
		charges, voided = []record{charge}, []bool{isVoid}
	}
	found := s.shown("shipengine", charges, voided)
	if len(found) == 0 || s.faults.show().Mode == Blind {
		shipengineNotFound(w, r)
		return
	}
	inline := r.URL.Query().Get("label_download_type") == "inline"
	reply(w, http.StatusOK, shipengineLabelOf(r, found[len(found)-1], inline))
}
