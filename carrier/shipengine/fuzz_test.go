package shipengine

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
	"testing"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/internal/carrierhttp"
)

// What is judged is read the plain way.
var (
	members = carriertest.Members
	text    = carriertest.Text
)

// seedAnswers adds what ShipEngine and the gateways in front of it say.
func seedAnswers(f *testing.F) {
	for _, body := range []string{
		sold, made, answered(made),
		strings.Replace(sold, "7.33", "7.34", 1),
		strings.Replace(sold, "REF1", "REF2", 1),
		strings.Replace(sold, "completed", "processing", 1),
		strings.Replace(sold, `"tracking_number"`, `"TRACKING_NUMBER"`, 1),
		sold[:len(sold)-1], sold + sold, "", "null", "[]", "<html>",
		`{"label_id": "se-9", "status": "error", "shipment_id": "se-1"}`,
		errorBody("invalid_address"), errorBody("not_found"), errorBody("unspecified", "invalid_address"), errorBody(`a\u0000b`), errorBody(),
		list(0, 0), list(1, 1, sold), list(2, 2, sold),
		`{"approved": true}`, `{"approved": false, "reason_code": "label_already_voided"}`,
	} {
		for _, status := range []int{200, 201, 400, 404, 429, 503} {
			f.Add(status, carrierhttp.JSON, []byte(body), true)
		}
		f.Add(200, carrierhttp.JSON, []byte(body), false)
		f.Add(200, "text/html", []byte(body), true)
	}
}

func received(status int, contentType string, body []byte, whole bool) carrierhttp.Answer {
	a := jsonAnswer(status, string(body))
	a.Header.Set("Content-Type", contentType)
	a.Whole = whole
	return a
}

// isSold reads a label member by member, and says whether it is a complete one of ours.
func isSold(body []byte) bool {
	m := members(body)
	reference, shown := m["external_shipment_id"]
	cost := members(m["shipment_cost"])
	return text(m["status"]) == "completed" && text(m["shipment_id"]) == "se-1" && text(m["label_id"]) != "" &&
		(!shown || reference.Kind() == 'n' || text(reference) == "REF1") && text(m["tracking_number"]) != "" &&
		text(m["service_code"]) == "usps_ground_advantage" && strings.EqualFold(text(cost["currency"]), "usd") &&
		cost["amount"].Kind() == '0' && string(m["voided"]) != "true"
}

// FuzzAnswer holds that nothing but a full valid answer, for what was ordered, is bought; and that
// what is kept of a carrier's words is safe to store.
func FuzzAnswer(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		answer, p := received(status, contentType, body, whole), goodPurchase()
		r := adapter().judge(p, answer)
		carriertest.RequireSafe(t, r.Code, r.Message)
		switch r.Outcome {
		case carrier.NotBought:
			made := status == 200 || status == 201
			if made && (text(members(body)["status"]) != "error" || text(members(body)["tracking_number"]) != "") || !made && (status < 400 || status > 499) {
				t.Fatalf("%d %q is taken for not bought", status, body)
			}
		case carrier.Rejected:
			if status < 400 || status > 499 || !whole || !answer.IsJSON() {
				t.Fatalf("%d %q is taken for a refusal", status, body)
			}
		case carrier.Bought:
			if status != 200 && status != 201 || !whole || !answer.IsJSON() || !isSold(body) || r.Label.Cost.Cents > *p.Shipment.MaxCostCents {
				t.Fatalf("%d %s %q is taken for %+v", status, contentType, body, r.Label)
			}
		case carrier.Unknown: // is never wrong
		}
		if (r.Outcome != carrier.Bought) != (r.Code != "") {
			t.Fatalf("%s has the code %q", r.Outcome, r.Code)
		}
	})
}

// FuzzLookup holds that a look-up is believed whole or not at all: an answer that was not understood
// must not look like "none", which leads to another purchase.
func FuzzLookup(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		answer := received(status, contentType, body, whole)
		p, err := readPage(answer)
		if err != nil {
			return
		}
		var list []jsontext.Value
		if status != 200 || !whole || !answer.IsJSON() || json.Unmarshal(members(body)["labels"], &list) != nil || len(list) != len(p.labels) {
			t.Fatalf("%d %q is taken for a page", status, body)
		}
		labels, err := adapter().readLabels(p.labels, "se-1", "REF1")
		if err != nil {
			return
		}
		made := 0
		for _, raw := range list {
			if text(members(raw)["status"]) != "error" {
				made++
			}
		}
		if made != len(labels) {
			t.Fatalf("%q is taken for %d labels", body, len(labels))
		}
	})
}

// FuzzVoid holds that only the carrier's own word voids a label.
func FuzzVoid(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		answer := received(status, contentType, body, whole)
		v := judgeVoid(answer)
		carriertest.RequireSafe(t, v.Code, v.Message)
		said := members(body)
		voided := string(said["approved"]) == "true" || string(said["approved"]) == "false" && text(said["reason_code"]) == "label_already_voided"
		if v.State == carrier.Voided && (status != 200 || !whole || !answer.IsJSON() || !voided) {
			t.Fatalf("%d %q is taken for voided", status, body)
		}
	})
}
