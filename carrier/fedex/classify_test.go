package fedex

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

func TestJudgeRefusals(t *testing.T) {
	t.Parallel()
	half := answer(400, refused)
	half.Whole = false
	page := answer(400, refused)
	page.Header.Set("Content-Type", "text/html")
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.Outcome
		code   string
	}{
		"400Documented":    {answer(400, refused), carrier.Rejected, "ACCOUNTNUMBER.REGISTRATION.REQUIRED"},
		"400WithoutBody":   {answer(400, ``), carrier.Unknown, "http_400"},
		"400NoErrors":      {answer(400, `{"errors": []}`), carrier.Unknown, "http_400"},
		"400NoCode":        {answer(400, `{"errors": [{"message": "No."}]}`), carrier.Unknown, "http_400"},
		"400HalfSent":      {half, carrier.Unknown, "http_400"},
		"400Page":          {page, carrier.Unknown, "http_400"},
		"400OutOfTime":     {answer(400, failure("RATING.TIMEOUT.ERROR")), carrier.Unknown, "RATING.TIMEOUT.ERROR"},
		"400Internal":      {answer(400, failure("INTERNAL.PROCESSING.ERROR")), carrier.Unknown, "INTERNAL.PROCESSING.ERROR"},
		"400OfItsOwn":      {answer(400, failure("SYSTEM.UNEXPECTED.ERROR")), carrier.Unknown, "SYSTEM.UNEXPECTED.ERROR"},
		"400OfItsOwnLast":  {answer(400, `{"errors": [{"code": "A.B"}, {"code": "SERVICE.UNAVAILABLE.ERROR"}]}`), carrier.Unknown, "A.B"},
		"401":              {answer(401, failure("NOT.AUTHORIZED.ERROR")), carrier.NotBought, "NOT.AUTHORIZED.ERROR"},
		"401OtherBody":     {answer(401, `{"error": "invalid_request", "error_description": "CXS JWT is expired"}`), carrier.NotBought, "http_401"},
		"403":              {answer(403, failure("FORBIDDEN.ERROR")), carrier.NotBought, "FORBIDDEN.ERROR"},
		"403Page":          {answer(403, `<html>`), carrier.Unknown, "http_403"},
		"404":              {answer(404, failure("NOT.FOUND.ERROR")), carrier.Unknown, "NOT.FOUND.ERROR"},
		"429":              {answer(429, ``), carrier.NotBought, "http_429"},
		"500":              {answer(500, failure("INTERNAL.SERVER.ERROR")), carrier.Unknown, "INTERNAL.SERVER.ERROR"},
		"503":              {answer(503, failure("SERVICE.UNAVAILABLE.ERROR")), carrier.Unknown, "SERVICE.UNAVAILABLE.ERROR"},
		"503AnotherCode":   {answer(503, failure("A.B")), carrier.Unknown, "A.B"},
		"201NotDocumented": {answer(201, goodLabel), carrier.Unknown, "http_201"},
		"302":              {answer(302, ``), carrier.Unknown, "http_302"},
		"200ErrorsInside":  {answer(200, refused), carrier.Unknown, "ACCOUNTNUMBER.REGISTRATION.REQUIRED"},
		"200Job":           {answer(200, `{"output": {"jobId": "89sxxxxx233ae24ff31xxxxx"}}`), carrier.Unknown, codeAsynchronous},
		"200Nothing":       {answer(200, `{"output": {}}`), carrier.Unknown, carrierhttp.CodeMalformed},
		"NULInCode":        {answer(400, `{"errors": [{"code": "a\u0000b"}]}`), carrier.Rejected, "a b"},
		"DuplicateNames":   {answer(400, `{"errors": [{"code": "a", "code": "b"}]}`), carrier.Unknown, "http_400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(goodPurchase(), "USD", tt.answer)
			require.Equal(t, tt.want, r.Outcome)
			require.Equal(t, tt.code, r.Code)
			require.Nil(t, r.Label)
			require.True(t, r.Answered)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	a := answer(429, failure("TOO.MANY.REQUESTS"))
	require.Equal(t, 10*time.Second, judge(goodPurchase(), "USD", a).RetryAfter)
	a.Header.Set("Retry-After", "3600")
	require.Equal(t, time.Hour, judge(goodPurchase(), "USD", a).RetryAfter)
}

func TestMessageHoldsNoPersonalData(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo = carrier.Address{Name: "Ada Jones", Street1: "12 Elm Street"}
	body := `{"errors": [{"code": "RECIPIENT.INVALID", "message": "ADA JONES is not at 12 ELM STREET"}]}`
	for _, status := range []int{200, 400, 500} {
		require.Equal(t, "(redacted) is not at (redacted)", judge(p, "USD", answer(status, body)).Message)
	}
}

func TestJudgeVoid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		want   carrier.VoidState
	}{
		"Cancelled":     {200, `{"output": {"cancelledShipment": true, "cancelledHistory": true, "successMessage": "Success"}}`, carrier.Voided},
		"Before":        {200, `{"output": {"cancelledShipment": false, "cancelledHistory": true}}`, carrier.Voided},
		"NotCancelled":  {200, `{"output": {"cancelledShipment": false, "cancelledHistory": false}}`, carrier.VoidRefused},
		"ErrorsInside":  {200, `{"errors": [{"code": "A.B"}], "output": {"cancelledShipment": true}}`, carrier.VoidUnknown},
		"NoOutput":      {200, `{}`, carrier.VoidUnknown},
		"BooleanAsText": {200, `{"output": {"cancelledShipment": "true"}}`, carrier.VoidUnknown},
		"NotJSON":       {200, `true`, carrier.VoidUnknown},
		"Refused":       {400, failure("SHIPMENT.USER.UNAUTHORIZED"), carrier.VoidRefused},
		"400OfItsOwn":   {400, failure("SYSTEM.UNEXPECTED.ERROR"), carrier.VoidUnknown},
		"400Nothing":    {400, `{}`, carrier.VoidUnknown},
		"OfAPerson":     {400, `{"errors": [{"code": "A.B", "message": "Ada Jones"}]}`, carrier.VoidRefused},
		"500OfAPerson":  {500, `{"errors": [{"code": "A.B", "message": "Ada Jones"}]}`, carrier.VoidUnknown},
		"SuccessOfOne":  {200, `{"output": {"cancelledShipment": true, "successMessage": "Ada Jones"}}`, carrier.Voided},
		"NotOfAPerson":  {200, `{"output": {"cancelledShipment": false, "successMessage": "Ada Jones"}}`, carrier.VoidRefused},
		"401":           {401, failure("NOT.AUTHORIZED.ERROR"), carrier.VoidUnknown},
		"404":           {404, failure("NOT.FOUND.ERROR"), carrier.VoidRefused},
		"404OtherCode":  {404, failure("ROUTE.NOT.FOUND"), carrier.VoidUnknown},
		"404Page":       {404, `<html>`, carrier.VoidUnknown},
		"500SaysSo":     {500, `{"output": {"cancelledShipment": true}}`, carrier.VoidUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judgeVoid(answer(tt.status, tt.body))
			require.Equal(t, tt.want, got.State)
			require.NotContains(t, got.Message, "Ada")
		})
	}
}
