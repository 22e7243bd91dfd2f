package easypost

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// sold is a full valid answer to goodPurchase, in the shape of the recorded ones.
const sold = `{"id": "shp_1", "object": "Shipment", "reference": "REF1", "mode": "test", "tracking_code": "9400100110368070372185",
 "status": "unknown", "refund_status": null, "parcel": {"weight": 51.2, "length": 11.9, "width": null},
 "messages": [{"carrier": "DhlEcs", "type": "rate_error", "message": ["field required"]}],
 "rates": [{"id": "rate_1", "carrier": "USPS", "carrier_account_id": "ca_1", "service": "GroundAdvantage", "rate": "5.93", "currency": "USD"}],
 "selected_rate": {"id": "rate_1", "carrier": "USPS", "carrier_account_id": "ca_1", "service": "GroundAdvantage", "rate": "5.93", "currency": "USD"},
 "postage_label": {"id": "pl_1", "label_url": "https://files.example/1.png", "label_pdf_url": null, "label_zpl_url": null, "label_file_type": "image/png"},
 "fees": [{"type": "LabelFee", "amount": "0.00000"}, {"type": "PostageFee", "amount": "5.93000"}]}`

// made is what the first step is answered with.
var made = strings.NewReplacer(
	`"tracking_code": "9400100110368070372185"`, `"tracking_code": null`,
	sold[strings.Index(sold, `"selected_rate"`):strings.Index(sold, `"fees"`)], `"selected_rate": null, "postage_label": null, `,
).Replace(sold)

func goodPurchase() carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: "carrier:fulfilment:k",
		RemoteID:   "shp_1,rate_1",
		Reference:  "REF1",
		Shipment:   carrier.Shipment{Service: "GroundAdvantage", WeightG: 1450, Format: carrier.PNG, MaxCostCents: new(int64(593))},
	}
}

func good() Config {
	return Config{
		Name: "easypost", BaseURL: "https://carrier.example/v2", Account: "A", Currency: "USD", Secret: "s",
		Carrier: "USPS", Capabilities: carrier.Capabilities{Lookup: &carrier.Lookup{}, Void: true},
	}
}

func adapter() *Adapter { return &Adapter{cfg: good()} }

func jsonAnswer(status int, body string) carrierhttp.Answer {
	return carrierhttp.Answer{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body:   []byte(body),
		Whole:  true,
	}
}

func TestJudgeSuccess(t *testing.T) {
	t.Parallel()
	const tracking = `"9400100110368070372185"`
	selected := func(old, with string) (string, string) {
		at := sold[strings.Index(sold, `"selected_rate"`):strings.Index(sold, `"postage_label"`)]
		return at, strings.Replace(at, old, with, 1)
	}
	for name, tt := range map[string]struct {
		old, with string // what is replaced in sold
		inRate    bool   // only in the selected rate
		want      string // code; empty for bought
		evidence  bool
	}{
		"Good":                {"", "", false, "", true},
		"ErrorBeside":         {`"id"`, `"error": {"code": "X", "message": "No."}, "id"`, false, carrierhttp.CodeErrors, true},
		"NullErrorBeside":     {`"id"`, `"error": null, "errors": [], "id"`, false, "", true},
		"OtherShipment":       {`"shp_1"`, `"shp_2"`, false, codeWrongShipment, true},
		"IDIsAPath":           {`"shp_1"`, `"../x"`, false, carrierhttp.CodeMalformed, false},
		"NotSold":             {`"postage_label": {`, `"postage_label": null, "x": {`, false, codeNotSold, false},
		"OtherReference":      {`"REF1"`, `"REF2"`, false, codeWrongReference, true},
		"NoReference":         {`"REF1"`, `null`, false, codeWrongReference, true},
		"NoTracking":          {tracking, `null`, false, codeNoTracking, true},
		"EmptyTracking":       {tracking, `""`, false, codeNoTracking, true},
		"TrackingWithNUL":     {tracking, `"9\u0000"`, false, carrierhttp.CodeMalformed, false},
		"NoSelectedRate":      {`"selected_rate": {`, `"selected_rate": null, "x": {`, false, carrierhttp.CodeMalformed, false},
		"OneCentTooMuch":      {`"5.93"`, `"5.94"`, true, carrier.CodeOverPrice, true},
		"PriceWithFiveZeros":  {`"5.93"`, `"5.93000"`, true, "", true},
		"PriceInWholeDollars": {`"5.93"`, `"5"`, true, "", true},
		"PriceBelowACent":     {`"5.93"`, `"5.925"`, true, carrierhttp.CodeMalformed, false},
		"PriceIsANumber":      {`"5.93"`, `5.93`, true, carrierhttp.CodeMalformed, false},
		"PriceIsNegative":     {`"5.93"`, `"-5.93"`, true, carrierhttp.CodeMalformed, false},
		"NoPrice":             {`"5.93"`, `null`, true, carrierhttp.CodeMalformed, false},
		"OtherCurrency":       {`"USD"`, `"EUR"`, true, codeWrongCurrency, true},
		"CurrencyInLowerCase": {`"USD"`, `"usd"`, true, carrierhttp.CodeMalformed, false},
		"OtherService":        {`"GroundAdvantage"`, `"Express"`, true, codeWrongService, true},
		"OtherCarrier":        {`"USPS"`, `"UPS"`, true, codeWrongService, true},
		"GivenBack":           {`"refund_status": null`, `"refund_status": "submitted"`, false, codeRefunded, true},
		"RefundWasRejected":   {`"refund_status": null`, `"refund_status": "rejected"`, false, "", true},
		"DuplicateName":       {`"object"`, `"id": "shp_2", "object"`, false, carrierhttp.CodeMalformed, false},
		"InvalidUTF8":         {`REF1`, "REF\xff", false, carrierhttp.CodeMalformed, false},
		"NoWeight":            {`"weight": 51.2`, `"weight": null`, false, "", true},
		"LabelWithoutAFile":   {`"label_url": "https://files.example/1.png"`, `"label_url": null`, false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, with := tt.old, tt.with
			if tt.inRate {
				old, with = selected(tt.old, tt.with)
			}
			r := adapter().judge(goodPurchase(), jsonAnswer(200, strings.Replace(sold, old, with, 1)))
			require.Equal(t, tt.want, r.Code)
			require.Equal(t, tt.evidence, r.Label != nil)
			want := carrier.Unknown
			if tt.want == "" {
				want = carrier.Bought
			}
			require.Equal(t, want, r.Outcome)
		})
	}
}

func TestLabelIsInOurUnits(t *testing.T) {
	t.Parallel()
	r := adapter().judge(goodPurchase(), jsonAnswer(200, sold))
	require.Equal(t, &carrier.Label{
		ID: "shp_1", TrackingNo: "9400100110368070372185", Reference: "REF1", Service: "GroundAdvantage",
		WeightG: 1451, WeightStepG: 3, Cost: carrier.Money{Cents: 593, Currency: "USD"},
	}, r.Label)
}

func TestAnyPriceWithoutALimit(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.MaxCostCents = nil
	require.Equal(t, carrier.Bought, adapter().judge(p, jsonAnswer(200, sold)).Outcome)
}
