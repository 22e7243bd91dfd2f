package easyship

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

func TestJudgeRefusals(t *testing.T) {
	t.Parallel()
	half := answer(422, failure("invalid_content"))
	half.Whole = false
	page := answer(422, failure("invalid_content"))
	page.Header.Set("Content-Type", "text/html")
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.Outcome
		code   string
	}{
		"400":              {answer(400, failure("invalid_request")), carrier.Rejected, "invalid_request"},
		"400APIError":      {answer(400, failure("api_error")), carrier.Unknown, "api_error"},
		"400AnotherCode":   {answer(400, failure("insufficient_balance")), carrier.Unknown, "insufficient_balance"},
		"400WithoutBody":   {answer(400, ``), carrier.Unknown, "http_400"},
		"422":              {answer(422, failure("invalid_content")), carrier.Rejected, "invalid_content"},
		"422HalfSent":      {half, carrier.Unknown, "http_422"},
		"422Page":          {page, carrier.Unknown, "http_422"},
		"401":              {answer(401, failure("invalid_token")), carrier.NotBought, "invalid_token"},
		"401WithoutBody":   {answer(401, ``), carrier.NotBought, "http_401"},
		"403":              {answer(403, failure("forbidden")), carrier.NotBought, "forbidden"},
		"403Page":          {answer(403, `<html>`), carrier.Unknown, "http_403"},
		"404":              {answer(404, failure("resource_not_found")), carrier.Unknown, "resource_not_found"},
		"409":              {answer(409, failure("conflict")), carrier.Unknown, "conflict"},
		"429":              {answer(429, failure("too_many_requests")), carrier.NotBought, "too_many_requests"},
		"500":              {answer(500, failure("internal_server_error")), carrier.Unknown, "internal_server_error"},
		"503":              {answer(503, ``), carrier.Unknown, "http_503"},
		"302":              {answer(302, ``), carrier.Unknown, "http_302"},
		"204":              {answer(204, ``), carrier.Unknown, "http_204"},
		"200ErrorInside":   {answer(200, failure("invalid_content")), carrier.Unknown, carrierhttp.CodeMalformed},
		"200Nothing":       {answer(200, `{}`), carrier.Unknown, carrierhttp.CodeMalformed},
		"NULInCode":        {answer(500, failure(`a\u0000b`)), carrier.Unknown, "a b"},
		"DuplicateNames":   {answer(422, `{"error": {"code": "invalid_content", "code": "invalid_content"}}`), carrier.Unknown, "http_422"},
		"DetailsAreOdd":    {answer(422, `{"error": {"code": "invalid_content", "details": "x"}}`), carrier.Unknown, "http_422"},
		"OldMessageFormat": {answer(400, `{"message": "Shipments not found or labels already requested: "}`), carrier.Unknown, "http_400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := adapter().judge(goodPurchase(), tt.answer)
			require.Equal(t, tt.want, r.Outcome)
			require.Equal(t, tt.code, r.Code)
			require.Nil(t, r.Label)
			require.True(t, r.Answered)
		})
	}
}

// TestRateLimitWithoutRetryAfter: the second at which the limit ends is there instead.
func TestRateLimitWithoutRetryAfter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"Reset":      {http.Header{"X-Ratelimit-Reset": {"1764356190"}, "Date": {"Fri, 28 Nov 2025 18:55:59 GMT"}}, 31 * time.Second},
		"Now":        {http.Header{"X-Ratelimit-Reset": {"1764356159"}, "Date": {"Fri, 28 Nov 2025 18:55:59 GMT"}}, time.Second},
		"FarAway":    {http.Header{"X-Ratelimit-Reset": {"1964356159"}, "Date": {"Fri, 28 Nov 2025 18:55:59 GMT"}}, time.Minute},
		"NotANumber": {http.Header{"X-Ratelimit-Reset": {"soon"}, "Date": {"Fri, 28 Nov 2025 18:55:59 GMT"}}, time.Minute},
		"NoDate":     {http.Header{"X-Ratelimit-Reset": {"1764356190"}}, time.Minute},
		"Nothing":    {http.Header{}, time.Minute},
		"RetryAfter": {http.Header{"Retry-After": {"3"}, "X-Ratelimit-Reset": {"1764356190"}, "Date": {"Fri, 28 Nov 2025 18:55:59 GMT"}}, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := answer(429, failure("too_many_requests"))
			for key, values := range tt.header {
				a.Header[key] = values
			}
			require.Equal(t, tt.want, adapter().judge(goodPurchase(), a).RetryAfter)
		})
	}
}

func TestMessageHoldsNoPersonalData(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo = carrier.Address{Name: "Ada Jones", Street1: "12 Elm Street"}
	refused := `{"error": {"code": "invalid_content", "message": "ADA JONES?", "details": ["No 12 elm street"]}}`
	require.Equal(t, "(redacted)? No (redacted)", adapter().judge(p, answer(422, refused)).Message)
	failed := `{"shipment": {"easyship_shipment_id": "ES1", "label_state": "failed",
 "last_failure_http_response_messages": [{"message": "Nobody at 12 Elm Street"}]}}`
	require.Equal(t, "the label is failed: Nobody at (redacted)", adapter().judge(p, answer(201, failed)).Message)
}

func TestJudgeVoid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		want   carrier.VoidState
	}{
		"Cancelled":    {200, `{"meta": {"request_id": "r"}, "success": {"message": "Shipment successfully cancelled"}}`, carrier.Voided},
		"SuccessIsNot": {200, `{"success": null}`, carrier.VoidUnknown},
		"ErrorInside":  {200, `{"success": {}, "error": {"code": "api_error"}}`, carrier.VoidUnknown},
		"Nothing":      {200, `{}`, carrier.VoidUnknown},
		"NotJSON":      {200, `ok`, carrier.VoidUnknown},
		"Refused":      {422, failure("invalid_content"), carrier.VoidRefused},
		"NotFound":     {404, failure("resource_not_found"), carrier.VoidRefused},
		"404Page":      {404, `<html>`, carrier.VoidUnknown},
		"400APIError":  {400, failure("api_error"), carrier.VoidUnknown},
		"OfAPerson":    {422, `{"error": {"code": "invalid_content", "message": "Ada Jones", "details": ["Ada Jones"]}}`, carrier.VoidRefused},
		"500OfOne":     {500, `{"error": {"code": "internal_server_error", "message": "Ada Jones"}}`, carrier.VoidUnknown},
		"401":          {401, failure("invalid_token"), carrier.VoidUnknown},
		"429":          {429, failure("too_many_requests"), carrier.VoidUnknown},
		"500":          {500, `{"success": {}}`, carrier.VoidUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judgeVoid(answer(tt.status, tt.body))
			require.Equal(t, tt.want, got.State)
			require.NotContains(t, got.Message, "Ada")
		})
	}
}
