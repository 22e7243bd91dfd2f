package easyship

import (
	"net/http"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// goodShipment is a bought one, as both a purchase and a look-up show it; JVBERi0= is "%PDF-".
const goodShipment = `{"easyship_shipment_id": "ESUS222372744", "created_at": "2026-12-01T10:00:00Z",
 "courier": {"id": "c3e97b11-2842", "name": "USPS - Ground Advantage"}, "currency": "USD", "label_state": "generated",
 "label_paid_at": "2026-12-01T10:00:01Z", "last_failure_http_response_messages": [],
 "order_data": {"platform_name": null, "platform_order_number": "REF1"},
 "destination_address": {"contact_name": "Ada Jones", "company_name": null, "line_1": "12 Elm Street", "line_2": null,
  "city": "Portland", "state": "OR", "postal_code": "97205", "country_alpha2": "US", "contact_phone": "1", "contact_email": "a@b.example"},
 "parcels": [{"total_actual_weight": 1.45}],
 "rates": [{"courier_id": "another", "currency": "USD", "total_charge": 1.00},
  {"courier_id": "c3e97b11-2842", "currency": "USD", "total_charge": 6.45}],
 "trackings": [{"leg_number": 1, "tracking_number": "9405509104250026972189"}],
 "shipping_documents": [{"category": "packing_slip", "base64_encoded_strings": ["JVBERi0x"]},
  {"category": "label", "format": "pdf", "base64_encoded_strings": ["JVBERi0="]}]}`

const goodLabel = `{"shipment": ` + goodShipment + `, "meta": {"request_id": "r", "status": "success"}}`

func goodPurchase() carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: "carrier:fulfilment:k",
		Reference:  "REF1",
		Shipment:   carrier.Shipment{Service: "ground", WeightG: 1450, Format: carrier.PDF, MaxCostCents: new(int64(645))},
	}
}

func goodConfig() Config {
	return Config{
		Name: "easyship", BaseURL: "https://public-api.easyship.example/2023-01", Account: "CUS1", Currency: "USD",
		Secret: "hunter2", Services: map[string]string{"ground": "c3e97b11-2842", "express": "7505df80-af51"},
	}
}

// adapter is one that speaks to nobody.
func adapter() *Adapter {
	a, err := New(goodConfig())
	if err != nil {
		panic(err)
	}
	return a
}

func answer(status int, body string) carrierhttp.Answer {
	return carrierhttp.Answer{
		Status: status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: []byte(body), Whole: true,
	}
}

func failure(code string) string {
	return `{"error": {"type": "invalid_request_error", "code": "` + code + `", "message": "The request is not valid.",
 "details": ["parcels is missing"], "request_id": "r"}}`
}

func withState(state string) string {
	return strings.Replace(goodShipment, `"generated"`, `"`+state+`"`, 1)
}
