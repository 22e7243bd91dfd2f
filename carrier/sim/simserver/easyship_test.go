package simserver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	easyshipParty = `{"contact_name": "N", "line_1": "S", "city": "C", "state": "NV", "postal_code": "89501", "country_alpha2": "US"}`
	easyshipBody  = `{"origin_address": ` + easyshipParty + `, "destination_address": ` + easyshipParty + `,
		"courier_selection": {"selected_courier_id": "01563646-58c1-4607-8fe0-cae3e33c0001", "allow_courier_fallback": false},
		"order_data": {"platform_name": "P", "platform_order_number": "REF1"},
		"shipping_settings": {"buy_label": true, "buy_label_synchronous": true,
			"printing_options": {"format": "zpl", "label": "4x6"}, "units": {"weight": "kg", "dimensions": "cm"}},
		"parcels": [{"total_actual_weight": 1.45, "box": {"length": 30, "width": 20, "height": 12},
			"items": [{"description": "Goods", "category": "fashion", "quantity": 1, "declared_currency": "USD", "declared_customs_value": 1}]}]}`
	easyshipKey = "Idempotency-Key"
)

func easyshipBuying(t *testing.T, b *testBundle, body string, header ...string) *http.Request {
	t.Helper()
	return b.request(t, "POST", "/easyship/2023-01/shipments", body, header...)
}

func easyshipBought(t *testing.T, b *testBundle, header ...string) map[string]any {
	t.Helper()
	status, _, answer := send(t, easyshipBuying(t, b, easyshipBody, header...))
	require.Equal(t, 201, status, "%v", answer)
	return answer["shipment"].(map[string]any)
}

func easyshipPage(t *testing.T, b *testBundle, query string) (int, map[string]any) {
	t.Helper()
	status, _, answer := send(t, b.request(t, "GET", "/easyship/2023-01/shipments?"+query, ""))
	return status, answer
}

func TestEasyshipFaults(t *testing.T) {
	t.Parallel()
	testWire(t, Keyed, wire{
		order: func(t *testing.T, b *testBundle, reference string) *http.Request {
			t.Helper()
			return easyshipBuying(t, b, strings.Replace(easyshipBody, "REF1", reference, 1), easyshipKey, "k1")
		},
		reference: func(a map[string]any) any { return at(a, "shipment", "order_data", "platform_order_number") },
		tracking:  func(a map[string]any) any { return at(a, "shipment", "trackings", 0, "tracking_number") },
		status:    201, refused: 422, late: 504,
		lookup: func(t *testing.T, b *testBundle, reference string) int {
			t.Helper()
			_, answer := easyshipPage(t, b, "platform_order_number="+reference)
			return len(answer["shipments"].([]any))
		},
	})
}

func TestEasyshipPriceIsOfTheCourier(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	shipment := easyshipBought(t, b)
	require.Equal(t, shipment["easyship_shipment_id"], b.Entries()[0].LabelID)
	for _, rate := range shipment["rates"].([]any) {
		ours := at(rate, "courier_id") == at(shipment, "courier", "id")
		price := at(rate, "total_charge").(float64)
		require.Equal(t, ours, price > 6.449 && price < 6.451)
	}
	require.InDelta(t, 1.45, at(shipment, "parcels", 0, "total_actual_weight"), 0)
	require.Equal(t, "label", at(shipment, "shipping_documents", 1, "category"), "the first is another document")
	require.NotEmpty(t, at(shipment, "shipping_documents", 1, "base64_encoded_strings", 0))

	_, _, answer := send(t, easyshipBuying(t, b, strings.Replace(easyshipBody, "zpl", "url", 1)))
	document := at(answer, "shipment", "shipping_documents", 1)
	require.Empty(t, at(document, "base64_encoded_strings"))
	path, ours := strings.CutPrefix(at(document, "url").(string), b.url)
	require.True(t, ours)
	_, file := b.callRaw(t, "GET", path, "")
	require.True(t, strings.HasPrefix(string(file), "%PDF"))
}

func TestEasyshipKey(t *testing.T) {
	t.Parallel()

	t.Run("SuccessIsReplayedWhateverTheBody", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		first := easyshipBought(t, b, easyshipKey, "k1")
		require.Equal(t, first, easyshipBought(t, b, easyshipKey, "k1"))
		other := strings.Replace(easyshipBody, "1.45", "2.45", 1)
		_, _, answer := send(t, easyshipBuying(t, b, other, easyshipKey, "k1"))
		require.Equal(t, first, answer["shipment"], "it is for the first body's weight")
		require.Len(t, b.Entries(), 1)
	})
	t.Run("FailureIsReplayedForItsWindow", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *Config) { c.Faults.KeyWindowMS = 1000 })
		for _, fault := range []Fault{Refuse, ErrorBeforeCharge, ErrorAfterCharge, ChargeLate} {
			key := string(fault)
			require.NoError(t, b.SetFaults(Faults{KeyWindowMS: 1000, Rules: []Rule{{Fault: fault, Count: 1}}}))
			first, _, answer := send(t, easyshipBuying(t, b, easyshipBody, easyshipKey, key))
			again, _, replayed := send(t, easyshipBuying(t, b, easyshipBody, easyshipKey, key))
			require.GreaterOrEqual(t, first, 400)
			require.Equal(t, first, again)
			require.Equal(t, answer, replayed, "with the request id of the first")
		}
		easyshipBought(t, b, easyshipKey, "another")
		b.advance(time.Second)
		easyshipBought(t, b, easyshipKey, string(Refuse))
	})
	t.Run("RateLimitComesBeforeTheKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *Config) { c.Faults.Rules = []Rule{{Fault: RateLimited, Count: 1}} })
		status, header, _ := send(t, easyshipBuying(t, b, easyshipBody, easyshipKey, "k1"))
		require.Equal(t, 429, status)
		require.Equal(t, "0", header.Get("X-Ratelimit-Remaining"))
		easyshipBought(t, b, easyshipKey, "k1")
	})
	t.Run("OtherModesIgnoreIt", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *Config) { c.Faults.Mode = Lookup })
		require.NoError(t, b.SetFaults(Faults{Rules: []Rule{{Fault: Refuse, Count: 1}}}))
		status, _, _ := send(t, easyshipBuying(t, b, easyshipBody, easyshipKey, "k1"))
		require.Equal(t, 422, status)
		easyshipBought(t, b, easyshipKey, "k1")
		easyshipBought(t, b, easyshipKey, "k1")
		require.Len(t, b.Entries(), 2)
	})
}

func TestEasyshipListPages(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	var ids []any
	for range 3 {
		ids = append(ids, easyshipBought(t, b)["easyship_shipment_id"])
	}
	send(t, easyshipBuying(t, b, strings.Replace(easyshipBody, "REF1", "REF2", 1)))
	_, first := easyshipPage(t, b, "platform_order_number=REF1&per_page=2")
	require.Equal(t, ids[2], at(first, "shipments", 0, "easyship_shipment_id"), "youngest first")
	require.Empty(t, at(first, "shipments", 0, "shipping_documents"))
	_, query, _ := strings.Cut(at(first, "meta", "pagination", "next").(string), "?")
	_, second := easyshipPage(t, b, query)
	require.Equal(t, ids[0], at(second, "shipments", 0, "easyship_shipment_id"))
	require.Nil(t, at(second, "meta", "pagination", "next"))
	status, _ := easyshipPage(t, b, "platform_order_number=REF1&per_page=2&page=3")
	require.Equal(t, 400, status, "there is no third page")
	status, none := easyshipPage(t, b, "platform_order_number=NONE")
	require.Equal(t, 200, status)
	require.Empty(t, none["shipments"])

	path := "/easyship/2023-01/shipments/" + ids[0].(string)
	_, _, one := send(t, b.request(t, "GET", path, ""))
	require.NotEmpty(t, at(one, "shipment", "shipping_documents", 1, "base64_encoded_strings"))
	require.NoError(t, b.SetFaults(Faults{Mode: Blind}))
	for _, path := range []string{path, "/easyship/2023-01/shipments"} {
		status, _, answer := send(t, b.request(t, "GET", path, ""))
		require.Equal(t, 404, status)
		require.Equal(t, "resource_not_found", at(answer, "error", "code"))
	}
}

func TestEasyshipCancel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := easyshipBought(t, b)["easyship_shipment_id"].(string)
	for _, tt := range []struct {
		id   string
		want int
	}{{id, 200}, {id, 422}, {"ESUS0", 404}} {
		status, _, _ := send(t, b.request(t, "POST", "/easyship/2023-01/shipments/"+tt.id+"/cancel", ""))
		require.Equal(t, tt.want, status)
	}
	require.Len(t, b.Entries(), 2)
	_, _, shown := send(t, b.request(t, "GET", "/easyship/2023-01/shipments/"+id, ""))
	require.Equal(t, "voided", at(shown, "shipment", "label_state"))
}

func TestEasyshipToken(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Secret = "sand_k" })
	for header, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer sand_k": 200} {
		status, _, _ := send(t, b.request(t, "GET", "/easyship/2023-01/account", "", "Authorization", header))
		require.Equal(t, want, status)
	}
	status, _, answer := send(t, easyshipBuying(t, b, easyshipBody, easyshipKey, "k1"))
	require.Equal(t, 401, status)
	require.Equal(t, "invalid_token", at(answer, "error", "code"))
	easyshipBought(t, b, easyshipKey, "k1", "Authorization", "Bearer sand_k")
}

func TestEasyshipRefusesWhatIsNoOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, change := range map[string][2]string{
		"UnknownMember":  {`"parcels"`, `"weight_g": 1450, "parcels"`},
		"NotBought":      {`"buy_label": true`, `"buy_label": false`},
		"Asynchronous":   {`"buy_label_synchronous": true`, `"buy_label_synchronous": false`},
		"NoCourier":      {"01563646-58c1-4607-8fe0-cae3e33c0001", "ground"},
		"UnknownFormat":  {"zpl", "gif"},
		"UnknownUnit":    {`"kg"`, `"KG"`},
		"Grams":          {"1.45", "1450"},
		"Millimetres":    {`"length": 30`, `"length": 300`},
		"NoItems":        {`"items": [`, `"items": [], "x": [`},
		"ItemIsWorthy":   {`"declared_customs_value": 1`, `"declared_customs_value": 0`},
		"LongLine":       {`"line_1": "S"`, `"line_1": "` + strings.Repeat("S", 36) + `"`},
		"NoName":         {`"contact_name": "N"`, `"contact_name": ""`},
		"NoDestination":  {"destination_address", "sender_address"},
		"LongCountry":    {`"US"`, `"USA"`},
		"WeightIsText":   {"1.45", `"1.45"`},
		"LongReference":  {"REF1", strings.Repeat("R", 101)},
		"EmptyBox":       {`"height": 12`, `"height": 0`},
		"NotJSON":        {`{"origin_address"`, `{{"origin_address"`},
		"ItemOfNothing":  {`"description": "Goods"`, `"description": ""`},
		"NoneOfTheItem":  {`"quantity": 1`, `"quantity": 0`},
		"NoCategory":     {`"category": "fashion", `, ""},
		"UnknownLengths": {`"cm"`, `"mm"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, answer := send(t, easyshipBuying(t, b, strings.Replace(easyshipBody, change[0], change[1], 1)))
			require.Contains(t, []int{400, 422}, status)
			require.NotEmpty(t, at(answer, "error", "details", 0))
		})
	}
	t.Cleanup(func() { require.Empty(t, b.Entries()) })
}
