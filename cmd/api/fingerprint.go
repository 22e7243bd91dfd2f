package main

import (
	"crypto/sha256"
	"encoding/json/v2"
	"fmt"
	"net/http"

	"waybill/carrier"
)

// canonicalRequest is a request written in one fixed way, so that order of members, white space and
// omitted constants make no difference and nothing else is lost: numbers stay exact.
//
// What is left out by the caller and filled in from the configuration (carrier, ship_from) stays
// out, so that changing the configuration changes no fingerprint. Members added later must be
// omitted when absent and stand where the encoding of older requests does not move.
type canonicalRequest struct {
	OrderID      int64               `json:"order_id"`
	ParcelNo     int64               `json:"parcel_no"`
	LabelVersion int64               `json:"label_version"`
	Carrier      *string             `json:"carrier,omitzero"`
	Service      string              `json:"service"`
	WeightG      int64               `json:"weight_g"`
	Dimensions   *carrier.Dimensions `json:"dimensions_mm,omitzero"`
	ShipFrom     *carrier.Address    `json:"ship_from,omitzero"`
	ShipTo       carrier.Address     `json:"ship_to"`
	LabelFormat  string              `json:"label_format"`
	MaxCostCents *int64              `json:"max_cost_cents,omitzero"`
}

// fingerprint is the SHA-256 over method, path and canonical body. It is stored for as long as
// intents are kept: fingerprint_test.go pins some for ever.
func (r *labelRequest) fingerprint() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", http.MethodPost, labelsPath, r.canonical()))
}

// canonical writes the request in its one fixed way.
func (r *labelRequest) canonical() []byte {
	c := canonicalRequest{
		OrderID:      value(r.OrderID),
		ParcelNo:     value(r.ParcelNo),
		LabelVersion: valueOr(r.LabelVersion, defaultLabelVersion),
		Carrier:      r.Carrier,
		Service:      value(r.Service),
		WeightG:      value(r.WeightG),
		Dimensions:   r.Dimensions.measures(),
		ShipTo:       value(r.ShipTo).Address,
		LabelFormat:  valueOr(r.LabelFormat, string(defaultLabelFormat)),
		MaxCostCents: r.MaxCostCents,
	}
	if r.ShipFrom != nil {
		c.ShipFrom = &r.ShipFrom.Address
	}
	body, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("encoding a decoded request: %v", err)) // valid strings and integers only
	}
	return body
}
