package easyship

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

func TestJudgeSuccess(t *testing.T) {
	t.Parallel()
	const tracking, state = `{"leg_number": 1, "tracking_number": "9405509104250026972189"}`, `"label_state": "generated"`
	for name, tt := range map[string]struct {
		old, with string // what is replaced in goodLabel
		want      string // code; empty for bought
		evidence  bool
	}{
		"Good":            {"", "", "", true},
		"ErrorBeside":     {`"shipment"`, `"error": {"code": "X", "message": "No."}, "shipment"`, carrierhttp.CodeErrors, true},
		"NullErrorBeside": {`"shipment"`, `"error": null, "errors": [], "shipment"`, "", true},
		"Printed":         {state, `"label_state": "printed"`, "", true},
		"Pending":         {state, `"label_state": "pending"`, codeNotYet, true},
		"Generating":      {state, `"label_state": "generating"`, codeNotYet, true},
		"NotCreated":      {state, `"label_state": "not_created"`, codeNotYet, true},
		"Failed":          {state, `"label_state": "failed"`, codeNotYet, true},
		"TechnicalFailed": {state, `"label_state": "technical_failed"`, codeNotYet, true},
		"Voided":          {state, `"label_state": "voided"`, codeNotYet, true},
		"AnotherState":    {state, `"label_state": "done"`, codeNotYet, true},
		"NoState":         {state, `"state": "generated"`, codeNotYet, true},
		"NoTracking":      {tracking, ``, codeNoTracking, true},
		"EmptyTracking":   {`9405509104250026972189`, ``, codeNoTracking, true},
		"NullTracking":    {`"9405509104250026972189"`, `null`, codeNoTracking, true},
		"TrackingWithNUL": {`9405509104250026972189`, `9\u0000`, carrierhttp.CodeMalformed, false},
		"IDIsAPath":       {`"ESUS222372744"`, `"../x"`, carrierhttp.CodeMalformed, false},
		"NoID":            {`"ESUS222372744"`, `""`, carrierhttp.CodeMalformed, false},
		"OtherReference":  {`"REF1"`, `"REF2"`, codeWrongReference, true},
		"NoReference":     {`"REF1"`, `null`, carrierhttp.CodeMalformed, false},
		"OtherCourier":    {`{"id": "c3e97b11-2842"`, `{"id": "another"`, codeWrongService, true},
		"UnpricedCourier": {`{"id": "c3e97b11-2842"`, `{"id": "7505df80-af51"`, carrierhttp.CodeMalformed, false},
		"NoCourier":       {`{"id": "c3e97b11-2842"`, `{"id": null`, carrierhttp.CodeMalformed, false},
		"NoPrice":         {`"total_charge": 6.45`, `"total": 6.45`, carrierhttp.CodeMalformed, false},
		"PriceOfAFloat":   {`6.45`, `6.4500000000000001`, carrierhttp.CodeMalformed, false},
		"NegativePrice":   {`6.45`, `-6.45`, carrierhttp.CodeMalformed, false},
		"OneCentTooMuch":  {`6.45`, `6.46`, carrier.CodeOverPrice, true},
		"OtherCurrency":   {`"currency": "USD", "total_charge": 6.45`, `"currency": "EUR", "total_charge": 6.45`, codeWrongCurrency, true},
		"OddCurrency":     {`"currency": "USD", "total_charge": 6.45`, `"currency": "usd", "total_charge": 6.45`, carrierhttp.CodeMalformed, false},
		"OtherWeight":     {`1.45`, `2.45`, codeWrongWeight, true},
		"RoundedWeight":   {`1.45`, `1.46`, "", true},
		"WeightALittleUp": {`1.45`, `1.461`, codeWrongWeight, true},
		"WeightOfAFloat":  {`1.45`, `1.450000000001`, "", true},
		"NoWeight":        {`{"total_actual_weight": 1.45}`, `{}`, carrierhttp.CodeMalformed, false},
		"TwoParcels":      {`"parcels": [`, `"parcels": [{"total_actual_weight": 1},`, carrierhttp.CodeMalformed, false},
		"DuplicateName":   {`"currency": "USD", "label_state"`, `"label_state": "generated", "label_state"`, carrierhttp.CodeMalformed, false},
		"InvalidUTF8":     {`Portland`, "\xff", carrierhttp.CodeMalformed, false},
		"NoDocuments":     {`"shipping_documents"`, `"documents"`, "", true},
		"DocumentsAreOdd": {`"shipping_documents": [`, `"shipping_documents": [7, `, "", true},
		"NotBase64":       {`"JVBERi0="`, `"%"`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := strings.Replace(goodLabel, tt.old, tt.with, 1)
			for _, status := range []int{200, 201} {
				r := adapter().judge(goodPurchase(), answer(status, body))
				require.Equal(t, tt.want, r.Code, r.Message)
				require.Equal(t, tt.evidence, r.Label != nil)
				if tt.want == "" {
					require.Equal(t, carrier.Bought, r.Outcome)
				} else {
					require.Equal(t, carrier.Unknown, r.Outcome)
				}
			}
			require.Equal(t, carrier.Unknown, adapter().judge(goodPurchase(), answer(202, body)).Outcome, "202 promises a label")
		})
	}
}

func TestLabelOfAnAnswer(t *testing.T) {
	t.Parallel()
	require.Equal(t, carrier.Label{
		ID:          "ESUS222372744",
		TrackingNo:  "9405509104250026972189",
		Reference:   "REF1",
		Service:     "ground",
		WeightG:     1450,
		WeightStepG: 10,
		Cost:        carrier.Money{Cents: 645, Currency: "USD"},
		Document:    carrier.Document{Format: carrier.PDF, Content: []byte("%PDF-")},
		ShipTo: &carrier.Address{
			Name: "Ada Jones", Street1: "12 Elm Street", City: "Portland", State: "OR", PostalCode: "97205", Country: "US",
			Phone: "1", Email: "a@b.example",
		},
	}, *adapter().judge(goodPurchase(), answer(201, goodLabel)).Label)
}

// TestStatesAreThoseDocumented: each means one thing to a purchase and to a look-up.
func TestStatesAreThoseDocumented(t *testing.T) {
	t.Parallel()
	documented := []string{
		"failed", "generated", "generating", "not_created", "pending", "printed", "reported",
		"shipping_document_generated", "technical_failed", "void_failed", "voided",
	}
	open := []string{"pending", "generating", "technical_failed"}
	all := slices.Sorted(slices.Values(slices.Concat(madeStates, unsoldStates, open)))
	require.Equal(t, documented, all)
}
