package simserver

import (
	"encoding/json/jsontext"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// easypostShipment is EasyPost's main object. Before it is bought SelectedRate, TrackingCode and
// PostageLabel are null; there is no other sign.
type easypostShipment struct {
	ID           string             `json:"id"`
	Object       string             `json:"object"`
	Reference    *string            `json:"reference"`
	Mode         string             `json:"mode"`
	CreatedAt    time.Time          `json:"created_at"`
	UpdatedAt    time.Time          `json:"updated_at"`
	IsReturn     bool               `json:"is_return"`
	Status       string             `json:"status"`
	BatchID      *string            `json:"batch_id"`
	TrackingCode *string            `json:"tracking_code"`
	RefundStatus *string            `json:"refund_status"`
	ToAddress    easypostAddress    `json:"to_address"`
	FromAddress  easypostAddress    `json:"from_address"`
	Parcel       easypostParcel     `json:"parcel"`
	Options      easypostOptions    `json:"options"`
	Rates        []easypostRate     `json:"rates"`
	SelectedRate *easypostRate      `json:"selected_rate"`
	PostageLabel *easypostLabel     `json:"postage_label"`
	Fees         []easypostFee      `json:"fees"`
	Messages     []easypostComplain `json:"messages"`
}

type easypostAddress struct {
	ID      string  `json:"id,omitzero"`
	Name    *string `json:"name"`
	Company *string `json:"company"`
	Street1 *string `json:"street1"`
	Street2 *string `json:"street2"`
	City    *string `json:"city"`
	State   *string `json:"state"`
	Zip     *string `json:"zip"`
	Country *string `json:"country"`
	Phone   *string `json:"phone"`
	Email   *string `json:"email"`
}

type easypostParcel struct {
	ID                string         `json:"id,omitzero"`
	Length            easypostNumber `json:"length"`
	Width             easypostNumber `json:"width"`
	Height            easypostNumber `json:"height"`
	PredefinedPackage *string        `json:"predefined_package"`
	Weight            easypostNumber `json:"weight"`
}

type easypostOptions struct {
	Currency     string `json:"currency,omitzero"`
	LabelFormat  string `json:"label_format,omitzero"`
	LabelSize    string `json:"label_size,omitzero"`
	LabelDate    string `json:"label_date,omitzero"`
	PrintCustom1 string `json:"print_custom_1,omitzero"`
	PrintCustom2 string `json:"print_custom_2,omitzero"`
	PrintCustom3 string `json:"print_custom_3,omitzero"`
}

type easypostRate struct {
	ID               string `json:"id"`
	Object           string `json:"object"`
	Carrier          string `json:"carrier"`
	CarrierAccountID string `json:"carrier_account_id"`
	Service          string `json:"service"`
	Rate             string `json:"rate"`
	Currency         string `json:"currency"`
	ShipmentID       string `json:"shipment_id"`
}

// easypostChosenRate is a rate as it is bought: its id counts, the rest of it may come along.
type easypostChosenRate struct {
	ID   string         `json:"id"`
	Rest jsontext.Value `json:",inline"`
}

type easypostLabel struct {
	ID            string  `json:"id"`
	Object        string  `json:"object"`
	LabelFileType string  `json:"label_file_type"`
	LabelSize     string  `json:"label_size"`
	LabelURL      string  `json:"label_url"`
	LabelPDFURL   *string `json:"label_pdf_url"`
	LabelZPLURL   *string `json:"label_zpl_url"`
	LabelEPL2URL  *string `json:"label_epl2_url"`
}

type easypostFee struct {
	Object   string `json:"object"`
	Type     string `json:"type"`
	Amount   string `json:"amount"`
	Charged  bool   `json:"charged"`
	Refunded bool   `json:"refunded"`
}

type easypostComplain struct {
	Carrier string `json:"carrier"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// easypostNumber is a number or a string of one; the carrier takes both and shows a number.
type easypostNumber struct{ jsontext.Value }

// UnmarshalJSON implements [json.Unmarshaler].
func (n *easypostNumber) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	if text == "null" {
		return nil
	}
	if v, err := strconv.ParseFloat(text, 64); err != nil || v <= 0 || decimals(text) > 2 {
		return fmt.Errorf("%s is not a positive number with at most two decimals", b)
	}
	n.Value = jsontext.Value(text)
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (n easypostNumber) MarshalJSON() ([]byte, error) {
	if len(n.Value) == 0 {
		return []byte("null"), nil
	}
	return n.Value, nil
}

func (n easypostNumber) float() float64 {
	f, _ := strconv.ParseFloat(string(n.Value), 64)
	return f
}

// asOrder is what the ledger keeps: ounces are grams there.
func (e easypostShipment) asOrder(service string) order {
	o := order{
		Service: service,
		WeightG: grams(e.Parcel.Weight.float(), ounceG),
		Format:  easypostFormats[e.Options.LabelFormat],
	}
	if e.Reference != nil {
		o.Reference = *e.Reference
	}
	return o
}

var easypostFormats = map[string]format{"": "png", "PNG": "png", "PDF": "pdf", "ZPL": "zpl"}

func (e easypostShipment) rate(id string) (easypostRate, bool) {
	i := slices.IndexFunc(e.Rates, func(r easypostRate) bool { return r.ID == id })
	if i < 0 {
		return easypostRate{}, false
	}
	return e.Rates[i], true
}

// bought shows the shipment with its label. The charge may bear what a fault made of it.
func (e easypostShipment) bought(r *http.Request, sold sale) easypostShipment {
	e.UpdatedAt = sold.At
	e.Reference = nilIfEmpty(sold.Reference)
	e.TrackingCode = nilIfEmpty(sold.TrackingNo)
	e.SelectedRate.Rate = decimal(sold.AmountCents)
	e.SelectedRate.Currency = sold.Currency
	e.PostageLabel = &easypostLabel{
		ID:            "pl_" + sold.LabelID,
		Object:        "PostageLabel",
		LabelFileType: mediaTypes[sold.Order.Format],
		LabelSize:     "4x6",
		LabelURL:      easypostFileURL(r, sold.record, sold.Order.Format),
	}
	e.Fees = []easypostFee{
		{Object: "Fee", Type: "LabelFee", Amount: "0.00000", Charged: true},
		{Object: "Fee", Type: "PostageFee", Amount: decimal(sold.AmountCents) + "000", Charged: true},
	}
	if sold.voided {
		e.RefundStatus = new("refunded")
	}
	return e
}

func easypostFileURL(r *http.Request, charge record, f format) string {
	return serverURL(r, "/easypost/files/"+charge.LabelID+"."+string(f))
}

func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
