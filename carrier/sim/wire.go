package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"

	"waybill/carrier"
)

// order is the body of POST /labels. Its shape is this package's own, so that a new member of the
// vocabulary cannot change the bytes that an earlier attempt has already sent.
type order struct {
	Reference  string      `json:"reference"`
	Service    string      `json:"service"`
	WeightG    int64       `json:"weight_g"`
	Dimensions *dimensions `json:"dimensions_mm,omitzero"`
	ShipFrom   address     `json:"ship_from"`
	ShipTo     address     `json:"ship_to"`
	Format     string      `json:"label_format"`
}

type dimensions struct {
	Length int64 `json:"length"`
	Width  int64 `json:"width"`
	Height int64 `json:"height"`
}

// address has the members of [carrier.Address] in the same order, so that one converts to the other.
type address struct {
	Name       string `json:"name,omitzero"`
	Company    string `json:"company,omitzero"`
	Street1    string `json:"street1,omitzero"`
	Street2    string `json:"street2,omitzero"`
	City       string `json:"city,omitzero"`
	State      string `json:"state,omitzero"`
	PostalCode string `json:"postal_code,omitzero"`
	Country    string `json:"country,omitzero"`
	Phone      string `json:"phone,omitzero"`
	Email      string `json:"email,omitzero"`
}

// encodeOrder gives the same bytes for the same purchase, on every attempt and in every process:
// a carrier compares them before it honours a key. It fails only on text that is not UTF-8.
func encodeOrder(p carrier.Purchase) ([]byte, error) {
	s := p.Shipment
	body, err := json.Marshal(order{
		Reference:  p.Reference,
		Service:    s.Service,
		WeightG:    s.WeightG,
		Dimensions: (*dimensions)(s.Dimensions),
		ShipFrom:   address(s.ShipFrom),
		ShipTo:     address(s.ShipTo),
		Format:     string(s.Format),
	})
	if err != nil {
		return nil, fmt.Errorf("encoding order %s: %w", p.Reference, err)
	}
	return body, nil
}

// maxKey is the longest idempotency key the protocol honours.
const maxKey = 255

// wireKey is the carrier key as the protocol takes it. A longer one becomes its hash, the same on
// every attempt; the empty caller in "carrier::" keeps it apart from every key of a real caller.
func wireKey(carrierKey string) string {
	if len(carrierKey) <= maxKey {
		return carrierKey
	}
	sum := sha256.Sum256([]byte(carrierKey))
	return "carrier::sha256:" + hex.EncodeToString(sum[:])
}
