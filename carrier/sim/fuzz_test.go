package sim

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"waybill/carrier"
	"waybill/carrier/carriertest"
	"waybill/internal/carrierhttp"
)

var text = carriertest.Text // the plain way

// seedAnswers adds what carriers and the gateways in front of them say.
func seedAnswers(f *testing.F) {
	for _, body := range []string{
		goodLabel,
		strings.Replace(goodLabel, "645", "646", 1),
		strings.Replace(goodLabel, "REF1", "REF2", 1),
		strings.Replace(goodLabel, `"tracking_no"`, `"TRACKING_NO"`, 1),
		strings.Replace(goodLabel, `"SIM1"`, `"SIM1", "tracking_no": "SIM2"`, 1),
		goodLabel[:len(goodLabel)-1], goodLabel + goodLabel, "", "null", "[]", "<html>",
		`{"code": "no", "message": "No."}`, `{"code": "busy"}`, `{"code": "a\u0000b", "message": "\u202e"}`,
		`{"labels": []}`, `{"labels": null}`, `{"labels": [` + goodLabel + `,{}]}`, `{"labels": [` + goodLabel + `]}`,
		`{"status": "voided"}`, `{"status": "refused", "code": "already_voided"}`,
	} {
		for _, status := range []int{200, 201, 404, 422, 503} {
			f.Add(status, carrierhttp.JSON, []byte(body), true)
		}
		f.Add(201, carrierhttp.JSON, []byte(body), false)
		f.Add(201, "text/html", []byte(body), true)
	}
}

func received(status int, contentType string, body []byte, whole bool) carrierhttp.Answer {
	a := jsonAnswer(status, string(body))
	a.Header.Set("Content-Type", contentType)
	a.Whole = whole
	return a
}

// isLabel reads a label the plain way, member by member, and says whether it is complete.
func isLabel(body []byte) (members map[string]jsontext.Value, ok bool) {
	if json.Unmarshal(body, &members) != nil {
		return nil, false
	}
	for _, name := range []string{"label_id", "reference", "tracking_no", "currency", "service"} {
		if s := text(members[name]); s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, false
		}
	}
	cost, priced := number(members["cost_cents"])
	weight, weighed := number(members["weight_g"])
	return members, priced && cost >= 0 && weighed && weight > 0
}

// number is an exact integer; null is none.
func number(raw jsontext.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// FuzzAnswer holds that nothing but a full valid answer, for what was ordered, is bought; and that
// what is kept of a carrier's words is safe to store.
func FuzzAnswer(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a, p := received(status, contentType, body, whole), goodPurchase()

		r := judge(p, "USD", a)

		carriertest.RequireSafe(t, r.Code, r.Message)
		if r.Outcome == carrier.NotBought || r.Outcome == carrier.Rejected {
			if !slices.Contains([]int{400, 401, 403, 422, 429, 503}, status) {
				t.Fatalf("%d is taken for %s", status, r.Outcome)
			}
		}
		if r.Outcome != carrier.Bought {
			if r.Code == "" {
				t.Fatalf("%s without a code", r.Outcome)
			}
			return
		}
		members, complete := isLabel(body)
		cost, _ := number(members["cost_cents"])
		switch {
		case status != 201, !whole, !a.IsJSON(), !complete,
			text(members["reference"]) != p.Reference,
			text(members["service"]) != p.Shipment.Service,
			text(members["currency"]) != "USD",
			r.Label.Cost.Cents != cost, cost > *p.Shipment.MaxCostCents,
			r.Label.ID != text(members["label_id"]),
			r.Label.TrackingNo != text(members["tracking_no"]):
			t.Fatalf("%d %s %q is taken for %+v", status, contentType, body, r.Label)
		}
	})
}

// FuzzLookup holds that a look-up is believed whole or not at all: an answer that was not understood
// must not look like "none", which leads to another purchase.
func FuzzLookup(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a := received(status, contentType, body, whole)
		labels, err := readLabels(a, "REF1", "USD")
		if err != nil {
			return
		}
		var found struct {
			Labels []jsontext.Value `json:"labels"`
		}
		if status != 200 || !whole || !a.IsJSON() || json.Unmarshal(body, &found) != nil ||
			found.Labels == nil || len(found.Labels) != len(labels) {
			t.Fatalf("%d %q is taken for %d labels", status, body, len(labels))
		}
		for i, label := range labels {
			if _, complete := isLabel(found.Labels[i]); !complete || label.Reference != "REF1" || label.TrackingNo == "" {
				t.Fatalf("%s is taken for %+v", found.Labels[i], label)
			}
		}
	})
}

// FuzzVoid holds that only the carrier's own word voids a label.
func FuzzVoid(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a := received(status, contentType, body, whole)
		r := judgeVoid(a)
		carriertest.RequireSafe(t, r.Code, r.Message)
		if r.State == carrier.VoidUnknown {
			return
		}
		var said map[string]jsontext.Value
		if !whole || !a.IsJSON() || json.Unmarshal(body, &said) != nil {
			t.Fatalf("%q is taken for %s", body, r.State)
		}
		voided := status == 200 && (text(said["status"]) == "voided" ||
			text(said["status"]) == "refused" && text(said["code"]) == "already_voided")
		if voided != (r.State == carrier.Voided) {
			t.Fatalf("%d %q is taken for %s", status, body, r.State)
		}
	})
}
