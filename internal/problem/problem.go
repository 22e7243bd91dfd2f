// Package problem is the error document of RFC 9457 (problem+json) as Waybill writes it. It holds
// shapes and codes only: which event leads to which code is decided where the event happens.
package problem

import (
	"encoding/json/v2"
	"fmt"

	"waybill/carrier"
)

// ContentType is the media type of every error Waybill answers with (RFC 9457, section 3).
const ContentType = "application/problem+json"

// Document is one problem. Members beyond the standard ones are left out unless set.
type Document struct {
	Type   string `json:"type"`
	Code   Code   `json:"code"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitzero"`

	// Instance is the id of the request the problem arose in.
	Instance string `json:"instance,omitzero"`

	IntentID       string               `json:"intent_id,omitzero"`
	Errors         []carrier.FieldError `json:"errors,omitzero"`
	CarrierCode    string               `json:"carrier_code,omitzero"`
	CarrierMessage string               `json:"carrier_message,omitzero"`
}

// New starts the document of a code, with the status and title the code always has.
func New(code Code, detail string) Document {
	k, ok := kinds[code]
	if !ok {
		panic(fmt.Sprintf("problem: code %q is not in the table", code))
	}
	return Document{
		Type:   "urn:waybill:problem:" + string(code),
		Code:   code,
		Title:  k.title,
		Status: k.status,
		Detail: detail,
	}
}

// Encode writes the document's bytes; the same document always gives the same bytes.
func (d Document) Encode() []byte {
	b, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("problem: encoding %s: %v", d.Code, err)) // strings and integers only
	}
	return b
}
