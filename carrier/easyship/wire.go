package easyship

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// order is the body of POST /shipments.
type order struct {
	Origin      address `json:"origin_address"`
	Destination address `json:"destination_address"`
	Insurance   struct {
		Insured bool `json:"is_insured"`
	} `json:"insurance"`
	Order    orderData `json:"order_data"`
	Courier  selection `json:"courier_selection"`
	Settings settings  `json:"shipping_settings"`
	Parcels  []parcel  `json:"parcels"`
}

type address struct {
	Name       string `json:"contact_name"`
	Company    string `json:"company_name,omitzero"`
	Phone      string `json:"contact_phone"`
	Email      string `json:"contact_email"`
	Line1      string `json:"line_1"`
	Line2      string `json:"line_2,omitzero"`
	City       string `json:"city"`
	State      string `json:"state,omitzero"`
	PostalCode string `json:"postal_code"`
	Country    string `json:"country_alpha2"`
}

type orderData struct {
	Platform string `json:"platform_name,omitzero"`
	Number   string `json:"platform_order_number"`
}

type selection struct {
	Courier  string `json:"selected_courier_id"`
	Fallback bool   `json:"allow_courier_fallback"`
	Rules    bool   `json:"apply_shipping_rules"`
}

type settings struct {
	Units struct {
		Weight     string `json:"weight"`
		Dimensions string `json:"dimensions"`
	} `json:"units"`
	Buy         bool `json:"buy_label"`
	Synchronous bool `json:"buy_label_synchronous"`
	Printing    struct {
		Format string `json:"format"`
		Label  string `json:"label"`
	} `json:"printing_options"`
}

type parcel struct {
	Weight jsontext.Value `json:"total_actual_weight"`
	Box    *box           `json:"box,omitzero"`
	Items  []item         `json:"items"`
}

type box struct {
	Slug   string         `json:"slug"`
	Length jsontext.Value `json:"length"`
	Width  jsontext.Value `json:"width"`
	Height jsontext.Value `json:"height"`
}

type item struct {
	Description string         `json:"description"`
	Category    string         `json:"category"`
	Quantity    int            `json:"quantity"`
	Weight      jsontext.Value `json:"actual_weight"`
	Currency    string         `json:"declared_currency"`
	Value       jsontext.Value `json:"declared_customs_value"`
	Origin      string         `json:"origin_country_alpha2"`
}

// The steps in which weights and lengths go out. They are our own, so that nothing is rounded.
const (
	kilogramDecimals   = 3
	centimetreDecimals = 1
)

// encodeOrder gives the same bytes for the same purchase, on every attempt and in every process. It
// fails only on text that is not UTF-8.
func (a *Adapter) encodeOrder(p carrier.Purchase) ([]byte, error) {
	s := p.Shipment
	o := order{
		Origin:      newAddress(s.ShipFrom),
		Destination: newAddress(s.ShipTo),
		Order:       orderData{Number: p.Reference},
		// Another courier than the one that was ordered is another label at another price.
		Courier:  selection{Courier: a.cfg.Services[s.Service], Fallback: false, Rules: false},
		Settings: settings{Buy: true, Synchronous: true},
		Parcels:  []parcel{a.newParcel(s)},
	}
	o.Settings.Units.Weight, o.Settings.Units.Dimensions = "kg", "cm"
	o.Settings.Printing.Format, o.Settings.Printing.Label = string(s.Format), "4x6"
	body, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding order %s: %w", p.Reference, err)
	}
	return body, nil
}

func (a *Adapter) newParcel(s carrier.Shipment) parcel {
	weight := jsontext.Value(units.Kilogram.FromMetric(s.WeightG, kilogramDecimals))
	p := parcel{Weight: weight, Items: []item{{
		Description: a.cfg.Contents.Description,
		Category:    a.cfg.Contents.Category,
		Quantity:    1,
		Weight:      weight,
		Currency:    a.cfg.Currency,
		Value:       jsontext.Value(a.cfg.Contents.Value),
		Origin:      s.ShipFrom.Country,
	}}}
	if d := s.Dimensions; d != nil {
		p.Box = &box{Slug: "custom", Length: centimetres(d.Length), Width: centimetres(d.Width), Height: centimetres(d.Height)}
	}
	return p
}

func centimetres(mm int64) jsontext.Value {
	return jsontext.Value(units.Centimetre.FromMetric(mm, centimetreDecimals))
}

func newAddress(a carrier.Address) address {
	a = carrierhttp.Trimmed(a)
	return address{
		Name:       a.Name,
		Company:    a.Company,
		Phone:      a.Phone,
		Email:      a.Email,
		Line1:      a.Street1,
		Line2:      a.Street2,
		City:       a.City,
		State:      a.State,
		PostalCode: a.PostalCode,
		Country:    a.Country,
	}
}

func (a address) plain() *carrier.Address {
	return &carrier.Address{
		Name: a.Name, Company: a.Company, Street1: a.Line1, Street2: a.Line2, City: a.City, State: a.State,
		PostalCode: a.PostalCode, Country: a.Country, Phone: a.Phone, Email: a.Email,
	}
}

// maxKey is how much of a key is sent. Easyship gives no limit, and 255 is what others give.
const maxKey = 255

// wireKey is the carrier key as it is sent. A longer one becomes its hash, the same on every attempt; the
// empty caller in "carrier::" keeps it apart from every key of a real caller.
func wireKey(carrierKey string) string {
	if len(carrierKey) <= maxKey {
		return carrierKey
	}
	sum := sha256.Sum256([]byte(carrierKey))
	return "carrier::sha256:" + hex.EncodeToString(sum[:])
}
