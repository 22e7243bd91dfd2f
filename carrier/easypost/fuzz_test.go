package easypost

import (
	"strings"
	"testing"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/internal/carrierhttp"
)

var members = carriertest.Members // the plain way

// seedAnswers adds what EasyPost and the gateways in front of it say.
func seedAnswers(f *testing.F) {
	for _, body := range []string{
		sold, made,
		strings.Replace(sold, `"5.93"`, `"5.94"`, 2),
		strings.Replace(sold, "REF1", "REF2", 1),
		strings.Replace(sold, `"tracking_code"`, `"TRACKING_CODE"`, 1),
		sold[:len(sold)-1], sold + sold, "", "null", "[]", "<html>",
		errorBody(codePostageFailure), errorBody("SHIPMENT.POSTAGE.EXISTS"), errorBody(codeNotFound), errorBody(`a\u0000b`),
		list(false), list(false, sold), list(true, sold), list(false, made, sold),
	} {
		for _, status := range []int{200, 201, 404, 422, 429, 503} {
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

// isSold reads a shipment member by member, and says whether it is a sold one of ours.
func isSold(body []byte) bool {
	m := members(body)
	rate := members(m["selected_rate"])
	return members(m["postage_label"]) != nil && text(m["id"]) == "shp_1" && text(m["reference"]) == "REF1" &&
		text(m["tracking_code"]) != "" && text(rate["service"]) == "GroundAdvantage" && text(rate["carrier"]) == "USPS" &&
		text(rate["currency"]) == "USD" && text(rate["rate"]) != ""
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
		case carrier.NotBought, carrier.Rejected:
			if classify(status, text(members(members(body)["error"])["code"])).outcome != r.Outcome {
				t.Fatalf("%d %q is taken for %s", status, body, r.Outcome)
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
		s, err := readShipment(answer)
		if err == nil && s.PostageLabel == nil && members(body)["postage_label"].Kind() != 'n' {
			t.Fatalf("%d %q is taken for an unsold shipment", status, body)
		}
		p, err := readPage(answer, "")
		if err == nil && (status != 200 || !whole || !answer.IsJSON() || members(body)["shipments"].Kind() != '[' || p.more != (string(members(body)["has_more"]) == "true")) {
			t.Fatalf("%d %q is taken for a page", status, body)
		}
		labels, err := adapter().readByReference(answer, "REF1")
		if err == nil && len(labels) == 0 && status != 404 && members(body)["postage_label"].Kind() != 'n' {
			t.Fatalf("%d %q is taken for no label", status, body)
		}
	})
}

// FuzzVoid holds that only the carrier's own word voids a label.
func FuzzVoid(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		answer := received(status, contentType, body, whole)
		v := judgeVoid(answer, "shp_1")
		carriertest.RequireSafe(t, v.Code, v.Message)
		said := text(members(body)["refund_status"])
		if v.State == carrier.Voided && (status != 200 || !whole || !answer.IsJSON() || said != "submitted" && said != "refunded") {
			t.Fatalf("%d %q is taken for voided", status, body)
		}
	})
}
