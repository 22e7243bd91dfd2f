package easypost

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

func errorBody(code string) string {
	return `{"error": {"code": "` + code + `", "message": "No.", "errors": [{"field": "f", "message": "m"}, "text"]}}`
}

func TestJudgeRefusals(t *testing.T) {
	t.Parallel()
	half := jsonAnswer(422, errorBody(codePostageFailure))
	half.Whole = false
	page := jsonAnswer(422, errorBody(codePostageFailure))
	page.Header = http.Header{"Content-Type": {"text/html"}}
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.Outcome
		code   string
		renew  bool
	}{
		"PostageFailure":      {jsonAnswer(422, errorBody(codePostageFailure)), carrier.NotBought, codePostageFailure, false},
		"BadAddress":          {jsonAnswer(422, errorBody("ADDRESS.VERIFY.FAILURE")), carrier.Rejected, "ADDRESS.VERIFY.FAILURE", false},
		"Parameter":           {jsonAnswer(422, errorBody("PARAMETER.REQUIRED")), carrier.Rejected, "PARAMETER.REQUIRED", false},
		"Parameter400":        {jsonAnswer(400, errorBody("PARAMETER.REQUIRED")), carrier.Rejected, "PARAMETER.REQUIRED", false},
		"PostageExists":       {jsonAnswer(422, errorBody("SHIPMENT.POSTAGE.EXISTS")), carrier.Unknown, "SHIPMENT.POSTAGE.EXISTS", false},
		"PostageExists400":    {jsonAnswer(400, errorBody("SHIPMENT.POSTAGE.EXISTS")), carrier.Unknown, "SHIPMENT.POSTAGE.EXISTS", false},
		"InProgress":          {jsonAnswer(422, errorBody("SHIPMENT.PURCHASE.IN_PROGRESS")), carrier.Unknown, "SHIPMENT.PURCHASE.IN_PROGRESS", false},
		"TimedOut":            {jsonAnswer(422, errorBody("SHIPMENT.POSTAGE.TIMED_OUT")), carrier.Unknown, "SHIPMENT.POSTAGE.TIMED_OUT", false},
		"NoResponse":          {jsonAnswer(422, errorBody("SHIPMENT.POSTAGE.NO_RESPONSE")), carrier.Unknown, "SHIPMENT.POSTAGE.NO_RESPONSE", false},
		"PurchaseFailure":     {jsonAnswer(422, errorBody("SHIPMENT.PURCHASE.FAILURE")), carrier.Unknown, "SHIPMENT.PURCHASE.FAILURE", false},
		"NewCode":             {jsonAnswer(422, errorBody("SHIPMENT.NEW")), carrier.Unknown, "SHIPMENT.NEW", false},
		"RateGone":            {jsonAnswer(422, errorBody("SHIPMENT.RATES.UNAVAILABLE")), carrier.NotBought, "SHIPMENT.RATES.UNAVAILABLE", true},
		"RateExpired":         {jsonAnswer(422, errorBody("SHIPMENT.RATE.EXPIRED")), carrier.NotBought, "SHIPMENT.RATE.EXPIRED", true},
		"ShipmentGone":        {jsonAnswer(404, errorBody("NOT_FOUND")), carrier.NotBought, "NOT_FOUND", true},
		"NotFoundPage":        {jsonAnswer(404, `{}`), carrier.Unknown, "http_404", false},
		"401":                 {jsonAnswer(401, ``), carrier.NotBought, "http_401", false},
		"403Page":             {jsonAnswer(403, `<html>`), carrier.Unknown, "http_403", false},
		"403":                 {jsonAnswer(403, errorBody("APIKEY.INACTIVE")), carrier.NotBought, "APIKEY.INACTIVE", false},
		"402":                 {jsonAnswer(402, errorBody("PAYMENT_REQUIRED")), carrier.NotBought, "PAYMENT_REQUIRED", false},
		"402Page":             {jsonAnswer(402, ``), carrier.Unknown, "http_402", false},
		"429":                 {jsonAnswer(429, errorBody("RATE_LIMITED")), carrier.NotBought, "RATE_LIMITED", false},
		"408":                 {jsonAnswer(408, errorBody("TIMEOUT")), carrier.Unknown, "TIMEOUT", false},
		"500":                 {jsonAnswer(500, errorBody(codePostageFailure)), carrier.Unknown, codePostageFailure, false},
		"503":                 {jsonAnswer(503, ``), carrier.Unknown, "http_503", false},
		"302":                 {jsonAnswer(302, ``), carrier.Unknown, "http_302", false},
		"202":                 {jsonAnswer(202, sold), carrier.Unknown, "http_202", false},
		"200WithAnError":      {jsonAnswer(200, errorBody(codePostageFailure)), carrier.Unknown, carrierhttp.CodeMalformed, false},
		"200NotSold":          {jsonAnswer(200, made), carrier.Unknown, codeNotSold, false},
		"HalfSent":            {half, carrier.Unknown, "http_422", false},
		"OtherType":           {page, carrier.Unknown, "http_422", false},
		"MessageIsAList":      {jsonAnswer(422, `{"error": {"code": "SHIPMENT.POSTAGE.FAILURE", "message": ["a"]}}`), carrier.NotBought, codePostageFailure, false},
		"NULInCodeIsHarmless": {jsonAnswer(422, `{"error": {"code": "a\u0000b"}}`), carrier.Unknown, "a b", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := adapter().judge(goodPurchase(), tt.answer)
			require.Equal(t, tt.want, r.Outcome)
			require.Equal(t, tt.code, r.Code)
			require.Equal(t, tt.renew, r.Renew)
			require.Nil(t, r.Label)
		})
	}
}

// TestRefusalOfAnOrderSaysNothingOfTheCarrier: what others order must not wait for it.
func TestRefusalOfAnOrderSaysNothingOfTheCarrier(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{
		codePostageFailure: 422, codeNotFound: 404, "SHIPMENT.RATE.EXPIRED": 422, "SHIPMENT.RATES.UNAVAILABLE": 422,
	} {
		r := adapter().judge(goodPurchase(), jsonAnswer(status, errorBody(code)))
		require.Equal(t, carrier.NotBought, r.Outcome, code)
		require.True(t, r.AboutOrder, code)
	}
	for status, code := range map[int]string{
		401: "APIKEY.INACTIVE", 402: "PAYMENT_REQUIRED", 429: "RATE_LIMITED", 500: codePostageFailure, 422: "PARAMETER.INVALID",
	} {
		require.False(t, adapter().judge(goodPurchase(), jsonAnswer(status, errorBody(code))).AboutOrder, code)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	t.Parallel()
	a := jsonAnswer(429, errorBody("RATE_LIMITED"))
	a.Header.Set("Retry-After", "7")
	require.Equal(t, 7*time.Second, adapter().judge(goodPurchase(), a).RetryAfter)
}

func TestMessageHoldsNoPersonalData(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo = carrier.Address{Name: "Zoë Müller", Street1: "12 Fable St. (rear)"}
	a := jsonAnswer(422, `{"error": {"code": "SHIPMENT.POSTAGE.FAILURE", "message": "ZOË MÜLLER, 12 FABLE ST. (REAR): no."}}`)
	require.Equal(t, "(redacted), (redacted): no.", adapter().judge(p, a).Message)
	p.Shipment.MaxCostCents = nil
	made := adapter().judgePrepared(p, jsonAnswer(201, `{"id": "shp_1", "reference": "REF1", "rates": [],
		"messages": [{"carrier": "USPS", "message": "12 Fable St. (rear) does not exist"}]}`))
	require.Equal(t, "(redacted) does not exist", made.Refusal.Message)
}

func TestJudgeVoid(t *testing.T) {
	t.Parallel()
	body := func(status string) string { return `{"id": "shp_1", "refund_status": ` + status + `}` }
	half := jsonAnswer(200, body(`"submitted"`))
	half.Whole = false
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.VoidState
		code   string
	}{
		"Submitted":     {jsonAnswer(200, body(`"submitted"`)), carrier.Voided, ""},
		"Refunded":      {jsonAnswer(200, body(`"refunded"`)), carrier.Voided, ""},
		"Rejected":      {jsonAnswer(200, body(`"rejected"`)), carrier.VoidRefused, "rejected"},
		"NotApplicable": {jsonAnswer(200, body(`"not_applicable"`)), carrier.VoidRefused, "not_applicable"},
		"NoState":       {jsonAnswer(200, body(`null`)), carrier.VoidUnknown, carrierhttp.CodeMalformed},
		"OtherWord":     {jsonAnswer(200, body(`"ok"`)), carrier.VoidUnknown, carrierhttp.CodeMalformed},
		"OtherShipment": {jsonAnswer(200, `{"id": "shp_2", "refund_status": "submitted"}`), carrier.VoidUnknown, carrierhttp.CodeMalformed},
		"NoSuchLabel":   {jsonAnswer(404, errorBody("NOT_FOUND")), carrier.VoidRefused, "NOT_FOUND"},
		"NoSuchPage":    {jsonAnswer(404, `{}`), carrier.VoidUnknown, "http_404"},
		"Unavailable":   {jsonAnswer(422, errorBody("SHIPMENT.REFUND.UNAVAILABLE")), carrier.VoidRefused, "SHIPMENT.REFUND.UNAVAILABLE"},
		"Unauthorized":  {jsonAnswer(401, errorBody("APIKEY.INACTIVE")), carrier.VoidUnknown, "APIKEY.INACTIVE"},
		"OtherStatus":   {jsonAnswer(500, body(`"submitted"`)), carrier.VoidUnknown, "http_500"},
		"NotJSON":       {jsonAnswer(200, `submitted`), carrier.VoidUnknown, carrierhttp.CodeMalformed},
		"HalfSent":      {half, carrier.VoidUnknown, carrierhttp.CodeMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := judgeVoid(tt.answer, "shp_1")
			require.Equal(t, tt.want, v.State)
			require.Equal(t, tt.code, v.Code)
		})
	}
}
