package usps

import (
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// goodLabel is a full valid answer to goodPurchase; JVBERi0= is "%PDF-".
const goodLabel = `{"labelAddress": {"firstName": "Ada", "ZIPCode": "97205"}, "trackingNumber": "9205590006662200704797",
 "SKU": "DUXP0XXXXC01010", "postage": 4.10, "extraServices": [{"name": "USPS Tracking", "SKU": "X", "price": 0}],
 "fees": [{"name": "Nonstandard Length", "SKU": "Y", "price": 2.35}], "zone": "05", "weightUOM": "lb", "weight": 3.1968,
 "labelImage": "JVBERi0="}`

const refused = `{"apiVersion": "/labels/v3", "error": {"code": "400", "message": "Bad Request",
 "errors": [{"title": "Bad Request", "detail": "No delivery there", "code": "160001", "source": {"parameter": "toAddress"}}]}}`

func goodPurchase() carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: "carrier:fulfilment:k",
		Reference:  "REF1",
		RemoteID:   "2026-12-01",
		Shipment: carrier.Shipment{
			Service: "USPS_GROUND_ADVANTAGE", WeightG: 1450, Format: carrier.PDF, MaxCostCents: new(int64(645)),
		},
	}
}

func answer(status int, body string) carrierhttp.Answer {
	return carrierhttp.Answer{
		Status: status, Header: http.Header{"Content-Type": {labelsJSON}}, Body: []byte(body), Whole: true,
	}
}
