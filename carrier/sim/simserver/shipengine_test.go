package simserver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	shipengineParty = `{"name": "N", "address_line1": "S", "city_locality": "C", "state_province": "NV", "postal_code": "89501", "country_code": "US"}`
	shipengineBody  = `{"shipments": [{"external_shipment_id": "REF1", "carrier_id": "se-123890", "service_code": "usps_ground_advantage",
		"ship_to": ` + shipengineParty + `, "ship_from": ` + shipengineParty + `,
		"packages": [{"weight": {"value": 51.2, "unit": "ounce"}, "dimensions": {"unit": "inch", "length": 11.9, "width": 7.9, "height": 4.8}}]}]}`
)

func shipengineMadeFor(t *testing.T, b *testBundle, reference string) (id string) {
	t.Helper()
	body := strings.Replace(shipengineBody, "REF1", reference, 1)
	status, _, answer := send(t, b.request(t, "POST", "/shipengine/v1/shipments", body))
	require.Equal(t, 200, status, "%v", answer)
	require.Equal(t, false, answer["has_errors"])
	require.Empty(t, at(answer, "shipments", 0, "errors"))
	return at(answer, "shipments", 0, "shipment_id").(string)
}

func shipengineBuying(t *testing.T, b *testBundle, id, body string) *http.Request {
	t.Helper()
	return b.request(t, "POST", "/shipengine/v1/labels/shipment/"+id, body)
}

func shipengineBought(t *testing.T, b *testBundle, id string) map[string]any {
	t.Helper()
	status, _, answer := send(t, shipengineBuying(t, b, id, `{"label_format": "zpl", "label_layout": "4x6"}`))
	require.Equal(t, 200, status, "%v", answer)
	return answer
}

func TestShipEngineFaults(t *testing.T) {
	t.Parallel()
	testWire(t, Lookup, wire{
		order: func(t *testing.T, b *testBundle, reference string) *http.Request {
			t.Helper()
			return shipengineBuying(t, b, shipengineMadeFor(t, b, reference), `{}`)
		},
		reference: func(a map[string]any) any { return a["external_shipment_id"] },
		tracking:  func(a map[string]any) any { return a["tracking_number"] },
		status:    200, refused: 400, late: 504,
		lookup: func(t *testing.T, b *testBundle, reference string) int {
			t.Helper()
			_, _, list := send(t, b.request(t, "GET", "/shipengine/v1/labels", ""))
			status, _, _ := send(t, b.request(t, "GET", "/shipengine/v1/labels/external_shipment_id/"+reference, ""))
			require.Equal(t, len(list["labels"].([]any)) == 1, status == 200)
			return len(list["labels"].([]any))
		},
	})
}

func TestShipEngineExternalIDIsUnique(t *testing.T) {
	t.Parallel()
	b := &testBundle{path: t.TempDir() + "/ledger.jsonl", now: testStart}
	stop := b.start(t, nil)
	id := shipengineMadeFor(t, b, "REF1")
	again := func() {
		status, _, answer := send(t, b.request(t, "POST", "/shipengine/v1/shipments", shipengineBody))
		require.Equal(t, 400, status)
		require.Equal(t, "identifier_conflict", at(answer, "errors", 0, "error_code"))
		_, _, found := send(t, b.request(t, "GET", "/shipengine/v1/shipments/external_shipment_id/REF1", ""))
		require.Equal(t, id, found["shipment_id"])
	}
	again()
	require.Empty(t, b.Entries(), "a shipment costs nothing")
	shipengineBought(t, b, id)
	unsold := shipengineMadeFor(t, b, "REF2")
	stop()
	b.start(t, nil)
	again()
	status, _, _ := send(t, shipengineBuying(t, b, unsold, `{}`))
	require.Equal(t, 200, status, "what was not bought is remembered")
	require.Equal(t, strings.Repeat("R", 50), func() any {
		made := shipengineMadeFor(t, b, strings.Repeat("R", 60))
		_, _, found := send(t, b.request(t, "GET", "/shipengine/v1/shipments/"+made, ""))
		return found["external_shipment_id"]
	}(), "what is too long is cut off")
}

func TestShipEngineLabel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := shipengineMadeFor(t, b, "REF1")
	label := shipengineBought(t, b, id)
	require.Equal(t, label["label_id"], b.Entries()[0].LabelID)
	require.InDelta(t, 6.45, at(label, "shipment_cost", "amount"), 0.0001)
	require.Equal(t, "usd", at(label, "shipment_cost", "currency"))
	require.Equal(t, "completed", label["status"])
	for _, path := range []string{label["label_id"].(string), "external_shipment_id/REF1"} {
		_, _, found := send(t, b.request(t, "GET", "/shipengine/v1/labels/"+path, ""))
		require.Equal(t, label, found)
	}
	_, _, shipment := send(t, b.request(t, "GET", "/shipengine/v1/shipments/"+id, ""))
	require.Equal(t, "label_purchased", shipment["shipment_status"])

	for member, begin := range map[string]string{"href": "^XA", "pdf": "%PDF", "png": "\x89PNG"} {
		path, ours := strings.CutPrefix(at(label, "label_download", member).(string), b.url)
		require.True(t, ours)
		status, file := b.callRaw(t, "GET", path, "")
		require.Equal(t, 200, status)
		require.True(t, strings.HasPrefix(string(file), begin))
	}
	_, _, inline := send(t, shipengineBuying(t, b, id, `{"label_download_type": "inline"}`))
	require.Contains(t, at(inline, "label_download", "href"), "data:application/pdf;base64,")
	require.Len(t, b.Entries(), 2, "a shipment can be bought again")
}

func TestShipEngineListPages(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := shipengineMadeFor(t, b, "REF1")
	var ids []any
	for range 3 {
		ids = append(ids, shipengineBought(t, b, id)["label_id"])
	}
	shipengineBought(t, b, shipengineMadeFor(t, b, "REF2"))
	list := func(query string) (found []any, next any) {
		_, _, page := send(t, b.request(t, "GET", "/shipengine/v1/labels?"+query, ""))
		for _, label := range page["labels"].([]any) {
			found = append(found, at(label, "label_id"))
		}
		return found, at(page, "links", "next", "href")
	}
	found, next := list("shipment_id=" + id + "&page_size=2")
	require.Equal(t, []any{ids[2], ids[1]}, found, "youngest first")
	_, query, _ := strings.Cut(next.(string), "?")
	found, next = list(query)
	require.Equal(t, []any{ids[0]}, found)
	require.Empty(t, next)
	found, _ = list("page=9")
	require.Empty(t, found)
	found, _ = list("sort_dir=asc&shipment_id=" + id)
	require.Equal(t, ids, found)

	status, _, _ := send(t, b.request(t, "GET", "/shipengine/v1/labels?page=0", ""))
	require.Equal(t, 400, status)
	require.NoError(t, b.SetFaults(Faults{Mode: Blind}))
	for _, path := range []string{"labels", "labels/external_shipment_id/REF1", "shipments/external_shipment_id/REF1", "shipments/" + id} {
		status, _, _ = send(t, b.request(t, "GET", "/shipengine/v1/"+path, ""))
		require.Equal(t, 404, status, path)
	}
}

func TestShipEngineVoid(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	id := shipengineBought(t, b, shipengineMadeFor(t, b, "REF1"))["label_id"].(string)
	void := func(id string) (int, map[string]any) {
		status, _, answer := send(t, b.request(t, "PUT", "/shipengine/v1/labels/"+id+"/void", ""))
		return status, answer
	}
	status, answer := void(id)
	require.Equal(t, 200, status)
	require.Equal(t, true, answer["approved"])
	status, answer = void(id)
	require.Equal(t, 200, status)
	require.Equal(t, false, answer["approved"])
	require.Equal(t, "label_already_voided", answer["reason_code"])
	status, _ = void("se-none")
	require.Equal(t, 404, status)
	_, _, label := send(t, b.request(t, "GET", "/shipengine/v1/labels/"+id, ""))
	require.Equal(t, "voided", label["status"])
	require.Equal(t, true, label["voided"])
}

func TestShipEngineAPIKey(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Secret = "TEST_k" })
	for key, want := range map[string]int{"": 401, "wrong": 401, "TEST_k": 200} {
		status, _, answer := send(t, b.request(t, "GET", "/shipengine/v1/carriers", "", "API-Key", key))
		require.Equal(t, want, status)
		require.NotEmpty(t, answer["request_id"])
	}
}

func TestShipEngineRefusesWhatIsNoOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, change := range map[string][2]string{
		"NotJSON":        {`{"shipments"`, `{{"shipments"`},
		"NoShipment":     {`"shipments": [`, `"shipments": [], "x": [`},
		"UnknownMember":  {`"carrier_id"`, `"weight_g": 1450, "carrier_id"`},
		"NoCarrier":      {"se-123890", ""},
		"UnknownService": {"usps_ground_advantage", "GroundAdvantage"},
		"NoUnit":         {`, "unit": "ounce"`, ""},
		"PluralUnit":     {"ounce", "ounces"},
		"WeightIsText":   {"51.2", `"51.2"`},
		"NoWeight":       {"51.2", "0"},
		"TooHeavy":       {`51.2, "unit": "ounce"`, `151, "unit": "pound"`},
		"Millimetres":    {"11.9", "300"},
		"NoName":         {`"name": "N", `, ""},
		"NoState":        {`"state_province": "NV", `, ""},
		"LongCountry":    {`"US"`, `"USA"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := strings.Replace(shipengineBody, change[0], change[1], 1)
			status, _, answer := send(t, b.request(t, "POST", "/shipengine/v1/shipments", body))
			require.Equal(t, 400, status)
			require.NotEmpty(t, at(answer, "errors", 0, "error_code"))
		})
	}
	t.Run("Purchase", func(t *testing.T) {
		t.Parallel()
		id := shipengineMadeFor(t, b, "REF9")
		for _, body := range []string{`{"label_format": "gif"}`, `{"label_download_type": "mail"}`, `{"x": 1}`, ``} {
			status, _, _ := send(t, shipengineBuying(t, b, id, body))
			require.Equal(t, 400, status)
		}
	})
	t.Cleanup(func() { require.Empty(t, b.Entries()) })
}
