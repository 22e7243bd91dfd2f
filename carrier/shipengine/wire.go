package shipengine

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// decimals is how finely weights and lengths are sent. ShipEngine takes any number; the carriers behind
// it weigh in tenths of an ounce at the finest.
const decimals = 1

const (
	ounce = "ounce"
	inch  = "inch"
)

// order is the body of POST /shipments.
type order struct {
	Shipments []orderedShipment `json:"shipments"`
}

type orderedShipment struct {
	ExternalShipmentID string    `json:"external_shipment_id"`
	CarrierID          string    `json:"carrier_id"`
	ServiceCode        string    `json:"service_code"`
	ShipTo             address   `json:"ship_to"`
	ShipFrom           address   `json:"ship_from"`
	Packages           []parcels `json:"packages"`
}

type address struct {
	Name          string `json:"name,omitzero"`
	CompanyName   string `json:"company_name,omitzero"`
	Phone         string `json:"phone,omitzero"`
	AddressLine1  string `json:"address_line1,omitzero"`
	AddressLine2  string `json:"address_line2,omitzero"`
	CityLocality  string `json:"city_locality,omitzero"`
	StateProvince string `json:"state_province,omitzero"`
	PostalCode    string `json:"postal_code,omitzero"`
	CountryCode   string `json:"country_code,omitzero"`
}

// parcels is one package; its numbers are texts that were never floats.
type parcels struct {
	Weight     weight      `json:"weight"`
	Dimensions *dimensions `json:"dimensions,omitzero"`
}

type weight struct {
	Value jsontext.Value `json:"value"`
	Unit  string         `json:"unit"`
}

type dimensions struct {
	Unit   string         `json:"unit"`
	Length jsontext.Value `json:"length"`
	Width  jsontext.Value `json:"width"`
	Height jsontext.Value `json:"height"`
}

// encodeOrder fails only on text that is not UTF-8.
func (a *Adapter) encodeOrder(p carrier.Purchase) ([]byte, error) {
	s := p.Shipment
	body, err := json.Marshal(order{Shipments: []orderedShipment{{
		ExternalShipmentID: p.Reference,
		CarrierID:          a.cfg.CarrierID,
		ServiceCode:        s.Service,
		ShipTo:             newAddress(s.ShipTo),
		ShipFrom:           newAddress(s.ShipFrom),
		Packages:           []parcels{newParcel(s)},
	}}})
	if err != nil {
		return nil, fmt.Errorf("encoding order %s: %w", p.Reference, err)
	}
	return body, nil
}

func newAddress(a carrier.Address) address {
	a = carrierhttp.Trimmed(a)
	return address{
		Name: a.Name, CompanyName: a.Company, Phone: a.Phone, AddressLine1: a.Street1, AddressLine2: a.Street2,
		CityLocality: a.City, StateProvince: a.State, PostalCode: a.PostalCode, CountryCode: a.Country,
	}
}

func newParcel(s carrier.Shipment) parcels {
	p := parcels{Weight: weight{Value: number(units.Ounce, s.WeightG), Unit: ounce}}
	if d := s.Dimensions; d != nil {
		p.Dimensions = &dimensions{
			Unit:   inch,
			Length: number(units.Inch, d.Length),
			Width:  number(units.Inch, d.Width),
			Height: number(units.Inch, d.Height),
		}
	}
	return p
}

func number(u units.Unit, metric int64) jsontext.Value {
	return jsontext.Value(u.FromMetric(metric, decimals))
}

// grams reads a weight of ours back; 0 stands for one in another unit, or for none.
func grams(packages []parcels) int64 {
	if len(packages) != 1 || packages[0].Weight.Unit != ounce {
		return 0
	}
	g, err := units.Ounce.ToMetric(string(packages[0].Weight.Value))
	if err != nil {
		return 0
	}
	return g
}

// shipment is a shipment as ShipEngine shows it.
type shipment struct {
	ShipmentID         string         `json:"shipment_id"`
	ExternalShipmentID string         `json:"external_shipment_id"`
	CarrierID          string         `json:"carrier_id"`
	ServiceCode        string         `json:"service_code"`
	ShipmentStatus     string         `json:"shipment_status"`
	ShipTo             address        `json:"ship_to"`
	Packages           []parcels      `json:"packages"`
	Errors             jsontext.Value `json:"errors"`
}

// amount is money: a JSON number, and the currency in lower case.
type amount struct {
	Currency string         `json:"currency"`
	Amount   jsontext.Value `json:"amount"`
}

// money reads an amount without a float on the way.
func (a amount) money() (carrier.Money, bool) {
	currency := strings.ToUpper(a.Currency)
	if !carrier.IsCurrency(currency) || a.Amount.Kind() != '0' {
		return carrier.Money{}, false
	}
	text := string(a.Amount)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	cents, err := carrier.ParseCents(text, currency)
	return carrier.Money{Cents: cents, Currency: currency}, err == nil && cents >= 0
}
