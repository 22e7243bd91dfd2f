package fedex

import (
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// goodLabel is a full valid answer to goodPurchase; JVBERi0= is "%PDF-".
const goodLabel = `{"transactionId": "624deea6", "customerTransactionId": "REF1", "output": {
 "alerts": [{"code": "SHIPMENT.NOTE", "alertType": "NOTE", "message": "Fuel is dear."}],
 "transactionShipments": [{"masterTrackingNumber": "794953535000", "serviceType": "FEDEX_GROUND",
  "pieceResponses": [{"trackingNumber": "794953535000", "netChargeAmount": 6.45, "successful": true,
   "packageDocuments": [{"docType": "PDF", "contentType": "LABEL", "encodedLabel": "JVBERi0="}]}],
  "completedShipmentDetail": {"shipmentRating": {"actualRateType": "PAYOR_ACCOUNT_PACKAGE",
   "shipmentRateDetails": [{"rateType": "PAYOR_LIST_PACKAGE", "currency": "CAD"},
    {"rateType": "PAYOR_ACCOUNT_PACKAGE", "currency": "USD", "totalNetCharge": 6.45}]}}}]}}`

const refused = `{"transactionId": "624deea6", "customerTransactionId": "REF1",
 "errors": [{"code": "ACCOUNTNUMBER.REGISTRATION.REQUIRED", "message": "Please enter a valid account number."}]}`

func goodPurchase() carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: "carrier:fulfilment:k",
		Reference:  "REF1",
		Shipment:   carrier.Shipment{Service: "FEDEX_GROUND", WeightG: 1450, Format: carrier.PDF, MaxCostCents: new(int64(645))},
	}
}

func answer(status int, body string) carrierhttp.Answer {
	return carrierhttp.Answer{
		Status: status, Header: http.Header{"Content-Type": {"application/json;charset=UTF-8"}}, Body: []byte(body), Whole: true,
	}
}

func failure(code string) string { return `{"errors": [{"code": "` + code + `", "message": "No."}]}` }
