package fedex

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// order is the body of POST /ship/v1/shipments.
type order struct {
	Account  value    `json:"accountNumber"`
	Response string   `json:"labelResponseOptions"`
	Shipment shipment `json:"requestedShipment"`
}

type value struct {
	Value string `json:"value"`
}

type shipment struct {
	Shipper     party          `json:"shipper"`
	Recipients  []party        `json:"recipients"`
	Service     string         `json:"serviceType"`
	Packaging   string         `json:"packagingType"`
	Pickup      string         `json:"pickupType"`
	TotalWeight jsontext.Value `json:"totalWeight"`
	Payment     payment        `json:"shippingChargesPayment"`
	Label       labelSpec      `json:"labelSpecification"`
	Packages    []lineItem     `json:"requestedPackageLineItems"`
}

type party struct {
	Contact contact `json:"contact"`
	Address address `json:"address"`
}

type contact struct {
	Name    string `json:"personName"`
	Phone   string `json:"phoneNumber"`
	Company string `json:"companyName,omitzero"`
}

type address struct {
	Lines       []string `json:"streetLines"`
	City        string   `json:"city"`
	State       string   `json:"stateOrProvinceCode,omitzero"`
	PostalCode  string   `json:"postalCode,omitzero"`
	Country     string   `json:"countryCode"`
	Residential bool     `json:"residential,omitzero"`
}

type payment struct {
	Type string `json:"paymentType"`
}

type labelSpec struct {
	ImageType string `json:"imageType"`
	Stock     string `json:"labelStockType"`
}

type lineItem struct {
	Weight     weight      `json:"weight"`
	Dimensions *dimensions `json:"dimensions,omitzero"`
	References []reference `json:"customerReferences"`
}

type weight struct {
	Units string         `json:"units"`
	Value jsontext.Value `json:"value"`
}

type dimensions struct {
	Length jsontext.Value `json:"length"`
	Width  jsontext.Value `json:"width"`
	Height jsontext.Value `json:"height"`
	Units  string         `json:"units"`
}

type reference struct {
	Type  string `json:"customerReferenceType"`
	Value string `json:"value"`
}

// labelSpecs are the formats as FedEx calls them, and the paper they go on.
var labelSpecs = map[carrier.Format]labelSpec{
	carrier.PDF: {"PDF", "PAPER_4X6"},
	carrier.PNG: {"PNG", "PAPER_4X6"},
	carrier.ZPL: {"ZPLII", "STOCK_4X6"},
}

// The steps in which weights and lengths go out. The total has one decimal, and lengths have none.
const (
	poundDecimals = 2
	totalDecimals = 1
	inchDecimals  = 0
)

// homeDelivery is the service that goes to dwellings only.
const homeDelivery = "GROUND_HOME_DELIVERY"

// encodeOrder gives the same bytes for the same purchase. It fails only on text that is not UTF-8.
func (a *Adapter) encodeOrder(p carrier.Purchase) ([]byte, error) {
	s := p.Shipment
	recipient := newParty(s.ShipTo)
	recipient.Address.Residential = s.Service == homeDelivery
	body, err := json.Marshal(order{
		Account:  value{a.cfg.Account},
		Response: "LABEL", // in the answer, and not a link that runs out
		Shipment: shipment{
			Shipper:     newParty(s.ShipFrom),
			Recipients:  []party{recipient},
			Service:     s.Service,
			Packaging:   "YOUR_PACKAGING",
			Pickup:      a.cfg.PickupType,
			TotalWeight: pounds(s.WeightG, totalDecimals),
			Payment:     payment{"SENDER"},
			Label:       labelSpecs[s.Format],
			Packages: []lineItem{{
				Weight:     weight{"LB", pounds(s.WeightG, poundDecimals)},
				Dimensions: newDimensions(s.Dimensions),
				References: []reference{{"CUSTOMER_REFERENCE", p.Reference}},
			}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding order %s: %w", p.Reference, err)
	}
	return body, nil
}

func pounds(grams int64, decimals int) jsontext.Value {
	return jsontext.Value(units.Pound.FromMetric(grams, decimals))
}

func newDimensions(d *carrier.Dimensions) *dimensions {
	if d == nil {
		return nil
	}
	inches := func(mm int64) jsontext.Value { return jsontext.Value(units.Inch.FromMetric(mm, inchDecimals)) }
	return &dimensions{Length: inches(d.Length), Width: inches(d.Width), Height: inches(d.Height), Units: "IN"}
}

func newParty(a carrier.Address) party {
	a = carrierhttp.Trimmed(a)
	lines := []string{a.Street1}
	if a.Street2 != "" {
		lines = append(lines, a.Street2) // an empty line is refused
	}
	return party{
		Contact: contact{
			Name:    a.Name,
			Phone:   plainPhone(a.Phone),
			Company: a.Company,
		},
		Address: address{
			Lines:      lines,
			City:       a.City,
			State:      a.State,
			PostalCode: a.PostalCode,
			Country:    a.Country,
		},
	}
}

// plainPhone takes out what people write between digits.
func plainPhone(phone string) string {
	return strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "", "/", "").Replace(phone)
}
