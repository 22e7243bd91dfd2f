package simserver

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"net/http"
	"unicode/utf8"
)

// fedexOrder is the body of POST /shipments.
type fedexOrder struct {
	AccountNumber        fedexAccount    `json:"accountNumber"`
	LabelResponseOptions string          `json:"labelResponseOptions"`
	MergeLabelDocOption  string          `json:"mergeLabelDocOption,omitzero"`
	ShipAction           string          `json:"shipAction,omitzero"`
	ProcessingOptionType string          `json:"processingOptionType,omitzero"`
	OneLabelAtATime      bool            `json:"oneLabelAtATime,omitzero"`
	RequestedShipment    *fedexRequested `json:"requestedShipment"`
}

type fedexAccount struct {
	Value string `json:"value"`
}

type fedexRequested struct {
	ShipDatestamp              string         `json:"shipDatestamp,omitzero"`
	Shipper                    fedexParty     `json:"shipper"`
	Recipients                 []fedexParty   `json:"recipients"`
	ServiceType                string         `json:"serviceType"`
	PackagingType              string         `json:"packagingType"`
	PickupType                 string         `json:"pickupType"`
	TotalWeight                float64        `json:"totalWeight"`
	TotalPackageCount          int64          `json:"totalPackageCount,omitzero"`
	PreferredCurrency          string         `json:"preferredCurrency,omitzero"`
	RateRequestType            []string       `json:"rateRequestType,omitzero"`
	BlockInsightVisibility     bool           `json:"blockInsightVisibility,omitzero"`
	ShippingChargesPayment     fedexPayment   `json:"shippingChargesPayment"`
	LabelSpecification         fedexLabelSpec `json:"labelSpecification"`
	RequestedPackageLineItems  []fedexPackage `json:"requestedPackageLineItems"`
	ShipmentSpecialServicesRaw jsontext.Value `json:"shipmentSpecialServices,omitzero"`
}

type fedexParty struct {
	Contact struct {
		PersonName     string `json:"personName,omitzero"`
		CompanyName    string `json:"companyName,omitzero"`
		PhoneNumber    string `json:"phoneNumber"`
		PhoneExtension string `json:"phoneExtension,omitzero"`
		EmailAddress   string `json:"emailAddress,omitzero"`
	} `json:"contact"`
	Address struct {
		StreetLines         []string `json:"streetLines"`
		City                string   `json:"city"`
		StateOrProvinceCode string   `json:"stateOrProvinceCode,omitzero"`
		PostalCode          string   `json:"postalCode"`
		CountryCode         string   `json:"countryCode"`
		Residential         bool     `json:"residential,omitzero"`
	} `json:"address"`
}

type fedexPayment struct {
	PaymentType string         `json:"paymentType"`
	Payor       jsontext.Value `json:"payor,omitzero"`
}

type fedexLabelSpec struct {
	ImageType                string `json:"imageType"`
	LabelStockType           string `json:"labelStockType"`
	LabelFormatType          string `json:"labelFormatType,omitzero"`
	LabelPrintingOrientation string `json:"labelPrintingOrientation,omitzero"`
}

type fedexPackage struct {
	SequenceNumber    int64            `json:"sequenceNumber,omitzero"`
	GroupPackageCount int64            `json:"groupPackageCount,omitzero"`
	Weight            fedexWeight      `json:"weight"`
	Dimensions        *fedexDimensions `json:"dimensions,omitzero"`
	References        []fedexReference `json:"customerReferences"`
}

type fedexWeight struct {
	Units string  `json:"units"`
	Value float64 `json:"value"`
}

// fedexDimensions are whole numbers.
type fedexDimensions struct {
	Length int64  `json:"length"`
	Width  int64  `json:"width"`
	Height int64  `json:"height"`
	Units  string `json:"units"`
}

type fedexReference struct {
	Type  string `json:"customerReferenceType"`
	Value string `json:"value"`
}

var fedexFormats = map[string]format{"PDF": "pdf", "PNG": "png", "ZPLII": "zpl"}

var fedexServices = map[string]bool{
	"FEDEX_GROUND": true, "GROUND_HOME_DELIVERY": true, "FEDEX_2_DAY": true, "FEDEX_EXPRESS_SAVER": true,
	"STANDARD_OVERNIGHT": true, "PRIORITY_OVERNIGHT": true,
}

// maxFedExPounds is the most that a parcel may weigh.
const maxFedExPounds = 150

// complaint names the first member that is missing or makes no sense.
func (o fedexOrder) complaint() (member, message string) {
	shipment := o.RequestedShipment
	switch {
	case o.AccountNumber.Value == "":
		return "accountNumber.value", "It is required."
	case o.LabelResponseOptions != "LABEL":
		return "labelResponseOptions", "The simulator answers LABEL only."
	case shipment == nil:
		return "requestedShipment", "It is required."
	case len(shipment.Recipients) != 1:
		return "requestedShipment.recipients", "There must be one."
	case len(shipment.RequestedPackageLineItems) != 1:
		return "requestedShipment.requestedPackageLineItems", "The simulator takes one parcel."
	}
	if lacks := shipment.Shipper.complaint(); lacks != "" {
		return "shipper." + lacks, "It is missing or too long."
	}
	if lacks := shipment.Recipients[0].complaint(); lacks != "" {
		return "recipients." + lacks, "It is missing or too long."
	}
	if member, message := shipment.complaint(); member != "" {
		return "requestedShipment." + member, message
	}
	member, message = shipment.RequestedPackageLineItems[0].complaint()
	return member, message
}

func (f fedexRequested) complaint() (member, message string) {
	switch {
	case !fedexServices[f.ServiceType]:
		return "serviceType", "It is not one that is offered."
	case f.PackagingType == "":
		return "packagingType", "It is required."
	case f.PickupType == "":
		return "pickupType", "It is required."
	case f.TotalWeight <= 0:
		return "totalWeight", "It is required."
	case f.ShippingChargesPayment.PaymentType == "":
		return "shippingChargesPayment.paymentType", "It is required."
	case fedexFormats[f.LabelSpecification.ImageType] == "":
		return "labelSpecification.imageType", "It must be PDF, PNG or ZPLII."
	case f.LabelSpecification.LabelStockType == "":
		return "labelSpecification.labelStockType", "It is required."
	}
	return "", ""
}

func (p fedexPackage) complaint() (member, message string) {
	switch d := p.Dimensions; {
	case p.Weight.Units != "LB" && p.Weight.Units != "KG":
		return "weight.units", "They must be LB or KG."
	case p.Weight.Value <= 0 || p.grams() > grams(maxFedExPounds, poundG):
		return "weight.value", "It must be above 0 and at most 150 pounds."
	case d != nil && d.Units != "IN" && d.Units != "CM":
		return "dimensions.units", "They must be IN or CM."
	case d != nil && (min(d.Length, d.Width, d.Height) < 1 || (d.Units == "IN" && d.Length > 108)):
		return "dimensions", "They must be from 1 to 108 inches."
	}
	for _, r := range p.References {
		if r.Type == "" || r.Value == "" || len(r.Value) > 40 {
			return "customerReferences", "They have a type and a value of at most 40 characters."
		}
	}
	return "", ""
}

func (p fedexPackage) grams() int64 {
	if p.Weight.Units == "KG" {
		return grams(p.Weight.Value, 1000)
	}
	return grams(p.Weight.Value, poundG)
}

// complaint names the first member that a party lacks, or has too much of.
func (p fedexParty) complaint() string {
	tooLong := func(s string, most int) bool { return utf8.RuneCountInString(s) > most }
	contact, address := p.Contact, p.Address
	switch {
	case contact.PersonName == "" && contact.CompanyName == "", tooLong(contact.PersonName, 70):
		return "contact.personName"
	case tooLong(contact.CompanyName, 35):
		return "contact.companyName"
	case contact.PhoneNumber == "", tooLong(contact.PhoneNumber, 15):
		return "contact.phoneNumber"
	case len(address.StreetLines) == 0, len(address.StreetLines) > 3:
		return "address.streetLines"
	case address.City == "", tooLong(address.City, 35):
		return "address.city"
	case address.CountryCode == "US" && len(address.StateOrProvinceCode) != 2:
		return "address.stateOrProvinceCode"
	case address.PostalCode == "", tooLong(address.PostalCode, 10):
		return "address.postalCode"
	case len(address.CountryCode) != 2:
		return "address.countryCode"
	}
	for _, line := range address.StreetLines {
		if line == "" || tooLong(line, 35) {
			return "address.streetLines"
		}
	}
	return ""
}

// fedexKept is an order with the id of the call that it came in.
type fedexKept struct {
	fedexOrder
	Transaction string `json:"x-customer-transaction-id"`
}

func (s *Server) fedexBuy(w http.ResponseWriter, r *http.Request) {
	var body fedexOrder
	raw, err := readJSON(w, r, &body)
	if err != nil {
		fedexInvalid(w, r, "body", err.Error())
		return
	}
	if member, message := body.complaint(); member != "" {
		fedexInvalid(w, r, member, message)
		return
	}
	parcel := body.RequestedShipment.RequestedPackageLineItems[0]
	o := order{
		Reference: r.Header.Get(fedexTransaction),
		Service:   body.RequestedShipment.ServiceType,
		WeightG:   parcel.grams(),
		Format:    fedexFormats[body.RequestedShipment.LabelSpecification.ImageType],
	}
	for _, reference := range parcel.References {
		if reference.Type == "CUSTOMER_REFERENCE" {
			o.Reference = reference.Value
		}
	}
	s.sell(w, r, purchase{
		dialect: fedexDialect(r),
		order:   o,
		digest:  digest(raw),
		told:    encode(fedexKept{body, r.Header.Get(fedexTransaction)}),
	})
}

// fedexOutput is what was bought.
type fedexOutput struct {
	TransactionShipments []fedexSold `json:"transactionShipments"`
}

type fedexSold struct {
	ServiceType          string       `json:"serviceType"`
	ShipDatestamp        string       `json:"shipDatestamp"`
	MasterTrackingNumber string       `json:"masterTrackingNumber,omitzero"`
	PieceResponses       []fedexPiece `json:"pieceResponses"`
	Detail               fedexDetail  `json:"completedShipmentDetail"`
}

type fedexPiece struct {
	MasterTrackingNumber  string           `json:"masterTrackingNumber,omitzero"`
	TrackingNumber        string           `json:"trackingNumber,omitzero"`
	PackageSequenceNumber int              `json:"packageSequenceNumber"`
	BaseRateAmount        jsontext.Value   `json:"baseRateAmount"`
	NetListRateAmount     jsontext.Value   `json:"netListRateAmount"`
	NetRateAmount         jsontext.Value   `json:"netRateAmount"`
	NetChargeAmount       jsontext.Value   `json:"netChargeAmount"`
	Currency              string           `json:"currency"`
	CustomerReferences    []fedexReference `json:"customerReferences"`
	PackageDocuments      []fedexDocument  `json:"packageDocuments"`
}

type fedexDocument struct {
	ContentType   string `json:"contentType"`
	CopiesToPrint int    `json:"copiesToPrint"`
	DocType       string `json:"docType"`
	EncodedLabel  string `json:"encodedLabel"`
}

type fedexDetail struct {
	CarrierCode    string `json:"carrierCode"`
	ShipmentRating struct {
		ActualRateType      string      `json:"actualRateType"`
		ShipmentRateDetails []fedexRate `json:"shipmentRateDetails"`
	} `json:"shipmentRating"`
}

type fedexRate struct {
	RateType       string         `json:"rateType"`
	TotalBase      jsontext.Value `json:"totalBaseCharge"`
	TotalNetCharge jsontext.Value `json:"totalNetCharge"`
	Currency       string         `json:"currency"`
}

// fedexShipmentOf shows a charge. Beside what the account pays there is the list price, which nobody
// does; the reference comes back in two places.
func fedexShipmentOf(charge record) fedexEnvelope {
	kept := remembered[fedexKept](charge)
	parcel := kept.RequestedShipment.RequestedPackageLineItems[0]
	if charge.Reference != charge.Order.Reference { // a fault
		kept.Transaction = charge.Reference
		for i := range parcel.References {
			parcel.References[i].Value = charge.Reference
		}
	}
	price, list := amount(charge.AmountCents), amount(charge.AmountCents*5/4)
	sold := fedexSold{
		ServiceType:          charge.Order.Service,
		ShipDatestamp:        civilDate(charge.At),
		MasterTrackingNumber: charge.TrackingNo,
		PieceResponses: []fedexPiece{{
			MasterTrackingNumber:  charge.TrackingNo,
			TrackingNumber:        charge.TrackingNo,
			PackageSequenceNumber: 1,
			BaseRateAmount:        list,
			NetListRateAmount:     list,
			NetRateAmount:         price,
			NetChargeAmount:       price,
			Currency:              charge.Currency,
			CustomerReferences:    parcel.References,
			PackageDocuments: []fedexDocument{{
				ContentType:   "LABEL",
				CopiesToPrint: 1,
				DocType:       kept.RequestedShipment.LabelSpecification.ImageType,
				EncodedLabel:  base64.StdEncoding.EncodeToString(printers[charge.Order.Format](charge.Entry)),
			}},
		}},
	}
	sold.Detail.CarrierCode = "FDXG"
	sold.Detail.ShipmentRating.ActualRateType = "PAYOR_ACCOUNT_SHIPMENT"
	sold.Detail.ShipmentRating.ShipmentRateDetails = []fedexRate{
		{"PAYOR_LIST_SHIPMENT", list, list, charge.Currency},
		{"PAYOR_ACCOUNT_SHIPMENT", list, price, charge.Currency},
	}
	return fedexEnvelope{
		TransactionID:         newID(""),
		CustomerTransactionID: kept.Transaction,
		Output:                fedexOutput{[]fedexSold{sold}},
	}
}
