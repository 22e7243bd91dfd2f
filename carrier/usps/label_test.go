package usps

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

func TestJudgeSuccess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		old, with string // what is replaced in goodLabel
		want      string // code; empty for bought
		evidence  bool
	}{
		"Good":             {"", "", "", true},
		"NoTracking":       {`9205590006662200704797`, ``, codeNoTracking, true},
		"TrackingIsAPath":  {`9205590006662200704797`, `../92`, carrierhttp.CodeMalformed, false},
		"NoPostage":        {`"postage": 4.10,`, ``, carrierhttp.CodeMalformed, true},
		"PostageIsNull":    {`4.10`, `null`, carrierhttp.CodeMalformed, true},
		"PostageIsText":    {`4.10`, `"4.10"`, "", true},
		"PostageOfAFloat":  {`4.10`, `4.1000000000000005`, carrierhttp.CodeMalformed, true},
		"NegativePostage":  {`4.10`, `-4.10`, carrierhttp.CodeMalformed, true},
		"FeeWithoutAPrice": {`"price": 2.35`, `"cost": 2.35`, carrierhttp.CodeMalformed, true},
		"NegativeFee":      {`2.35`, `-2.35`, carrierhttp.CodeMalformed, true},
		"NoFees":           {`"fees": [{"name": "Nonstandard Length", "SKU": "Y", "price": 2.35}],`, ``, "", true},
		"NullFees":         {`[{"name": "Nonstandard Length", "SKU": "Y", "price": 2.35}]`, `null`, "", true},
		"OneCentTooMuch":   {`2.35`, `2.36`, carrier.CodeOverPrice, true},
		"ExtraTooMuch":     {`"price": 0`, `"price": 0.01`, carrier.CodeOverPrice, true},
		"ErrorBeside":      {`"zone"`, `"error": {"code": "400", "message": "No."}, "zone"`, carrierhttp.CodeErrors, true},
		"NullErrorBeside":  {`"zone"`, `"error": null, "errors": [], "zone"`, "", true},
		"RoundedUp":        {`3.1968`, `4`, "", true},
		"NextPound":        {`3.1968`, `4.2`, codeWrongWeight, true},
		"Lighter":          {`3.1968`, `3.19`, codeWrongWeight, true},
		"OtherWeight":      {`3.1968`, `5.4`, codeWrongWeight, true},
		"NoWeight":         {`, "weight": 3.1968`, ``, "", true},
		"NullWeight":       {`3.1968`, `null`, "", true},
		"WeightIsText":     {`3.1968`, `"3"`, carrierhttp.CodeMalformed, true},
		"DuplicateName":    {`"SKU": "DUXP0XXXXC01010"`, `"trackingNumber": "93"`, carrierhttp.CodeMalformed, false},
		"InvalidUTF8":      {`97205`, "\xff", carrierhttp.CodeMalformed, false},
		"NoImage":          {`JVBERi0=`, ``, "", true},
		"ImageIsNotBase64": {`JVBERi0=`, `%`, "", true},
		"ImageIsAPage":     {`JVBERi0=`, `PGh0bWw+`, "", true},
		"ImageIsANumber":   {`"JVBERi0="`, `7`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(goodPurchase(), answer(200, strings.Replace(goodLabel, tt.old, tt.with, 1)))
			require.Equal(t, tt.want, r.Code)
			require.Equal(t, tt.evidence, r.Label != nil)
			if tt.want == carrierhttp.CodeMalformed && tt.evidence {
				// What a person needs to find what was paid for, and no price that nobody has read.
				require.Equal(t, &carrier.Label{ID: "9205590006662200704797", TrackingNo: "9205590006662200704797", Reference: "REF1"}, r.Label)
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
	label := judge(goodPurchase(), answer(200, goodLabel)).Label
	require.Equal(t, carrier.Label{
		ID:          "9205590006662200704797",
		TrackingNo:  "9205590006662200704797",
		Reference:   "REF1",
		Service:     "USPS_GROUND_ADVANTAGE",
		WeightG:     1450,
		WeightStepG: 1,
		Cost:        carrier.Money{Cents: 645, Currency: "USD"},
		Document:    carrier.Document{Format: carrier.PDF, Content: []byte("%PDF-")},
	}, *label)
}
