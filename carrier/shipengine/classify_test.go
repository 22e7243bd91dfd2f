package shipengine

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// errorBody is ShipEngine's error, with as many errors as there are codes.
func errorBody(codes ...string) string {
	var errs []string
	for _, code := range codes {
		errs = append(errs, `{"error_source": "carrier", "error_type": "business_rules", "error_code": "`+code+`", "message": "No."}`)
	}
	return `{"request_id": "aa3d8e8e-462b-4476-9618-72db7f7b7009", "errors": [` + strings.Join(errs, ",") + `]}`
}

func TestJudgeRefusals(t *testing.T) {
	t.Parallel()
	half := jsonAnswer(400, errorBody("invalid_address"))
	half.Whole = false
	page := jsonAnswer(400, errorBody("invalid_address"))
	page.Header = http.Header{"Content-Type": {"text/html"}}
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.Outcome
		code   string
		renew  bool
	}{
		"InvalidAddress":      {jsonAnswer(400, errorBody("invalid_address")), carrier.Rejected, "invalid_address", false},
		"FieldRequired":       {jsonAnswer(400, errorBody("field_value_required")), carrier.Rejected, "field_value_required", false},
		"NoRates":             {jsonAnswer(400, errorBody("no_rates_returned")), carrier.Rejected, "no_rates_returned", false},
		"TwoRefusals":         {jsonAnswer(400, errorBody("invalid_address", "invalid_field_value")), carrier.Rejected, "invalid_address", false},
		"InsufficientFunds":   {jsonAnswer(400, errorBody("insufficient_funds")), carrier.NotBought, "insufficient_funds", false},
		"TermsNotAccepted":    {jsonAnswer(400, errorBody("terms_not_accepted")), carrier.NotBought, "terms_not_accepted", false},
		"WeakestCounts":       {jsonAnswer(400, errorBody("invalid_address", "insufficient_funds")), carrier.NotBought, "invalid_address", false},
		"UnknownCounts":       {jsonAnswer(400, errorBody("invalid_address", "unspecified")), carrier.Unknown, "invalid_address", false},
		"Unspecified":         {jsonAnswer(400, errorBody("unspecified")), carrier.Unknown, "unspecified", false},
		"MeterFailure":        {jsonAnswer(400, errorBody("meter_failure")), carrier.Unknown, "meter_failure", false},
		"InvalidStatus":       {jsonAnswer(409, errorBody("invalid_status")), carrier.Unknown, "invalid_status", false},
		"IdentifierConflict":  {jsonAnswer(409, errorBody("identifier_conflict")), carrier.Unknown, "identifier_conflict", false},
		"ShipmentGone":        {jsonAnswer(404, errorBody("not_found")), carrier.NotBought, "not_found", true},
		"NotFoundPage":        {jsonAnswer(404, `{}`), carrier.Unknown, "http_404", false},
		"401":                 {jsonAnswer(401, ``), carrier.NotBought, "http_401", false},
		"403Page":             {jsonAnswer(403, `<html>`), carrier.Unknown, "http_403", false},
		"403":                 {jsonAnswer(403, errorBody("subscription_inactive")), carrier.NotBought, "subscription_inactive", false},
		"429":                 {jsonAnswer(429, errorBody("rate_limit_exceeded")), carrier.NotBought, "rate_limit_exceeded", false},
		"408":                 {jsonAnswer(408, errorBody("invalid_address")), carrier.Unknown, "invalid_address", false},
		"500":                 {jsonAnswer(500, errorBody("invalid_address")), carrier.Unknown, "invalid_address", false},
		"502":                 {jsonAnswer(502, ``), carrier.Unknown, "http_502", false},
		"302":                 {jsonAnswer(302, ``), carrier.Unknown, "http_302", false},
		"202":                 {jsonAnswer(202, sold), carrier.Unknown, "http_202", false},
		"200WithErrors":       {jsonAnswer(200, errorBody("invalid_address")), carrier.Unknown, carrierhttp.CodeMalformed, false},
		"400WithoutErrors":    {jsonAnswer(400, errorBody()), carrier.Unknown, "http_400", false},
		"HalfSent":            {half, carrier.Unknown, "http_400", false},
		"OtherType":           {page, carrier.Unknown, "http_400", false},
		"NULInCodeIsHarmless": {jsonAnswer(400, errorBody(`a\u0000b`)), carrier.Unknown, "a b", false},
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
	require.True(t, adapter().judge(goodPurchase(), jsonAnswer(404, errorBody("not_found"))).AboutOrder)
	for _, code := range []string{"insufficient_funds", "carrier_disconnected", "unspecified", "invalid_address"} {
		require.False(t, adapter().judge(goodPurchase(), jsonAnswer(400, errorBody(code))).AboutOrder, code)
	}
	ofType := func(kinds ...string) wireErrors {
		var errs wireErrors
		for _, kind := range kinds {
			errs = append(errs, wireError{Type: kind, Code: "new_code"})
		}
		return errs
	}
	for name, tt := range map[string]struct {
		status int
		errs   wireErrors
		want   bool
	}{
		"Validation":    {400, ofType("validation"), true},
		"BusinessRules": {409, ofType("business_rules", "validation"), true},
		"System":        {400, ofType("validation", "system"), false},
		"Account":       {400, ofType("account_status"), false},
		"NoErrors":      {400, nil, false},
		"ServerError":   {500, ofType("validation"), false},
		"TheAccount":    {400, wireErrors{{Type: "business_rules", Code: "insufficient_funds"}}, false},
		"Throttled":     {429, ofType("validation"), false},
	} {
		outcome, aboutOrder := classifyPrepared(tt.status, tt.errs)
		require.Equal(t, carrier.NotBought, outcome, name)
		require.Equal(t, tt.want, aboutOrder, name)
	}
}

func TestRetryAfterIsSeconds(t *testing.T) {
	t.Parallel()
	a := jsonAnswer(429, errorBody("rate_limit_exceeded"))
	a.Header.Set("Retry-After", "32")
	require.Equal(t, 32*time.Second, adapter().judge(goodPurchase(), a).RetryAfter)
}

func TestMessageHoldsNoPersonalData(t *testing.T) {
	t.Parallel()
	body := strings.Replace(errorBody("invalid_address"), "No.", "ZOË MÜLLER, 12 FABLE ST. (REAR): no.", 1)
	require.Equal(t, "(redacted), (redacted): no.", adapter().judge(goodPurchase(), jsonAnswer(400, body)).Message)
}

func TestJudgeVoid(t *testing.T) {
	t.Parallel()
	half := jsonAnswer(200, `{"approved": true}`)
	half.Whole = false
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.VoidState
		code   string
	}{
		"Approved":      {jsonAnswer(200, `{"approved": true, "message": "Done."}`), carrier.Voided, ""},
		"NotApproved":   {jsonAnswer(200, `{"approved": false, "message": "No."}`), carrier.VoidRefused, "not_approved"},
		"TooLate":       {jsonAnswer(200, `{"approved": false, "message": "", "reason_code": "label_not_found_within_void_period"}`), carrier.VoidRefused, "label_not_found_within_void_period"},
		"Used":          {jsonAnswer(200, `{"approved": false, "reason_code": "label_already_used"}`), carrier.VoidRefused, "label_already_used"},
		"AlreadyVoided": {jsonAnswer(200, `{"approved": false, "reason_code": "label_already_voided"}`), carrier.Voided, ""},
		"NoAnswer":      {jsonAnswer(200, `{"message": "Done."}`), carrier.VoidUnknown, carrierhttp.CodeMalformed},
		"ApprovedText":  {jsonAnswer(200, `{"approved": "true"}`), carrier.VoidUnknown, carrierhttp.CodeMalformed},
		"NoSuchLabel":   {jsonAnswer(404, errorBody("not_found")), carrier.VoidRefused, "not_found"},
		"NoSuchPage":    {jsonAnswer(404, `{}`), carrier.VoidUnknown, "http_404"},
		"BadRequest":    {jsonAnswer(400, errorBody("unspecified")), carrier.VoidUnknown, "unspecified"},
		"OtherStatus":   {jsonAnswer(500, `{"approved": true}`), carrier.VoidUnknown, "http_500"},
		"HalfSent":      {half, carrier.VoidUnknown, carrierhttp.CodeMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := judgeVoid(tt.answer)
			require.Equal(t, tt.want, v.State)
			require.Equal(t, tt.code, v.Code)
		})
	}
}
