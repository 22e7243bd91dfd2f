package fedex

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

func TestJudgeSuccess(t *testing.T) {
	t.Parallel()
	const tracking = `"trackingNumber": "794953535000"`
	for name, tt := range map[string]struct {
		old, with string // what is replaced in goodLabel
		want      string // code; empty for bought
		evidence  bool
	}{
		"Good":            {"", "", "", true},
		"MasterAlone":     {tracking + `,`, ``, "", true},
		"NoTracking":      {`794953535000`, ``, codeNoTracking, true}, // of both, see below
		"TrackingIsAPath": {tracking, `"trackingNumber": "../x"`, carrierhttp.CodeMalformed, true},
		"OtherReference":  {`"REF1"`, `"REF2"`, codeWrongReference, true},
		"NoEcho":          {`"customerTransactionId": "REF1", `, ``, "", true},
		"NullEcho":        {`"REF1"`, `null`, "", true},
		"EchoWithNUL":     {`"REF1"`, `"REF1\u0000"`, carrierhttp.CodeMalformed, true},
		"OtherService":    {`"FEDEX_GROUND"`, `"FEDEX_2_DAY"`, codeWrongService, true},
		"NoService":       {`"serviceType": "FEDEX_GROUND",`, ``, "", true},
		"NoCharge":        {`"netChargeAmount": 6.45,`, ``, carrierhttp.CodeMalformed, true},
		"NullCharge":      {`"netChargeAmount": 6.45`, `"netChargeAmount": null`, carrierhttp.CodeMalformed, true},
		"NegativeCharge":  {`"netChargeAmount": 6.45`, `"netChargeAmount": -6.45`, carrierhttp.CodeMalformed, true},
		"ChargeOfAFloat":  {`"netChargeAmount": 6.45`, `"netChargeAmount": 6.450000000000001`, carrierhttp.CodeMalformed, true},
		"OneCentTooMuch":  {`"netChargeAmount": 6.45`, `"netChargeAmount": 6.46`, carrier.CodeOverPrice, true},
		"OtherCurrency":   {`"currency": "USD"`, `"currency": "EUR"`, codeWrongCurrency, true},
		"OddCurrency":     {`"currency": "USD"`, `"currency": "usd"`, carrierhttp.CodeMalformed, true},
		"AccountCurrency": {`, "currency": "USD"`, ``, "", true},
		"AnyCurrency":     {`"actualRateType": "PAYOR_ACCOUNT_PACKAGE",`, ``, codeWrongCurrency, true},
		"Unsuccessful":    {`"successful": true`, `"successful": false`, carrierhttp.CodeMalformed, true},
		"NotSaid":         {`, "successful": true`, ``, "", true},
		"Errors":          {`"output"`, `"errors": [{"code": "A.B", "message": "No."}], "output"`, "A.B", true},
		"NoErrors":        {`"output"`, `"errors": [], "output"`, "", true},
		"Job":             {`"alerts"`, `"jobId": "j", "alerts"`, codeAsynchronous, true},
		"NoPieces":        {`"pieceResponses"`, `"pieces"`, carrierhttp.CodeMalformed, true},
		"MasterIsAPath":   {`"masterTrackingNumber": "794953535000", "serviceType": "FEDEX_GROUND"`, `"masterTrackingNumber": "../x", "serviceType": 7`, carrierhttp.CodeMalformed, true},
		"TwoPieces":       {`"pieceResponses": [`, `"pieceResponses": [{},`, carrierhttp.CodeMalformed, true},
		"TwoShipments":    {`"transactionShipments": [`, `"transactionShipments": [{},`, carrierhttp.CodeMalformed, true},
		"DuplicateName":   {tracking, tracking + "," + tracking, carrierhttp.CodeMalformed, false},
		"InvalidUTF8":     {`Fuel`, "\xff", carrierhttp.CodeMalformed, false},
		"NoAlerts":        {`"alerts": [{"code": "SHIPMENT.NOTE", "alertType": "NOTE", "message": "Fuel is dear."}],`, ``, "", true},
		"AlertsAreOdd":    {`"alerts": [{"code": "SHIPMENT.NOTE", "alertType": "NOTE", "message": "Fuel is dear."}]`, `"alerts": "x"`, "", true},
		"NoDocument":      {`{"docType": "PDF", "contentType": "LABEL", "encodedLabel": "JVBERi0="}`, ``, "", true},
		"LinkOnly":        {`"encodedLabel": "JVBERi0="`, `"url": "https://x"`, "", true},
		"NotBase64":       {`JVBERi0=`, `%`, "", true},
		"DocumentsAreOdd": {`[{"docType": "PDF", "contentType": "LABEL", "encodedLabel": "JVBERi0="}]`, `7`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			times := 1
			if name == "NoTracking" {
				times = -1
			}
			r := judge(goodPurchase(), "USD", answer(200, strings.Replace(goodLabel, tt.old, tt.with, times)))
			require.Equal(t, tt.want, r.Code)
			require.Equal(t, tt.evidence, r.Label != nil)
			if tt.want == carrierhttp.CodeMalformed && tt.evidence {
				// What a person needs to find what was paid for, and no price that nobody has read.
				require.Equal(t, &carrier.Label{ID: "794953535000", TrackingNo: "794953535000", Reference: "REF1"}, r.Label)
			}
			if tt.want == "" {
				require.Equal(t, carrier.Bought, r.Outcome)
			} else {
				require.Equal(t, carrier.Unknown, r.Outcome)
			}
		})
	}
}

func TestLabelOfAnAnswer(t *testing.T) {
	t.Parallel()
	require.Equal(t, carrier.Label{
		ID:         "794953535000",
		TrackingNo: "794953535000",
		Reference:  "REF1",
		Service:    "FEDEX_GROUND",
		Cost:       carrier.Money{Cents: 645, Currency: "USD"},
		Document:   carrier.Document{Format: carrier.PDF, Content: []byte("%PDF-")},
	}, *judge(goodPurchase(), "USD", answer(200, goodLabel)).Label)
}
