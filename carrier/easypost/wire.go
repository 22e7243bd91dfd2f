package easypost

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// decimals is how finely EasyPost measures: ounces and inches "go to one decimal point" [documented].
const decimals = 1

// order is the body of POST /shipments. It names neither service nor carrier_accounts: with both of
// them EasyPost would buy at once, before the id of what is bought is stored.
type order struct {
	Shipment orderedShipment `json:"shipment"`
}

type orderedShipment struct {
	Reference   string  `json:"reference"`
	ToAddress   address `json:"to_address"`
	FromAddress address `json:"from_address"`
	Parcel      parcel  `json:"parcel"`
	Options     options `json:"options"`
}

type address struct {
	Name    string `json:"name,omitzero"`
	Company string `json:"company,omitzero"`
	Street1 string `json:"street1,omitzero"`
	Street2 string `json:"street2,omitzero"`
	City    string `json:"city,omitzero"`
	State   string `json:"state,omitzero"`
	Zip     string `json:"zip,omitzero"`
	Country string `json:"country,omitzero"`
	Phone   string `json:"phone,omitzero"`
	Email   string `json:"email,omitzero"`
}

// parcel is in inches and ounces. Its numbers are texts that were never floats.
type parcel struct {
	Length jsontext.Value `json:"length,omitzero"`
	Width  jsontext.Value `json:"width,omitzero"`
	Height jsontext.Value `json:"height,omitzero"`
	Weight jsontext.Value `json:"weight"`
}

type options struct {
	LabelFormat string `json:"label_format"`
}

// encodeOrder fails only on text that is not UTF-8.
func encodeOrder(p carrier.Purchase) ([]byte, error) {
	s := p.Shipment
	body, err := json.Marshal(order{orderedShipment{
		Reference:   p.Reference,
		ToAddress:   newAddress(s.ShipTo),
		FromAddress: newAddress(s.ShipFrom),
		Parcel:      newParcel(s),
		Options:     options{LabelFormat: strings.ToUpper(string(s.Format))},
	}})
	if err != nil {
		return nil, fmt.Errorf("encoding order %s: %w", p.Reference, err)
	}
	return body, nil
}

func newAddress(a carrier.Address) address {
	a = carrierhttp.Trimmed(a)
	return address{
		Name: a.Name, Company: a.Company, Street1: a.Street1, Street2: a.Street2, City: a.City,
		State: a.State, Zip: a.PostalCode, Country: a.Country, Phone: a.Phone, Email: a.Email,
	}
}

func newParcel(s carrier.Shipment) parcel {
	p := parcel{Weight: number(units.Ounce, s.WeightG)}
	if d := s.Dimensions; d != nil {
		p.Length = number(units.Inch, d.Length)
		p.Width = number(units.Inch, d.Width)
		p.Height = number(units.Inch, d.Height)
	}
	return p
}

func number(u units.Unit, metric int64) jsontext.Value {
	return jsontext.Value(u.FromMetric(metric, decimals))
}

// shipment is a shipment as EasyPost shows it: made, sold or refunded.
type shipment struct {
	ID           string `json:"id"`
	Reference    string `json:"reference"`
	TrackingCode string `json:"tracking_code"`

	// CreatedAt is text of RFC 3339, and only bounds a look-up: it need not be readable.
	CreatedAt jsontext.Value `json:"created_at"`

	// PostageLabel is null until the shipment is sold: it alone tells.
	PostageLabel *postageLabel `json:"postage_label"`
	SelectedRate *rate         `json:"selected_rate"`
	RefundStatus string        `json:"refund_status"`

	Rates    []rate    `json:"rates"`
	Messages []message `json:"messages"`

	Parcel struct {
		Weight jsontext.Value `json:"weight"`
	} `json:"parcel"`
}

type postageLabel struct {
	ID       string `json:"id"`
	URL      string `json:"label_url"`
	FileType string `json:"label_file_type"`
	PDFURL   string `json:"label_pdf_url"`
	ZPLURL   string `json:"label_zpl_url"`
}

// rate is one offer, and the one that was bought. Its amount is decimal text.
type rate struct {
	ID               string `json:"id"`
	Carrier          string `json:"carrier"`
	CarrierAccountID string `json:"carrier_account_id"`
	Service          string `json:"service"`
	Rate             string `json:"rate"`
	Currency         string `json:"currency"`
}

// cost reads the rate without a float on the way.
func (r rate) cost() (carrier.Money, bool) {
	if !carrier.IsCurrency(r.Currency) {
		return carrier.Money{}, false
	}
	text := r.Rate
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".") // fees are written with five decimals
	}
	cents, err := carrier.ParseCents(text, r.Currency)
	return carrier.Money{Cents: cents, Currency: r.Currency}, err == nil && cents >= 0
}

// message is why a carrier offers no rate: in its own words, not EasyPost's, and perhaps no text.
type message struct {
	Carrier string         `json:"carrier"`
	Message jsontext.Value `json:"message"`
}

// text returns the empty string for anything but text.
func text(raw jsontext.Value) string {
	var s string
	if raw.Kind() != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
