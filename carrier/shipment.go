package carrier

import (
	"fmt"
	"io"
)

// Shipment is what a label is bought for. Weights are grams, lengths millimetres: carriers' own
// units are made at the edge, by the adapter.
type Shipment struct {
	Service    string      `json:"service"`
	WeightG    int64       `json:"weight_g"`
	Dimensions *Dimensions `json:"dimensions_mm,omitzero"`
	ShipFrom   Address     `json:"ship_from"`
	ShipTo     Address     `json:"ship_to"`
	Format     Format      `json:"label_format"`

	// MaxCostCents is the most the label may cost, in minor units of the account's currency;
	// nil means any price.
	MaxCostCents *int64 `json:"max_cost_cents,omitzero"`
}

// Dimensions are a parcel's outer measures in millimetres.
type Dimensions struct {
	Length int64 `json:"length"`
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}

// Address is a postal address. It is personal data: it goes to the carrier and into the intent's
// own row, and nowhere else.
type Address struct {
	Name       string `json:"name,omitzero"`
	Company    string `json:"company,omitzero"`
	Street1    string `json:"street1,omitzero"`
	Street2    string `json:"street2,omitzero"`
	City       string `json:"city,omitzero"`
	State      string `json:"state,omitzero"`
	PostalCode string `json:"postal_code,omitzero"`

	// Country is an ISO 3166-1 alpha-2 code.
	Country string `json:"country,omitzero"`
	Phone   string `json:"phone,omitzero"`
	Email   string `json:"email,omitzero"`
}

// String keeps an address out of logs and error texts when it is printed by mistake.
func (Address) String() string { return "(address)" }

// Format does the same for every verb: without it %d shows the fields of a pointer.
func (a Address) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, a.String()) }

// FieldError says what is wrong with one member of a request, and what to do.
type FieldError struct {
	// Pointer is an RFC 6901 JSON pointer into the request, e.g. "/ship_to/street1".
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}
