package sim

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

func jsonAnswer(status int, body string) carrierhttp.Answer {
	return carrierhttp.Answer{
		Status: status,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   []byte(body),
		Whole:  true,
	}
}

func TestJudgeRefusals(t *testing.T) {
	t.Parallel()
	const documented = `{"code": "address_undeliverable", "message": "No delivery there."}`
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.Outcome
		code   string
	}{
		"400Documented":       {jsonAnswer(400, documented), carrier.Rejected, "address_undeliverable"},
		"422Documented":       {jsonAnswer(422, documented), carrier.Rejected, "address_undeliverable"},
		"422WithoutCode":      {jsonAnswer(422, `{"message": "No."}`), carrier.Unknown, "http_422"},
		"422NotJSON":          {jsonAnswer(422, `no`), carrier.Unknown, "http_422"},
		"422HalfSent":         {carrierhttp.Answer{Status: 422, Header: jsonAnswer(0, "").Header, Body: []byte(documented)}, carrier.Unknown, "http_422"},
		"422OtherType":        {carrierhttp.Answer{Status: 422, Header: http.Header{}, Body: []byte(documented), Whole: true}, carrier.Unknown, "http_422"},
		"401":                 {jsonAnswer(401, ``), carrier.NotBought, "http_401"},
		"403":                 {jsonAnswer(403, documented), carrier.NotBought, "address_undeliverable"},
		"429":                 {jsonAnswer(429, ``), carrier.NotBought, "http_429"},
		"503Busy":             {jsonAnswer(503, `{"code": "busy", "message": ""}`), carrier.NotBought, "busy"},
		"503Other":            {jsonAnswer(503, `{"code": "down", "message": ""}`), carrier.Unknown, "down"},
		"500":                 {jsonAnswer(500, documented), carrier.Unknown, "address_undeliverable"},
		"404":                 {jsonAnswer(404, documented), carrier.Unknown, "address_undeliverable"},
		"409KeyInUse":         {jsonAnswer(409, `{"code": "key_mismatch", "message": ""}`), carrier.Unknown, "key_mismatch"},
		"302":                 {jsonAnswer(302, ``), carrier.Unknown, "http_302"},
		"200IsNotDocumented":  {jsonAnswer(200, goodLabel), carrier.Unknown, "http_200"},
		"DuplicateNames":      {jsonAnswer(422, `{"code": "a", "code": "b"}`), carrier.Unknown, "http_422"},
		"NULInCodeIsHarmless": {jsonAnswer(422, `{"code": "a\u0000b"}`), carrier.Rejected, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(goodPurchase(), "USD", tt.answer)
			require.Equal(t, tt.want, r.Outcome)
			require.Equal(t, tt.code, r.Code)
			require.Nil(t, r.Label)
		})
	}
}

func TestMessageHoldsNoPersonalData(t *testing.T) {
	t.Parallel()
	p := goodPurchase()
	p.Shipment.ShipTo = carrier.Address{Name: "Zoë Müller", Street1: "12 Fable St. (rear)", City: "Springfield"}
	a := jsonAnswer(422, `{"code": "no", "message": "ZOË MÜLLER does not live at 12 FABLE ST. (REAR), Springfield."}`)
	require.Equal(t, "(redacted) does not live at (redacted), (redacted).", judge(p, "USD", a).Message)
}

func TestJudgeVoid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer carrierhttp.Answer
		want   carrier.VoidState
	}{
		"Voided":        {jsonAnswer(200, `{"status": "voided"}`), carrier.Voided},
		"AlreadyVoided": {jsonAnswer(200, `{"status": "refused", "code": "already_voided"}`), carrier.Voided},
		"Refused":       {jsonAnswer(200, `{"status": "refused", "code": "in_transit", "message": "to Ada Jones"}`), carrier.VoidRefused},
		"NoSuchLabel":   {jsonAnswer(404, `{"code": "not_found"}`), carrier.VoidRefused},
		"NoSuchPage":    {jsonAnswer(404, `{}`), carrier.VoidUnknown},
		"OtherStatus":   {jsonAnswer(500, `{"status": "voided"}`), carrier.VoidUnknown},
		"OtherWord":     {jsonAnswer(200, `{"status": "ok"}`), carrier.VoidUnknown},
		"NotJSON":       {jsonAnswer(200, `voided`), carrier.VoidUnknown},
		"HalfSent":      {carrierhttp.Answer{Status: 200, Header: jsonAnswer(0, "").Header, Body: []byte(`{"status": "voided"}`)}, carrier.VoidUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judgeVoid(tt.answer)
			require.Equal(t, tt.want, got.State)
			require.NotContains(t, got.Message, "Ada")
		})
	}
}
