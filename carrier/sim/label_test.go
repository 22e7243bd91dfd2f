package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
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
		"NoLabelID":            {`"lbl_1"`, `""`, codeMalformed, false},
		"LabelIDIsAPath":       {`"lbl_1"`, `"../x"`, codeMalformed, false},
		"OtherReference":       {`"REF1"`, `"REF2"`, codeWrongReference, true},
		"ReferenceOtherCase":   {`"REF1"`, `"ref1"`, codeWrongReference, true},
		"NoReference":          {`"REF1"`, `""`, codeMalformed, false},
		"NoTracking":           {`"SIM1"`, `""`, codeNoTracking, true},
		"TrackingWithNUL":      {`"SIM1"`, `"S\u0000"`, codeMalformed, false},
		"TrackingWithSpace":    {`"SIM1"`, `"SIM 1"`, codeMalformed, false},
		"OneCentTooMuch":       {`645`, `646`, carrier.CodeOverPrice, true},
		"PriceIsAFraction":     {`645`, `645.5`, codeMalformed, false},
		"PriceHasAPoint":       {`645`, `6.45`, codeMalformed, false},
		"PriceIsText":          {`645`, `"645"`, codeMalformed, false},
		"PriceIsNegative":      {`645`, `-1`, codeMalformed, false},
		"PriceOverflows":       {`645`, `9223372036854775808`, codeMalformed, false},
		"NoPrice":              {`"cost_cents": 645,`, ``, codeMalformed, false},
		"FreeOfCharge":         {`645`, `0`, "", true},
		"OtherCurrency":        {`USD`, `EUR`, codeWrongCurrency, true},
		"CurrencyInLowerCase":  {`USD`, `usd`, codeMalformed, false},
		"OtherService":         {`ground`, `express`, codeWrongService, true},
		"NoWeight":             {`1450`, `0`, codeMalformed, false},
		"DuplicateName":        {`"tracking_no"`, `"label_id": "lbl_2", "tracking_no"`, codeMalformed, false},
		"MemberInOtherCase":    {`"tracking_no"`, `"TRACKING_NO"`, codeNoTracking, true},
		"InvalidUTF8":          {`SIM1`, "SIM\xff", codeMalformed, false},
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
		answer answer
		want   int // -1 for an error
	}{
		"None":           {jsonAnswer(200, `{"labels": []}`), 0},
		"Two":            {jsonAnswer(200, `{"labels": [`+goodLabel+`,`+goodLabel+`]}`), 2},
		"NoMember":       {jsonAnswer(200, `{}`), -1},
		"NullMember":     {jsonAnswer(200, `{"labels": null}`), -1},
		"NotFound":       {jsonAnswer(404, `{"labels": []}`), -1},
		"Incomplete":     {jsonAnswer(200, `{"labels": [`+goodLabel+`,{}]}`), -1},
		"OtherReference": {jsonAnswer(200, `{"labels": [`+strings.Replace(goodLabel, "REF1", "REF2", 1)+`]}`), -1},
		"HalfSent":       {answer{status: 200, header: jsonAnswer(0, "").header, body: []byte(`{"labels": []}`)}, -1},
		"Page":           {answer{status: 200, header: nil, body: []byte(`{"labels": []}`), whole: true}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			labels, err := readLabels(tt.answer, "REF1")
			if tt.want < 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Len(t, labels, tt.want)
		})
	}
}
