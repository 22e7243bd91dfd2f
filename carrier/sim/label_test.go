package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// goodLabel is a full valid answer to goodPurchase; JVBERi0= is "%PDF-".
const goodLabel = `{"label_id": "lbl_1", "reference": "REF1", "tracking_no": "SIM1", "cost_cents": 645,
 "currency": "USD", "service": "ground", "weight_g": 1450, "document": {"format": "pdf", "base64": "JVBERi0="}}`

func goodPurchase() carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: "carrier:fulfilment:k",
		Reference:  "REF1",
		Shipment:   carrier.Shipment{Service: "ground", WeightG: 1450, Format: carrier.PDF, MaxCostCents: new(int64(645))},
	}
}

func TestJudgeSuccess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		old, with string // what is replaced in goodLabel
		want      string // code; empty for bought
		evidence  bool
	}{
		"Good":                 {"", "", "", true},
		"UnknownMember":        {`{"label_id"`, `{"new": 1, "label_id"`, "", true},
		"NoLabelID":            {`"lbl_1"`, `""`, carrierhttp.CodeMalformed, false},
		"LabelIDIsAPath":       {`"lbl_1"`, `"../x"`, carrierhttp.CodeMalformed, false},
		"OtherReference":       {`"REF1"`, `"REF2"`, codeWrongReference, true},
		"ReferenceOtherCase":   {`"REF1"`, `"ref1"`, codeWrongReference, true},
		"NoReference":          {`"REF1"`, `""`, carrierhttp.CodeMalformed, false},
		"NoTracking":           {`"SIM1"`, `""`, codeNoTracking, true},
		"TrackingWithNUL":      {`"SIM1"`, `"S\u0000"`, carrierhttp.CodeMalformed, false},
		"TrackingWithSpace":    {`"SIM1"`, `"SIM 1"`, carrierhttp.CodeMalformed, false},
		"OneCentTooMuch":       {`645`, `646`, carrier.CodeOverPrice, true},
		"PriceIsAFraction":     {`645`, `645.5`, carrierhttp.CodeMalformed, false},
		"PriceHasAPoint":       {`645`, `6.45`, carrierhttp.CodeMalformed, false},
		"PriceIsText":          {`645`, `"645"`, carrierhttp.CodeMalformed, false},
		"PriceIsNegative":      {`645`, `-1`, carrierhttp.CodeMalformed, false},
		"PriceOverflows":       {`645`, `9223372036854775808`, carrierhttp.CodeMalformed, false},
		"NoPrice":              {`"cost_cents": 645,`, ``, carrierhttp.CodeMalformed, false},
		"FreeOfCharge":         {`645`, `0`, "", true},
		"OtherCurrency":        {`USD`, `EUR`, codeWrongCurrency, true},
		"CurrencyInLowerCase":  {`USD`, `usd`, carrierhttp.CodeMalformed, false},
		"OtherService":         {`ground`, `express`, codeWrongService, true},
		"NoWeight":             {`1450`, `0`, carrierhttp.CodeMalformed, false},
		"DuplicateName":        {`"tracking_no"`, `"label_id": "lbl_2", "tracking_no"`, carrierhttp.CodeMalformed, false},
		"MemberInOtherCase":    {`"tracking_no"`, `"TRACKING_NO"`, codeNoTracking, true},
		"InvalidUTF8":          {`SIM1`, "SIM\xff", carrierhttp.CodeMalformed, false},
		"NoDocument":           {`, "document": {"format": "pdf", "base64": "JVBERi0="}`, ``, "", true},
		"DocumentIsNotBase64":  {`JVBERi0=`, `%`, "", true},
		"DocumentIsNoDocument": {`{"format": "pdf", "base64": "JVBERi0="}`, `7`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := strings.Replace(goodLabel, tt.old, tt.with, 1)
			r := judge(goodPurchase(), "USD", jsonAnswer(201, body))
			require.Equal(t, tt.want, r.Code)
			require.Equal(t, tt.evidence, r.Label != nil)
			if tt.want == "" {
				require.Equal(t, carrier.Bought, r.Outcome)
			} else {
				require.Equal(t, carrier.Unknown, r.Outcome)
			}
		})
	}
}

func TestAnyPriceWithoutALimit(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.MaxCostCents = nil
	require.Equal(t, carrier.Bought, judge(p, "USD", jsonAnswer(201, goodLabel)).Outcome)
}

func TestReadDocument(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw  string
		want carrier.Format
	}{
		"PDF":           {`{"format": "pdf", "base64": "JVBERi0="}`, carrier.PDF},
		"ZPL":           {`{"format": "zpl", "base64": "XlhBXlha"}`, carrier.ZPL},
		"PageForPDF":    {`{"format": "pdf", "base64": "PGh0bWw+"}`, ""},
		"UnknownFormat": {`{"format": "svg", "base64": "JVBERi0="}`, ""},
		"Null":          {`null`, ""},
		"Absent":        {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := readDocument([]byte(tt.raw))
			require.Equal(t, tt.want, d.Format)
			require.Equal(t, tt.want == "", len(d.Content) == 0)
		})
	}
}

func TestReadLabels(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   int // -1 for an error
	}{
		"None":           {jsonAnswer(200, `{"labels": []}`), 0},
		"Two":            {jsonAnswer(200, `{"labels": [`+goodLabel+`,`+goodLabel+`]}`), 2},
		"NoMember":       {jsonAnswer(200, `{}`), -1},
		"NullMember":     {jsonAnswer(200, `{"labels": null}`), -1},
		"NotFound":       {jsonAnswer(404, `{"labels": []}`), -1},
		"Incomplete":     {jsonAnswer(200, `{"labels": [`+goodLabel+`,{}]}`), -1},
		"OtherReference": {jsonAnswer(200, `{"labels": [`+strings.Replace(goodLabel, "REF1", "REF2", 1)+`]}`), -1},
		"OtherMoney":     {jsonAnswer(200, `{"labels": [`+strings.ReplaceAll(goodLabel, "USD", "CAD")+`]}`), -1},
		"HalfSent":       {carrierhttp.Answer{Status: 200, Header: jsonAnswer(0, "").Header, Body: []byte(`{"labels": []}`)}, -1},
		"Page":           {carrierhttp.Answer{Status: 200, Header: nil, Body: []byte(`{"labels": []}`), Whole: true}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			labels, err := readLabels(tt.answer, "REF1", "USD")
			if tt.want < 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Len(t, labels, tt.want)
		})
	}
}
