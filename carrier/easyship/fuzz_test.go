package easyship

import (
	"encoding/json/v2"
	"slices"
	"strings"
	"testing"

	"waybill/carrier"
	"waybill/carrier/carriertest"
)

// seedAnswers adds what the carrier and the gateways in front of it say.
func seedAnswers(f *testing.F) {
	for _, body := range []string{
		goodLabel,
		strings.Replace(goodLabel, "6.45", "6.46", 1),
		strings.Replace(goodLabel, "6.45", "1e1", 1),
		strings.Replace(goodLabel, "REF1", "REF2", 1),
		strings.Replace(goodLabel, `"generated"`, `"pending"`, 1),
		strings.Replace(goodLabel, `"tracking_number"`, `"TRACKING_NUMBER"`, 1),
		goodLabel[:len(goodLabel)-1], goodLabel + goodLabel, "", "null", "[]", "<html>",
		failure("invalid_content"), failure("api_error"), `{"success": {"message": "x"}}`,
		listed(), listed(goodShipment), listed(withState("pending")), `{"shipments": null}`,
	} {
		for _, status := range []int{200, 201, 202, 400, 401, 404, 422, 503} {
			f.Add(status, "application/json", []byte(body), true)
		}
		f.Add(201, "application/json", []byte(body), false)
		f.Add(201, "text/html", []byte(body), true)
	}
}

// FuzzAnswer holds that nothing but a full valid answer, for what was ordered, is bought; and that what is
// kept of a carrier's words is safe to store.
func FuzzAnswer(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a, p := answer(status, string(body)), goodPurchase()
		a.Header.Set("Content-Type", contentType)
		a.Whole = whole

		r := adapter().judge(p, a)

		carriertest.RequireSafe(t, r.Code, r.Message)
		if (r.Outcome == carrier.NotBought || r.Outcome == carrier.Rejected) && !slices.Contains([]int{400, 401, 403, 422, 429}, status) {
			t.Fatalf("%d is taken for %s", status, r.Outcome)
		}
		if r.Outcome != carrier.Bought {
			if r.Code == "" {
				t.Fatalf("%s without a code", r.Outcome)
			}
			return
		}
		var said struct {
			Shipment struct {
				ID        string `json:"easyship_shipment_id"`
				State     string `json:"label_state"`
				Trackings []struct {
					Number string `json:"tracking_number"`
				} `json:"trackings"`
				Order struct {
					Number string `json:"platform_order_number"`
				} `json:"order_data"`
			} `json:"shipment"`
		}
		s := &said.Shipment
		if status != 200 && status != 201 || !whole || !a.IsJSON() || json.Unmarshal(body, &said) != nil || s.ID != r.Label.ID ||
			!slices.Contains([]string{"generated", "printed", "reported", "shipping_document_generated", "void_failed"}, s.State) ||
			len(s.Trackings) == 0 || s.Trackings[0].Number == "" || s.Trackings[0].Number != r.Label.TrackingNo ||
			s.Order.Number != p.Reference || r.Label.Cost.Currency != "USD" || r.Label.Cost.Cents > *p.Shipment.MaxCostCents ||
			r.Label.Cost.Cents < 0 || r.Label.Service != p.Shipment.Service || r.Label.WeightG < 1440 || r.Label.WeightG > 1460 {
			t.Fatalf("%d %s %q is taken for %+v", status, contentType, body, r.Label)
		}
	})
}

// FuzzLookup holds that a page is believed whole or not at all: an answer that was not understood must not
// look like "none", which leads to another purchase.
func FuzzLookup(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a := answer(status, string(body))
		a.Header.Set("Content-Type", contentType)
		a.Whole = whole
		shipments, _, err := readPage(a)
		if err != nil {
			return
		}
		var found struct {
			Shipments []map[string]any `json:"shipments"`
		}
		if status != 200 || !whole || !a.IsJSON() || json.Unmarshal(body, &found) != nil ||
			found.Shipments == nil || len(found.Shipments) != len(shipments) {
			t.Fatalf("%d %q is taken for %d shipments", status, body, len(shipments))
		}
	})
}

// FuzzVoid holds that only the carrier's own word voids a label.
func FuzzVoid(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a := answer(status, string(body))
		a.Header.Set("Content-Type", contentType)
		a.Whole = whole
		r := judgeVoid(a)
		carriertest.RequireSafe(t, r.Code, r.Message)
		var said struct {
			Success map[string]any `json:"success"`
		}
		if r.State == carrier.Voided && (status != 200 || !whole || !a.IsJSON() || json.Unmarshal(body, &said) != nil || said.Success == nil) {
			t.Fatalf("%d %q is taken for %s", status, body, r.State)
		}
	})
}
