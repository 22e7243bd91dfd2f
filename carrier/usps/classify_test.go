package usps

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
		"400Documented":     {answer(400, refused), carrier.Rejected, "160001"},
		"400WithoutBody":    {answer(400, ``), carrier.Unknown, "http_400"},
		"400OtherBody":      {answer(400, `{"message": "no"}`), carrier.Unknown, "http_400"},
		"400HalfSent":       {half, carrier.Unknown, "http_400"},
		"400Page":           {page, carrier.Unknown, "http_400"},
		"400NoInnerCode":    {answer(400, `{"error": {"code": "400", "message": "No."}}`), carrier.Rejected, "http_400"},
		"401":               {answer(401, ``), carrier.NotBought, "http_401"},
		"401Documented":     {answer(401, `{"error": {"code": "401", "errors": [{"title": "invalid_token"}]}}`), carrier.NotBought, "http_401"},
		"403":               {answer(403, `{"error": {"code": "403", "message": "Access is denied."}}`), carrier.NotBought, "http_403"},
		"403Page":           {answer(403, `<html>`), carrier.Unknown, "http_403"},
		"429":               {answer(429, ``), carrier.NotBought, "http_429"},
		"503":               {answer(503, `{"error": {"code": "503", "message": "Unavailable"}}`), carrier.Unknown, "http_503"},
		"500":               {answer(500, refused), carrier.Unknown, "160001"},
		"404":               {answer(404, refused), carrier.Unknown, "160001"},
		"409":               {answer(409, refused), carrier.Unknown, "160001"},
		"201NotDocumented":  {answer(201, goodLabel), carrier.Unknown, "http_201"},
		"302":               {answer(302, ``), carrier.Unknown, "http_302"},
		"200ErrorInside":    {answer(200, refused), carrier.Unknown, carrierhttp.CodeMalformed},
		"NULInCode":         {answer(400, `{"error": {"code": "400", "errors": [{"code": "a\u0000b"}]}}`), carrier.Rejected, "a b"},
		"DuplicateNames":    {answer(400, `{"error": {"code": "400", "code": "400"}}`), carrier.Unknown, "http_400"},
		"ErrorsIsAnotherOf": {answer(400, `{"error": {"code": "400", "errors": "x"}}`), carrier.Unknown, "http_400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(goodPurchase(), tt.answer)
			require.Equal(t, tt.want, r.Outcome)
			require.Equal(t, tt.code, r.Code)
			require.Nil(t, r.Label)
			require.True(t, r.Answered)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	a := answer(429, ``)
	a.Header.Set("Retry-After", "30")
	require.Equal(t, 30*time.Second, judge(goodPurchase(), a).RetryAfter)
}

func TestMessageHoldsNoPersonalData(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo = carrier.Address{Name: "Ada Jones", Street1: "12 Elm Street"}
	a := answer(400, `{"error": {"code": "400", "message": "Bad Request", "errors": [{"detail": "ADA JONES is not at 12 ELM STREET"}]}}`)
	require.Equal(t, "Bad Request: (redacted) is not at (redacted)", judge(p, a).Message)
}

func TestJudgeVoid(t *testing.T) {
	t.Parallel()
	const badRequest = `{"error": {"code": "400", "message": "Bad Request", "errors": [{"title": "Bad Request", "detail": "%"}]}}`
	for name, tt := range map[string]struct {
		status int
		body   string
		want   carrier.VoidState
	}{
		"Cancelled":      {200, `{"trackingNumber": "92", "status": "CANCELED"}`, carrier.Voided},
		"Disputed":       {200, `{"trackingNumber": "92", "status": "DISPUTED", "disputeId": "103789"}`, carrier.Voided},
		"AnotherLabel":   {200, `{"trackingNumber": "93", "status": "CANCELED"}`, carrier.VoidUnknown},
		"NoLabelNamed":   {200, `{"status": "CANCELED"}`, carrier.Voided},
		"OtherStatus":    {200, `{"status": "OK"}`, carrier.VoidUnknown},
		"ErrorInside":    {200, refused, carrier.VoidUnknown},
		"NotJSON":        {200, `CANCELED`, carrier.VoidUnknown},
		"Twice":          {400, `{"error": {"code": "400", "message": "Bad Request", "errors": [{"detail": "A refund request for this order has already been submitted today"}]}}`, carrier.Voided},
		"Cancelled2nd":   {400, `{"error": {"code": "400", "message": "Bad Request", "errors": [{"detail": "The label is already canceled."}]}}`, carrier.Voided},
		"UsedAlready":    {400, `{"error": {"code": "400", "message": "Bad Request", "errors": [{"detail": "The label has already been used"}]}}`, carrier.VoidRefused},
		"InAManifest":    {400, `{"error": {"code": "400", "message": "Bad Request", "errors": [{"detail": "The label has already been submitted in a manifest"}]}}`, carrier.VoidRefused},
		"DisputeOfWords": {200, `{"trackingNumber": "92", "status": "DISPUTED", "disputeId": "of Ada Jones"}`, carrier.Voided},
		"NotRefundable":  {400, `{"error": {"code": "400", "message": "Bad Request", "errors": [{"detail": "A refund request for this order cannot be submitted"}]}}`, carrier.VoidRefused},
		"NotFound":       {400, `{"error": {"code": "400", "message": "Bad Request", "errors": [{"detail": "Order not found"}]}}`, carrier.VoidRefused},
		"400Page":        {400, `<html>already </html>`, carrier.VoidUnknown},
		"OfAPerson":      {400, `{"error": {"code": "400", "message": "Ada Jones", "errors": [{"detail": "Ada Jones", "title": "Ada Jones"}]}}`, carrier.VoidRefused},
		"503OfAPerson":   {503, `{"error": {"code": "503", "message": "Ada Jones"}}`, carrier.VoidUnknown},
		"401":            {401, badRequest, carrier.VoidUnknown},
		"404":            {404, badRequest, carrier.VoidUnknown},
		"503SaysAlready": {503, `{"error": {"code": "503", "message": "it is already late"}}`, carrier.VoidUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judgeVoid(answer(tt.status, tt.body), "92")
			require.Equal(t, tt.want, got.State)
			require.NotContains(t, got.Message, "Ada")
		})
	}
}
