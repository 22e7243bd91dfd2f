package fedex

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math/big"
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
		strings.Replace(goodLabel, `"output"`, `"errors": [{}], "output"`, 1),
		strings.Replace(goodLabel, `"trackingNumber"`, `"TRACKINGNUMBER"`, 1),
		goodLabel[:len(goodLabel)-1], goodLabel + goodLabel, "", "null", "[]", "<html>", refused,
		failure("SYSTEM.UNEXPECTED.ERROR"), `{"output": {"cancelledShipment": true}}`,
		`{"output": {"cancelledShipment": false, "successMessage": "\u0000"}}`,
	} {
		for _, status := range []int{200, 201, 400, 401, 403, 503} {
			f.Add(status, "application/json", []byte(body), true)
		}
		f.Add(200, "application/json", []byte(body), false)
		f.Add(200, "text/html", []byte(body), true)
	}
}

// at walks into an answer the plain way, through members and first elements.
func at(raw jsontext.Value, path ...string) jsontext.Value {
	for _, name := range path {
		var list []jsontext.Value
		if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
			raw = list[0]
		}
		var members map[string]jsontext.Value
		if json.Unmarshal(raw, &members) != nil {
			return nil
		}
		raw = members[name]
	}
	return raw
}

// FuzzAnswer holds that nothing but a full valid answer is bought, and that what is kept of a carrier's
// words is safe to store.
func FuzzAnswer(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a, p := answer(status, string(body)), goodPurchase()
		a.Header.Set("Content-Type", contentType)
		a.Whole = whole

		r := judge(p, "USD", a)

		carriertest.RequireSafe(t, r.Code, r.Message)
		if (r.Outcome == carrier.NotBought || r.Outcome == carrier.Rejected) && !slices.Contains([]int{400, 401, 403, 429}, status) {
			t.Fatalf("%d is taken for %s", status, r.Outcome)
		}
		if r.Outcome != carrier.Bought {
			if r.Code == "" {
				t.Fatalf("%s without a code", r.Outcome)
			}
			return
		}
		price, ok := new(big.Rat).SetString(strings.Trim(string(at(body, "output", "transactionShipments", "pieceResponses", "netChargeAmount")), `"`))
		if status != 200 || !whole || !a.IsJSON() || !ok || price.Cmp(big.NewRat(r.Label.Cost.Cents, 100)) != 0 ||
			r.Label.Cost.Cents > *p.Shipment.MaxCostCents || r.Label.TrackingNo == "" || r.Label.ID != r.Label.TrackingNo ||
			!strings.Contains(string(body), r.Label.TrackingNo) {
			t.Fatalf("%d %s %q is taken for %+v", status, contentType, body, r.Label)
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
		gone := string(at(body, "output", "cancelledShipment")) == "true" || string(at(body, "output", "cancelledHistory")) == "true"
		if r.State == carrier.Voided && (!whole || !a.IsJSON() || status != 200 || !gone) {
			t.Fatalf("%d %q is taken for %s", status, body, r.State)
		}
	})
}
