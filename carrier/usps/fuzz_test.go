package usps

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
		strings.Replace(goodLabel, "2.35", "2.36", 1),
		strings.Replace(goodLabel, "2.35", "1e1", 1),
		strings.Replace(goodLabel, "3.1968", "9", 1),
		strings.Replace(goodLabel, `"trackingNumber"`, `"TRACKINGNUMBER"`, 1),
		goodLabel[:len(goodLabel)-1], goodLabel + goodLabel, "", "null", "[]", "<html>", refused,
		`{"error": {"code": "429"}}`, `{"status": "CANCELED"}`, `{"status": "DISPUTED", "disputeId": "\u0000"}`,
	} {
		for _, status := range []int{200, 201, 400, 401, 403, 503} {
			f.Add(status, labelsJSON, []byte(body), true)
		}
		f.Add(200, labelsJSON, []byte(body), false)
		f.Add(200, "multipart/form-data", []byte(body), true)
	}
}

// dollars adds up a price the plain way, as a fraction.
func dollars(sum *big.Rat, raw jsontext.Value) bool {
	text := strings.Trim(string(raw), `"`)
	price, ok := new(big.Rat).SetString(text)
	if ok {
		sum.Add(sum, price)
	}
	return ok && price.Sign() >= 0
}

// total reads what an answer charges, and whether it says so.
func total(members map[string]jsontext.Value) (*big.Rat, bool) {
	sum := new(big.Rat)
	if !dollars(sum, members["postage"]) {
		return nil, false
	}
	for _, name := range []string{"extraServices", "fees"} {
		var list []map[string]jsontext.Value
		if len(members[name]) > 0 && json.Unmarshal(members[name], &list) != nil {
			return nil, false
		}
		for _, c := range list {
			if !dollars(sum, c["price"]) {
				return nil, false
			}
		}
	}
	return sum, true
}

// FuzzAnswer holds that nothing but a full valid answer is bought, and that what is kept of a carrier's
// words is safe to store.
func FuzzAnswer(f *testing.F) {
	seedAnswers(f)
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte, whole bool) {
		a, p := answer(status, string(body)), goodPurchase()
		a.Header.Set("Content-Type", contentType)
		a.Whole = whole

		r := judge(p, a)

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
		var members map[string]jsontext.Value
		var tracking string
		err := json.Unmarshal(body, &members)
		if err == nil {
			err = json.Unmarshal(members["trackingNumber"], &tracking)
		}
		sum, priced := total(members)
		if status != 200 || !whole || !a.IsJSON() || err != nil || tracking == "" || r.Label.TrackingNo != tracking ||
			!priced || sum.Cmp(big.NewRat(r.Label.Cost.Cents, 100)) != 0 || r.Label.Cost.Cents > *p.Shipment.MaxCostCents {
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
		r := judgeVoid(a, "9205590006662200704797")
		carriertest.RequireSafe(t, r.Code, r.Message)
		if r.State != carrier.VoidUnknown && (!whole || !a.IsJSON() || status != 200 && status != 400) {
			t.Fatalf("%d %q is taken for %s", status, body, r.State)
		}
	})
}
