package shipengine

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// sold is a full valid answer to goodPurchase, in the documented shape.
const sold = `{"label_id": "se-9", "status": "completed", "shipment_id": "se-1", "external_shipment_id": "REF1",
 "tracking_number": "9405511899223197428490", "shipment_cost": {"currency": "usd", "amount": 7.33},
 "insurance_cost": {"currency": "usd", "amount": 0.0}, "label_format": "pdf", "voided": false, "voided_at": null,
 "label_download": {"href": "https://x.example/1.pdf", "pdf": "https://x.example/1.pdf", "png": null, "zpl": null},
 "carrier_id": "se-5", "carrier_code": "stamps_com", "service_code": "usps_ground_advantage", "charge_event": "carrier_default",
 "packages": [{"weight": {"value": 51.2, "unit": "ounce"}, "dimensions": {"unit": "inch", "length": 12, "width": 8, "height": 6}}]}`

func goodPurchase() carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: "carrier:fulfilment:k",
		RemoteID:   "se-1",
		Reference:  "REF1",
		Shipment: carrier.Shipment{
			Service: "usps_ground_advantage", WeightG: 1450, Format: carrier.PDF, MaxCostCents: new(int64(733)),
			ShipTo: carrier.Address{Name: "Zoë Müller", Street1: "12 Fable St. (rear)", PostalCode: "62701"},
		},
	}
}

func good() Config {
	return Config{
		Name: "shipengine", BaseURL: "https://carrier.example/v1", Account: "A", Currency: "USD", Secret: "s",
		CarrierID: "se-5", Capabilities: carrier.Capabilities{Lookup: &carrier.Lookup{}, Void: true},
	}
}

func adapter() *Adapter { return &Adapter{cfg: good()} }

func jsonAnswer(status int, body string) carrierhttp.Answer {
	return carrierhttp.Answer{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   []byte(body),
		Whole:  true,
	}
}

func TestJudgeSuccess(t *testing.T) {
	t.Parallel()
	const tracking = `"9405511899223197428490"`
	const insurance = `"insurance_cost": {"currency": "usd", "amount": 0.0}`
	for name, tt := range map[string]struct {
		old, with string // what is replaced in sold
		want      string // code; empty for bought
		evidence  bool
	}{
		"Good":                  {"", "", "", true},
		"OtherShipment":         {`"se-1"`, `"se-2"`, codeWrongShipment, true},
		"LabelIDIsAPath":        {`"se-9"`, `"../x"`, carrierhttp.CodeMalformed, false},
		"OtherReference":        {`"REF1"`, `"REF2"`, codeWrongReference, true},
		"EmptyReference":        {`"REF1"`, `""`, codeWrongReference, true},
		"ReferenceNotShown":     {`"external_shipment_id"`, `"x"`, "", true},
		"NoTracking":            {tracking, `null`, codeNoTracking, true},
		"TrackingWithSpace":     {tracking, `"94 05"`, carrierhttp.CodeMalformed, false},
		"Processing":            {`"completed"`, `"processing"`, codeProcessing, false},
		"ErrorWithATracking":    {`"completed"`, `"error"`, codeLabelError, true},
		"Voided":                {`"completed"`, `"voided"`, codeVoided, true},
		"VoidedByItsMember":     {`"voided": false`, `"voided": true`, codeVoided, true},
		"NewStatus":             {`"completed"`, `"queued"`, codeLabelError, true},
		"NoStatus":              {`"status"`, `"x"`, codeLabelError, true},
		"ErrorsBesideALabel":    {`"voided_at"`, `"errors": [{"error_code": "unspecified"}], "voided_at"`, carrierhttp.CodeErrors, true},
		"NoErrorsBesideALabel":  {`"voided_at"`, `"errors": [], "voided_at"`, "", true},
		"NullErrors":            {`"voided_at"`, `"errors": null, "voided_at"`, "", true},
		"OneCentTooMuch":        {`7.33`, `7.34`, carrier.CodeOverPrice, true},
		"PriceWithZeros":        {`7.33`, `7.33000`, "", true},
		"PriceInWholeDollars":   {`7.33`, `7`, "", true},
		"PriceOfAFloat":         {`7.33`, `7.3300000000000001`, carrierhttp.CodeMalformed, false},
		"PriceWithExponent":     {`7.33`, `733e-2`, carrierhttp.CodeMalformed, false},
		"PriceIsText":           {`7.33`, `"7.33"`, carrierhttp.CodeMalformed, false},
		"PriceIsNegative":       {`7.33`, `-7.33`, carrierhttp.CodeMalformed, false},
		"NoPrice":               {`7.33`, `null`, carrierhttp.CodeMalformed, false},
		"OtherCurrency":         {`"usd", "amount": 7.33`, `"cad", "amount": 7.33`, codeWrongCurrency, true},
		"CurrencyInCapitals":    {`"usd", "amount": 7.33`, `"USD", "amount": 7.33`, "", true},
		"InsuranceIsAdded":      {insurance, `"insurance_cost": {"currency": "usd", "amount": 0.01}`, carrier.CodeOverPrice, true},
		"NoInsurance":           {insurance, `"insurance_cost": null`, "", true},
		"InsuranceInOtherMoney": {insurance, `"insurance_cost": {"currency": "eur", "amount": 0.01}`, carrierhttp.CodeMalformed, false},
		"InsuranceUnreadable":   {insurance, `"insurance_cost": {"currency": "usd"}`, carrierhttp.CodeMalformed, false},
		"OtherService":          {`"usps_ground_advantage"`, `"usps_priority_mail"`, codeWrongService, true},
		"OtherCarrier":          {`"se-5"`, `"se-6"`, codeWrongService, true},
		"DuplicateName":         {`"status"`, `"label_id": "se-8", "status"`, carrierhttp.CodeMalformed, false},
		"InvalidUTF8":           {`REF1`, "REF\xff", carrierhttp.CodeMalformed, false},
		"NoDownload":            {`"label_download": {`, `"label_download": null, "x": {`, "", true},
		"NoPackages":            {`"packages"`, `"x"`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := adapter().judge(goodPurchase(), jsonAnswer(200, strings.Replace(sold, tt.old, tt.with, 1)))
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

// TestLabelThatWasNotMade: a 200 that says so is no label, and no charge.
func TestLabelThatWasNotMade(t *testing.T) {
	t.Parallel()
	r := adapter().judge(goodPurchase(), jsonAnswer(200, `{"label_id": "se-9", "status": "error", "shipment_id": "se-1", "tracking_number": null}`))
	require.Equal(t, carrier.NotBought, r.Outcome)
	require.Equal(t, codeLabelError, r.Code)
	require.True(t, r.AboutOrder)
	for _, other := range []string{
		`{"label_id": "se-9", "status": "error", "shipment_id": "se-2"}`,
		`{"status": "error", "shipment_id": "se-1"}`,
		`{"status": "error"}`,
	} {
		require.Equal(t, carrier.Unknown, adapter().judge(goodPurchase(), jsonAnswer(200, other)).Outcome, other)
	}
}

func TestLabelIsInOurUnits(t *testing.T) {
	t.Parallel()
	r := adapter().judge(goodPurchase(), jsonAnswer(200, sold))
	require.Equal(t, &carrier.Label{
		ID: "se-9", TrackingNo: "9405511899223197428490", Reference: "REF1", Service: "usps_ground_advantage",
		WeightG: 1451, WeightStepG: 3, Cost: carrier.Money{Cents: 733, Currency: "USD"},
	}, r.Label)
	inGrams := strings.Replace(sold, `"value": 51.2, "unit": "ounce"`, `"value": 1450, "unit": "gram"`, 1)
	require.Zero(t, adapter().judge(goodPurchase(), jsonAnswer(200, inGrams)).Label.WeightG, "not our unit: not compared")
}

func TestAddress(t *testing.T) {
	t.Parallel()
	w := wireLabel{LabelFormat: "pdf", LabelDownload: &labelDownload{Href: "href", PNG: "png"}}
	require.Equal(t, "href", w.address(carrier.PDF))
	require.Equal(t, "png", w.address(carrier.PNG))
	require.Empty(t, w.address(carrier.ZPL))
	require.Empty(t, wireLabel{}.address(carrier.PDF))
}
