package simserver

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const easypostBody = `{"shipment": {"reference": "REF1",
	"to_address": {"name": "N", "street1": "S", "city": "C", "state": "NV", "zip": "89501", "country": "US"},
	"from_address": {"company": "D", "street1": "S", "city": "C", "zip": "89501", "country": "US"},
	"parcel": {"length": 11.8, "width": "7.9", "height": 4.8, "weight": 51.2},
	"options": {"label_format": "ZPL"}}}`

func easypostOf(reference string) string { return strings.Replace(easypostBody, "REF1", reference, 1) }

// easypostMade makes a shipment and returns its id and the id of a service's rate.
func easypostMade(t *testing.T, b *testBundle, reference, service string) (id, rate string) {
	t.Helper()
	status, _, made := send(t, b.request(t, "POST", "/easypost/v2/shipments", easypostOf(reference)))
	require.Equal(t, 201, status, "%v", made)
	for _, offer := range made["rates"].([]any) {
		if at(offer, "service") == service {
			return made["id"].(string), at(offer, "id").(string)
		}
	}
	t.Fatal("the service is not offered")
	return "", ""
}

func easypostBuying(t *testing.T, b *testBundle, id, rate string) *http.Request {
	t.Helper()
	return b.request(t, "POST", "/easypost/v2/shipments/"+id+"/buy", `{"rate": {"id": "`+rate+`"}}`)
}

func easypostBought(t *testing.T, b *testBundle, reference string) (id string) {
	t.Helper()
	id, rate := easypostMade(t, b, reference, "GroundAdvantage")
	status, _, answer := send(t, easypostBuying(t, b, id, rate))
	require.Equal(t, 200, status, "%v", answer)
	return id
}

func TestEasyPostFaults(t *testing.T) {
	t.Parallel()
	testWire(t, Lookup, wire{
		order: func(t *testing.T, b *testBundle, reference string) *http.Request {
			t.Helper()
			id, rate := easypostMade(t, b, reference, "GroundAdvantage")
			return easypostBuying(t, b, id, rate)
		},
		reference: func(a map[string]any) any { return a["reference"] },
		tracking:  func(a map[string]any) any { return a["tracking_code"] },
		status:    200, refused: 422, late: 422,
		lookup: func(t *testing.T, b *testBundle, reference string) int {
			t.Helper()
			_, _, byReference := send(t, b.request(t, "GET", "/easypost/v2/shipments/"+reference, ""))
			_, _, list := send(t, b.request(t, "GET", "/easypost/v2/shipments?purchased=true", ""))
			require.Equal(t, byReference["postage_label"] != nil, len(list["shipments"].([]any)) == 1)
			return len(list["shipments"].([]any))
		},
	})
}

func TestEasyPostTwoSteps(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Faults.Mode = Lookup })
	_, _, made := send(t, b.request(t, "POST", "/easypost/v2/shipments", easypostBody))
	require.Nil(t, made["postage_label"])
	require.Nil(t, made["tracking_code"])
	require.Empty(t, b.Entries(), "a shipment costs nothing")

	id, rate := easypostMade(t, b, "REF1", "Priority")
	_, _, bought := send(t, easypostBuying(t, b, id, rate))
	charge := b.Entries()[0]
	require.EqualValues(t, 1500+90, charge.AmountCents, "51.2 ounces are more than a kilogram")
	require.Equal(t, id, bought["id"])
	require.Equal(t, "15.90", at(bought, "selected_rate", "rate"))
	require.Equal(t, "15.90000", at(bought, "fees", 1, "amount"))
	require.Equal(t, "Priority", at(bought, "selected_rate", "service"))
	require.InDelta(t, 51.2, at(bought, "parcel", "weight"), 0)

	status, _, again := send(t, easypostBuying(t, b, id, rate))
	require.Equal(t, 422, status)
	require.Equal(t, "SHIPMENT.POSTAGE.EXISTS", at(again, "error", "code"))
	other, _ := easypostMade(t, b, "REF1", "Priority")
	status, _, _ = send(t, easypostBuying(t, b, other, rate))
	require.Equal(t, 404, status, "the rate is of another shipment")
	require.Len(t, b.Entries(), 1)

	_, _, found := send(t, b.request(t, "GET", "/easypost/v2/shipments/"+id, ""))
	require.Equal(t, bought, found)
	_, _, youngest := send(t, b.request(t, "GET", "/easypost/v2/shipments/REF1", ""))
	require.Equal(t, other, youngest["id"], "a reference is not unique")
}

func TestEasyPostSellsAShipmentOnce(t *testing.T) {
	t.Parallel()

	t.Run("ToManyAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		id, rate := easypostMade(t, b, "REF1", "Priority")
		var wg sync.WaitGroup
		var bought, refused atomic.Int64
		for range 16 {
			req := easypostBuying(t, b, id, rate)
			wg.Go(func() {
				switch status, _, _ := send(t, req); status {
				case 200:
					bought.Add(1)
				case 422:
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		require.Len(t, b.Entries(), 1)
		require.EqualValues(t, 1, bought.Load())
		require.EqualValues(t, 15, refused.Load())
	})
	t.Run("ToALateCharge", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *Config) {
			c.Faults = Faults{LateMS: 3_600_000, Rules: []Rule{{Fault: ChargeLate, Count: 1}}}
		})
		id, rate := easypostMade(t, b, "REF1", "Priority")
		for _, want := range []int{422, 200} {
			status, _, _ := send(t, easypostBuying(t, b, id, rate))
			require.Equal(t, want, status)
		}
		b.Drain()
		b.late.Wait()
		require.Len(t, b.Entries(), 1, "what comes late finds it sold")
	})
}

func TestEasyPostOneCall(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	body := strings.Replace(easypostBody, `"options"`, `"service": "Express", "carrier_accounts": ["ca_1"], "options"`, 1)
	status, _, bought := send(t, b.request(t, "POST", "/easypost/v2/shipments", body))
	require.Equal(t, 201, status)
	require.Equal(t, "ca_1", at(bought, "selected_rate", "carrier_account_id"))
	require.Len(t, b.Entries(), 1)
}

func TestEasyPostLabel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := easypostBought(t, b, "REF1")
	_, _, shown := send(t, b.request(t, "GET", "/easypost/v2/shipments/"+id+"/label?file_format=PDF", ""))
	for url, begin := range map[any]string{
		at(shown, "postage_label", "label_url"):     "^XA",
		at(shown, "postage_label", "label_pdf_url"): "%PDF",
	} {
		path, ours := strings.CutPrefix(url.(string), b.url)
		require.True(t, ours)
		status, file := b.callRaw(t, "GET", path, "")
		require.Equal(t, 200, status)
		require.True(t, strings.HasPrefix(string(file), begin))
		status, _ = b.callRaw(t, "GET", path, "", "Authorization", "Basic abc")
		require.Equal(t, 400, status, "credentials do not go to the files")
	}
}

func TestEasyPostListPages(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	var bought []string
	for _, reference := range []string{"REF1", "REF2", "REF3"} {
		bought = append(bought, easypostBought(t, b, reference))
		b.advance(time.Minute)
	}
	easypostMade(t, b, "REF4", "Priority")
	list := func(query string) (ids []any, more any) {
		_, _, page := send(t, b.request(t, "GET", "/easypost/v2/shipments?"+query, ""))
		for _, shipment := range page["shipments"].([]any) {
			ids = append(ids, at(shipment, "id"))
		}
		return ids, page["has_more"]
	}
	ids, more := list("purchased=true&page_size=2")
	require.Equal(t, []any{bought[2], bought[1]}, ids, "newest first")
	require.Equal(t, true, more)
	ids, more = list("page_size=2&before_id=" + bought[1])
	require.Equal(t, []any{bought[0]}, ids)
	require.Equal(t, false, more)
	ids, _ = list("purchased=false")
	require.Len(t, ids, 4)
	ids, _ = list("start_datetime=" + testStart.Add(time.Minute).Format(time.RFC3339))
	require.Len(t, ids, 2)
	b.advance(60 * 24 * time.Hour)
	ids, _ = list("")
	require.Empty(t, ids, "without a start the list looks back a month")

	status, _, _ := send(t, b.request(t, "GET", "/easypost/v2/shipments?page_size=101", ""))
	require.Equal(t, 422, status)
	require.NoError(t, b.SetFaults(Faults{Mode: Blind}))
	for _, path := range []string{"", "/REF1", "/" + bought[0]} {
		status, _, answer := send(t, b.request(t, "GET", "/easypost/v2/shipments"+path, ""))
		require.Equal(t, 404, status)
		require.Equal(t, "NOT_FOUND", at(answer, "error", "code"))
	}
}

func TestEasyPostRefund(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := easypostBought(t, b, "REF1")
	for _, want := range []string{"submitted", "refunded"} {
		status, _, answer := send(t, b.request(t, "POST", "/easypost/v2/shipments/"+id+"/refund", "null"))
		require.Equal(t, 200, status)
		require.Equal(t, want, answer["refund_status"])
	}
	require.Len(t, b.Entries(), 2)
	_, _, found := send(t, b.request(t, "GET", "/easypost/v2/shipments/"+id, ""))
	require.Equal(t, "refunded", found["refund_status"])

	unbought, _ := easypostMade(t, b, "REF2", "Priority")
	for path, want := range map[string]int{unbought: 422, "shp_none": 404} {
		status, _, _ := send(t, b.request(t, "POST", "/easypost/v2/shipments/"+path+"/refund", ""))
		require.Equal(t, want, status)
	}
}

func TestEasyPostRemembersWhatWasNotBought(t *testing.T) {
	t.Parallel()
	b := &testBundle{path: t.TempDir() + "/ledger.jsonl", now: testStart}
	stop := b.start(t, nil)
	sold := easypostBought(t, b, "REF1")
	unsold, rate := easypostMade(t, b, "REF2", "Priority")
	stop()
	b.start(t, nil)
	_, _, found := send(t, b.request(t, "GET", "/easypost/v2/shipments/"+sold, ""))
	require.Equal(t, b.Entries()[0].TrackingNo, found["tracking_code"])
	status, _, _ := send(t, easypostBuying(t, b, unsold, rate))
	require.Equal(t, 200, status)
}

func TestEasyPostRefusesWhatIsNoOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, body := range map[string]string{
		"NotJSON":       "{",
		"NoShipment":    "{}",
		"UnknownMember": strings.Replace(easypostBody, `"parcel"`, `"weight_g": 1450, "parcel"`, 1),
		"Grams":         strings.Replace(easypostBody, "51.2", "1450", 1),
		"NoWeight":      strings.Replace(easypostBody, `, "weight": 51.2`, "", 1),
		"ZeroWeight":    strings.Replace(easypostBody, "51.2", "0", 1),
		"ManyDecimals":  strings.Replace(easypostBody, "51.2", "51.147", 1),
		"TwoSides":      strings.Replace(easypostBody, `"length": 11.8, `, "", 1),
		"UnknownFormat": strings.Replace(easypostBody, "ZPL", "GIF", 1),
		"NoName":        strings.Replace(easypostBody, `"name": "N", `, "", 1),
		"NoZip":         strings.Replace(easypostBody, `"zip": "89501", `, "", 1),
		"NoSender":      strings.Replace(easypostBody, "from_address", "buyer_address", 1),
		"NoAccounts":    strings.Replace(easypostBody, `"options"`, `"service": "Express", "options"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, answer := send(t, b.request(t, "POST", "/easypost/v2/shipments", body))
			require.Equal(t, 422, status)
			require.NotEmpty(t, at(answer, "error", "errors", 0, "field"))
		})
	}
	t.Cleanup(func() { require.Empty(t, b.Entries()) })
}

func TestEasyPostAPIKey(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Secret = "EZTK" })
	for _, credentials := range [][2]string{{"", ""}, {"wrong", ""}, {"EZTK", "password"}} {
		req := b.request(t, "GET", "/easypost/v2/shipments", "")
		req.SetBasicAuth(credentials[0], credentials[1])
		status, _, answer := send(t, req)
		require.Equal(t, 401, status)
		require.NotEmpty(t, at(answer, "error", "code"))
	}
	req := b.request(t, "GET", "/easypost/v2/shipments", "")
	req.SetBasicAuth("EZTK", "")
	status, _, _ := send(t, req)
	require.Equal(t, 200, status)
}
