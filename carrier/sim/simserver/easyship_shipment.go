package simserver

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// easyshipOrder is the body of POST /shipments.
type easyshipOrder struct {
	OriginAddress      *easyshipAddress  `json:"origin_address"`
	SenderAddress      *easyshipAddress  `json:"sender_address,omitzero"`
	ReturnAddress      *easyshipAddress  `json:"return_address,omitzero"`
	DestinationAddress *easyshipAddress  `json:"destination_address"`
	CourierSelection   easyshipSelection `json:"courier_selection"`
	Incoterms          string            `json:"incoterms,omitzero"`
	Insurance          jsontext.Value    `json:"insurance,omitzero"`
	Metadata           jsontext.Value    `json:"metadata,omitzero"`
	SetAsResidential   bool              `json:"set_as_residential,omitzero"`
	Return             bool              `json:"return,omitzero"`
	OrderData          easyshipOrderData `json:"order_data"`
	ShippingSettings   easyshipSettings  `json:"shipping_settings"`
	Parcels            []easyshipParcel  `json:"parcels"`
}

type easyshipAddress struct {
	Line1         string `json:"line_1"`
	Line2         string `json:"line_2,omitzero"`
	City          string `json:"city"`
	State         string `json:"state,omitzero"`
	PostalCode    string `json:"postal_code"`
	CountryAlpha2 string `json:"country_alpha2"`
	CompanyName   string `json:"company_name,omitzero"`
	ContactName   string `json:"contact_name"`
	ContactPhone  string `json:"contact_phone,omitzero"`
	ContactEmail  string `json:"contact_email,omitzero"`
}

type easyshipSelection struct {
	SelectedCourierID       string `json:"selected_courier_id"`
	AllowCourierFallback    bool   `json:"allow_courier_fallback"`
	ApplyShippingRules      bool   `json:"apply_shipping_rules"`
	ListUnavailableCouriers bool   `json:"list_unavailable_couriers"`
}

type easyshipOrderData struct {
	PlatformName        string   `json:"platform_name,omitzero"`
	PlatformOrderNumber string   `json:"platform_order_number"`
	OrderCreatedAt      string   `json:"order_created_at,omitzero"`
	OrderTagList        []string `json:"order_tag_list,omitzero"`
	SellerNotes         string   `json:"seller_notes,omitzero"`
	BuyerNotes          string   `json:"buyer_notes,omitzero"`
}

type easyshipSettings struct {
	BuyLabel            bool           `json:"buy_label"`
	BuyLabelSynchronous bool           `json:"buy_label_synchronous"`
	AdditionalServices  jsontext.Value `json:"additional_services,omitzero"`
	PrintingOptions     struct {
		Format            string `json:"format"`
		Label             string `json:"label"`
		CommercialInvoice string `json:"commercial_invoice,omitzero"`
		PackingSlip       string `json:"packing_slip,omitzero"`
		Remarks           string `json:"remarks,omitzero"`
	} `json:"printing_options"`
	Units struct {
		Weight     string `json:"weight"`
		Dimensions string `json:"dimensions"`
	} `json:"units"`
}

type easyshipParcel struct {
	TotalActualWeight float64        `json:"total_actual_weight"`
	Box               *easyshipBox   `json:"box,omitzero"`
	Items             []easyshipItem `json:"items"`
}

type easyshipBox struct {
	Slug   string  `json:"slug,omitzero"`
	Length float64 `json:"length"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Weight float64 `json:"weight,omitzero"`
}

type easyshipItem struct {
	Description          string         `json:"description"`
	Category             string         `json:"category,omitzero"`
	HSCode               string         `json:"hs_code,omitzero"`
	SKU                  string         `json:"sku,omitzero"`
	Quantity             int64          `json:"quantity"`
	ActualWeight         float64        `json:"actual_weight,omitzero"`
	DeclaredCurrency     string         `json:"declared_currency"`
	DeclaredCustomsValue float64        `json:"declared_customs_value"`
	OriginCountryAlpha2  string         `json:"origin_country_alpha2,omitzero"`
	Dimensions           jsontext.Value `json:"dimensions,omitzero"`
	ContainsLiquids      bool           `json:"contains_liquids,omitzero"`
	ContainsPI966        bool           `json:"contains_battery_pi966,omitzero"`
	ContainsPI967        bool           `json:"contains_battery_pi967,omitzero"`
}

var (
	easyshipWeights = map[string]float64{"": 1000, "kg": 1000, "g": 1, "lb": poundG, "oz": ounceG}

	// A document comes inline in its own format, or as a PDF behind a link.
	easyshipFormats = map[string]format{"": "pdf", "pdf": "pdf", "png": "png", "zpl": "zpl", "url": "pdf"}
)

// The most a parcel may weigh, and its longest side in centimetres.
const (
	maxEasyshipGrams = 70_000
	maxEasyshipSide  = 270
)

// complaint says what is wrong with the order; it is empty if nothing is.
func (o easyshipOrder) complaint() string {
	settings := o.ShippingSettings
	switch {
	case !settings.BuyLabel || !settings.BuyLabelSynchronous:
		return "shipping_settings: the simulator sells labels at once only."
	case easyshipFormats[settings.PrintingOptions.Format] == "":
		return "shipping_settings.printing_options.format is not one of pdf, png, zpl, url."
	case easyshipWeights[settings.Units.Weight] == 0:
		return "shipping_settings.units.weight is not one of kg, g, lb, oz."
	case !slices.Contains([]string{"", "cm", "in"}, settings.Units.Dimensions):
		return "shipping_settings.units.dimensions is not one of cm, in."
	case !uuid.MatchString(o.CourierSelection.SelectedCourierID):
		return "courier_selection.selected_courier_id is not the id of a courier."
	case len(o.OrderData.PlatformOrderNumber) > 100:
		return "order_data.platform_order_number is too long."
	case len(o.Parcels) != 1:
		return "parcels: the simulator takes one."
	}
	if lacks := o.DestinationAddress.lacks(); lacks != "" {
		return "destination_address." + lacks + " is missing or too long."
	}
	if lacks := o.OriginAddress.lacks(); lacks != "" {
		return "origin_address." + lacks + " is missing or too long."
	}
	return o.parcelComplaint()
}

func (o easyshipOrder) parcelComplaint() string {
	parcel, cm := o.Parcels[0], 1.0
	if o.ShippingSettings.Units.Dimensions == "in" {
		cm = 2.54
	}
	switch b := parcel.Box; {
	case parcel.TotalActualWeight <= 0 || o.grams() > maxEasyshipGrams:
		return "parcels.total_actual_weight is not above 0 and at most 70 kilograms."
	case b != nil && b.Slug == "" && (min(b.Length, b.Width, b.Height) <= 0 || b.Length*cm > maxEasyshipSide):
		return "parcels.box is not complete, or too long."
	case len(parcel.Items) == 0:
		return "No Items"
	}
	for _, item := range parcel.Items {
		switch {
		case item.Description == "":
			return "parcels.items.description is missing."
		case item.Category == "" && item.HSCode == "":
			return "parcels.items.category or hs_code is missing."
		case item.Quantity < 1:
			return "parcels.items.quantity is not positive."
		case len(item.DeclaredCurrency) != 3 || item.DeclaredCustomsValue <= 0:
			return "parcels.items.declared_customs_value and declared_currency are missing."
		}
	}
	return ""
}

func (o easyshipOrder) grams() int64 {
	return grams(o.Parcels[0].TotalActualWeight, easyshipWeights[o.ShippingSettings.Units.Weight])
}

// lacks names the first member that an address lacks, or has too much of.
func (a *easyshipAddress) lacks() string {
	tooLong := func(s string, most int) bool { return utf8.RuneCountInString(s) > most }
	switch {
	case a == nil || a.Line1 == "" || tooLong(a.Line1, 35):
		return "line_1"
	case tooLong(a.Line2, 35):
		return "line_2"
	case a.City == "":
		return "city"
	case a.State == "" && a.CountryAlpha2 == "US":
		return "state"
	case a.PostalCode == "":
		return "postal_code"
	case len(a.CountryAlpha2) != 2:
		return "country_alpha2"
	case a.ContactName == "" || tooLong(a.ContactName, 50):
		return "contact_name"
	case tooLong(a.CompanyName, 50):
		return "company_name"
	}
	return ""
}

func (s *Server) easyshipBuy(w http.ResponseWriter, r *http.Request) {
	var body easyshipOrder
	if _, err := readJSON(w, r, &body); err != nil {
		easyshipRefuse(w, http.StatusBadRequest, "invalid_request", "The request body is not valid.", err.Error())
		return
	}
	if complaint := body.complaint(); complaint != "" {
		easyshipInvalid(w, complaint)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	s.sell(w, r, purchase{
		dialect: easyshipDialect,
		order: order{
			Reference: body.OrderData.PlatformOrderNumber,
			Service:   body.CourierSelection.SelectedCourierID,
			WeightG:   body.grams(),
			Format:    easyshipFormats[body.ShippingSettings.PrintingOptions.Format],
		},
		key:    key,
		digest: digest([]byte(key)), // the body does not count
		told:   encode(body),
	})
}

type easyshipOne struct {
	Shipment easyshipShipment `json:"shipment"`
	Meta     easyshipMeta     `json:"meta"`
}

type easyshipMeta struct {
	RequestID  string              `json:"request_id"`
	Pagination *easyshipPagination `json:"pagination,omitzero"`
}

type easyshipPagination struct {
	Count int     `json:"count"`
	Page  int     `json:"page"`
	Next  *string `json:"next"`
}

// easyshipShipment is a shipment whose label was bought.
type easyshipShipment struct {
	EasyshipShipmentID string             `json:"easyship_shipment_id"`
	ShipmentState      string             `json:"shipment_state"`
	LabelState         string             `json:"label_state"`
	LabelPaidAt        time.Time          `json:"label_paid_at"`
	LabelGeneratedAt   time.Time          `json:"label_generated_at"`
	CreatedAt          time.Time          `json:"created_at"`
	Currency           string             `json:"currency"`
	Courier            easyshipCourier    `json:"courier"`
	OrderData          easyshipOrderData  `json:"order_data"`
	OriginAddress      *easyshipAddress   `json:"origin_address"`
	DestinationAddress *easyshipAddress   `json:"destination_address"`
	Parcels            []easyshipParcel   `json:"parcels"`
	Rates              []easyshipRate     `json:"rates"`
	Trackings          []easyshipTracking `json:"trackings"`
	ShippingDocuments  []easyshipDocument `json:"shipping_documents"`
	ShippingSettings   easyshipSettings   `json:"shipping_settings"`
}

type easyshipCourier struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type easyshipRate struct {
	CourierID           string         `json:"courier_id"`
	CourierName         string         `json:"courier_name"`
	Currency            string         `json:"currency"`
	ShipmentCharge      jsontext.Value `json:"shipment_charge"`
	FuelSurcharge       jsontext.Value `json:"fuel_surcharge"`
	ShipmentChargeTotal jsontext.Value `json:"shipment_charge_total"`
	TotalCharge         jsontext.Value `json:"total_charge"`
}

type easyshipTracking struct {
	Handler        string `json:"handler"`
	LegNumber      int    `json:"leg_number"`
	TrackingNumber string `json:"tracking_number"`
	TrackingState  string `json:"tracking_state"`
}

type easyshipDocument struct {
	Category             string   `json:"category"`
	Format               string   `json:"format"`
	PageSize             string   `json:"page_size"`
	Required             bool     `json:"required"`
	URL                  *string  `json:"url"`
	Base64EncodedStrings []string `json:"base64_encoded_strings"`
}

// easyshipFuelCents is the part of the price that is called fuel.
const easyshipFuelCents = 45

// easyshipShipmentOf shows a charge, among the rates of couriers that were not chosen.
func easyshipShipmentOf(r *http.Request, sold sale, documents bool) easyshipShipment {
	kept := remembered[easyshipOrder](sold.record)
	rate := func(courier, name string, cents int64) easyshipRate {
		return easyshipRate{
			CourierID: courier, CourierName: name, Currency: sold.Currency,
			ShipmentCharge: amount(cents - easyshipFuelCents), FuelSurcharge: amount(easyshipFuelCents),
			ShipmentChargeTotal: amount(cents), TotalCharge: amount(cents),
		}
	}
	kept.OrderData.PlatformOrderNumber = sold.Reference
	shipment := easyshipShipment{
		EasyshipShipmentID: sold.LabelID,
		ShipmentState:      "created",
		LabelState:         "generated",
		LabelPaidAt:        sold.At,
		LabelGeneratedAt:   sold.At,
		CreatedAt:          sold.At,
		Currency:           sold.Currency,
		Courier:            easyshipCourier{sold.Order.Service, "Courier"},
		OrderData:          kept.OrderData,
		OriginAddress:      kept.OriginAddress,
		DestinationAddress: kept.DestinationAddress,
		Parcels:            kept.Parcels,
		Rates: []easyshipRate{
			rate("7a1e0b6c-0000-4000-8000-00000000000a", "Another", 199),
			rate(sold.Order.Service, "Courier", sold.AmountCents),
			rate("7a1e0b6c-0000-4000-8000-00000000000b", "A third", 9900),
		},
		ShippingSettings: kept.ShippingSettings,
	}
	if sold.TrackingNo != "" {
		shipment.Trackings = []easyshipTracking{{"easyship", 1, sold.TrackingNo, "pending"}}
	}
	if sold.voided {
		shipment.ShipmentState, shipment.LabelState = "cancelled", "voided"
	}
	if documents && !sold.voided {
		shipment.ShippingDocuments = easyshipDocuments(r, sold.record, kept.ShippingSettings.PrintingOptions.Format)
	}
	return shipment
}

// easyshipDocuments has a packing slip before the label: the first document is not the one to print.
func easyshipDocuments(r *http.Request, charge record, wanted string) []easyshipDocument {
	if wanted == "" {
		wanted = string(charge.Order.Format)
	}
	label := easyshipDocument{Category: "label", Format: wanted, PageSize: "4x6", Required: true}
	if wanted == "url" {
		label.URL = new(serverURL(r, "/easyship/files/"+charge.LabelID+".pdf"))
	} else {
		content := printers[charge.Order.Format](charge.Entry)
		label.Base64EncodedStrings = []string{base64.StdEncoding.EncodeToString(content)}
	}
	slip := easyshipDocument{Category: "packing_slip", Format: "pdf", PageSize: "A4"}
	return []easyshipDocument{slip, label}
}
