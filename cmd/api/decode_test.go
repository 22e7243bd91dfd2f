package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/problem"
)

// validBody is a whole request; tests change parts of it.
const validBody = `{"order_id": 918273, "parcel_no": 1, "label_version": 1, "carrier": "sim", "service": "ground",
 "weight_g": 1450, "dimensions_mm": {"length": 300, "width": 200, "height": 120},
 "ship_from": {"name": "Ada", "company": "Mill", "street1": "1 High St", "city": "Bath", "postal_code": "BA1", "country": "GB"},
 "ship_to": {"name": "Bob", "street1": "2 Low St", "street2": "Flat 3", "city": "Reno", "state": "NV", "postal_code": "89501", "country": "US", "phone": "1", "email": "b@example.com"},
 "label_format": "pdf", "max_cost_cents": 2500}`

func TestDecodeWholeRequest(t *testing.T) {
	t.Parallel()

	var got labelRequest
	found, err := decodeStrict([]byte(validBody), &got)
	require.NoError(t, err)
	require.Empty(t, found)
	shipment := got.shipment(nil)
	cost := int64(2500)
	require.Empty(t, cmp.Diff(carrier.Shipment{
		Service:    "ground",
		WeightG:    1450,
		Dimensions: &carrier.Dimensions{Length: 300, Width: 200, Height: 120},
		ShipFrom: carrier.Address{
			Name: "Ada", Company: "Mill", Street1: "1 High St", City: "Bath", PostalCode: "BA1", Country: "GB",
		},
		ShipTo: carrier.Address{
			Name: "Bob", Street1: "2 Low St", Street2: "Flat 3", City: "Reno", State: "NV",
			PostalCode: "89501", Country: "US", Phone: "1", Email: "b@example.com",
		},
		Format:       carrier.PDF,
		MaxCostCents: &cost,
	}, shipment))
}

func TestDecodeRefusesWhatIsNoJSON(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct{ body, detail string }{
		"Empty":             {"", "empty"},
		"WhiteSpace":        {" \n\t", "empty"},
		"Truncated":         {`{"order_id": 1`, "ends in the middle"},
		"TrailingComma":     {`{"order_id": 1,}`, "not valid JSON at byte"},
		"TrailingValue":     {`{"order_id": 1} {}`, "more after the end"},
		"TrailingText":      {`{"order_id": 1} x`, "not valid JSON at byte"},
		"SingleQuotes":      {`{'order_id': 1}`, "not valid JSON at byte"},
		"Comment":           {`{"order_id": 1 /* one */}`, "not valid JSON at byte"},
		"NaN":               {`{"weight_g": NaN}`, "not valid JSON at byte"},
		"LeadingZero":       {`{"weight_g": 01}`, "not valid JSON at byte"},
		"PlusSign":          {`{"weight_g": +1}`, "not valid JSON at byte"},
		"DuplicateName":     {`{"weight_g": 1, "weight_g": 100}`, "two members of the same name"},
		"EscapedDuplicate":  {`{"weight_g": 1, "weight\u005fg": 100}`, "two members of the same name"},
		"NestedDuplicate":   {`{"ship_to": {"city": "a", "city": "b"}}`, "two members of the same name"},
		"UnknownDuplicate":  {`{"x": {"y": 1, "y": 2}}`, "two members of the same name"},
		"InvalidUTF8":       {"{\"service\": \"\xff\"}", "not valid UTF-8"},
		"OverlongUTF8":      {"{\"service\": \"\xc0\x80\"}", "not valid UTF-8"},
		"LoneSurrogate":     {`{"service": "\ud800"}`, "not valid JSON at byte"},
		"ReversedPair":      {`{"service": "\udc00\ud800"}`, "not valid JSON at byte"},
		"RawControl":        {"{\"service\": \"a\nb\"}", "not valid JSON at byte"},
		"ByteOrderMark":     {"\uFEFF{}", "not valid JSON at byte"},
		"UTF16":             {"{\x00}\x00", "not valid JSON at byte"},
		"DeepArray":         {strings.Repeat("[", 33) + strings.Repeat("]", 33), "nested more than 32"},
		"DeepObject":        {strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33), "nested more than 32"},
		"HopelesslyDeep":    {strings.Repeat("[", maxBody), "nested more than 32"},
		"UnterminatedValue": {`{"service": "gro`, "ends in the middle"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got labelRequest
			_, err := decodeStrict([]byte(tt.body), &got)
			var refused *refusal
			require.ErrorAs(t, err, &refused)
			require.Equal(t, problem.MalformedJSON, refused.document.Code)
			require.Contains(t, refused.document.Detail, tt.detail)
		})
	}
}

func TestDecodeReportsEveryFault(t *testing.T) {
	t.Parallel()

	const (
		integer  = "must be an integer"
		exact    = "must be an integer, written without fraction or exponent"
		sixty    = "must be an integer that fits in 64 bits"
		text     = "must be a string"
		object   = "must be an object"
		null     = "must not be null; leave the member out instead"
		control  = "must not contain control characters"
		unknown  = "is not a member of this object; see the documentation"
		topLevel = "must be a JSON object"
	)
	for name, tt := range map[string]struct {
		body string
		want map[string]string
	}{
		"Array":        {`[]`, map[string]string{"": topLevel}},
		"String":       {`"x"`, map[string]string{"": topLevel}},
		"Number":       {`1`, map[string]string{"": topLevel}},
		"Null":         {`null`, map[string]string{"": null}},
		"Fraction":     {`{"order_id": 1.0}`, map[string]string{"/order_id": exact}},
		"Exponent":     {`{"order_id": 1e3}`, map[string]string{"/order_id": exact}},
		"Half":         {`{"weight_g": 1.5}`, map[string]string{"/weight_g": exact}},
		"Huge":         {`{"weight_g": 1e400}`, map[string]string{"/weight_g": exact}},
		"PastInt64":    {`{"order_id": 9223372036854775808}`, map[string]string{"/order_id": sixty}},
		"BelowInt64":   {`{"order_id": -9223372036854775809}`, map[string]string{"/order_id": sixty}},
		"QuotedNumber": {`{"order_id": "1"}`, map[string]string{"/order_id": integer}},
		"Bool":         {`{"order_id": true}`, map[string]string{"/order_id": integer}},
		"NotText":      {`{"service": 1, "ship_to": {"city": []}}`, map[string]string{"/service": text, "/ship_to/city": text}},
		"NotObjects": {
			`{"ship_to": "x", "ship_from": [], "dimensions_mm": 1}`,
			map[string]string{"/ship_to": object, "/ship_from": object, "/dimensions_mm": object},
		},
		"Nulls": {
			`{"carrier": null, "ship_to": {"street2": null}, "max_cost_cents": null, "x": null}`,
			map[string]string{"/carrier": null, "/ship_to/street2": null, "/max_cost_cents": null, "/x": null},
		},
		"NUL":       {`{"service": "a\u0000b"}`, map[string]string{"/service": control}},
		"LineBreak": {`{"ship_to": {"name": "a\nb"}}`, map[string]string{"/ship_to/name": control}},
		"Override":  {`{"ship_to": {"name": "a\u202eb"}}`, map[string]string{"/ship_to/name": control}},
		"Unknown": {
			`{"price": 1, "ship_to": {"zip": "1"}, "ship_from": {"zip": "1"}, "dimensions_mm": {"depth": 1}}`,
			map[string]string{"/price": unknown, "/ship_to/zip": unknown, "/ship_from/zip": unknown, "/dimensions_mm/depth": unknown},
		},
		"OtherCase":       {`{"Order_ID": 1}`, map[string]string{"/Order_ID": unknown}},
		"EscapedPointer":  {`{"a/b~c": 1}`, map[string]string{"/a~1b~0c": unknown}},
		"EmptyName":       {`{"": 1}`, map[string]string{"/": unknown}},
		"SeveralAtOnce":   {`{"order_id": "1", "service": 2, "x": 3}`, map[string]string{"/order_id": integer, "/service": text, "/x": unknown}},
		"LargestInteger":  {`{"order_id": 9223372036854775807}`, nil},
		"OtherAlphabets":  {`{"ship_to": {"name": "서울 \ud83d\ude00"}}`, nil},
		"NothingButBrace": {`{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got labelRequest
			found, err := decodeStrict([]byte(tt.body), &got)
			require.NoError(t, err)
			faultsByPointer := map[string]string{}
			for _, fault := range found {
				faultsByPointer[fault.Pointer] = fault.Detail
			}
			require.Empty(t, cmp.Diff(orEmpty(tt.want), faultsByPointer))
		})
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()

	var body strings.Builder
	body.WriteString(`{"` + strings.Repeat("é", 10_000) + `": 1`)
	for i := range 5000 {
		fmt.Fprintf(&body, `, "x%d": 1`, i)
	}
	body.WriteString("}")
	var got labelRequest
	found, err := decodeStrict([]byte(body.String()), &got)
	require.NoError(t, err)
	require.Len(t, found, maxFaults)
	for _, fault := range found {
		require.LessOrEqual(t, len(fault.Pointer), maxPointer)
	}
}

// maxAnswer bounds a refusal: fifty faults whose pointers are all escapes, and room for the rest.
const maxAnswer = maxFaults*(6*maxPointer+200) + 1000

// FuzzDecode looks for bodies that break the decoder, and for requests whose meaning the fingerprint
// does not keep.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(validBody))
	f.Add([]byte(`{"order_id": 9007199254740993, "ship_to": {"name": "\u0000"}, "x": null}`))
	f.Add([]byte(`[{"a": [1.5e300, "\ud800"]}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var wire labelRequest
		found, err := decodeStrict(body, &wire)
		if err != nil {
			var refused *refusal
			if !errors.As(err, &refused) || refused.document.Code != problem.MalformedJSON {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		pointers := map[string]bool{}
		for _, fault := range found {
			pointers[fault.Pointer] = true
		}
		if len(pointers) != len(found) {
			t.Fatalf("a member is named twice: %v", slices.Sorted(maps.Keys(pointers)))
		}
		if len(found) > 0 {
			// What is echoed of the caller's own names can be said.
			document := problem.New(problem.InvalidRequest, "")
			document.Errors = found
			if text := document.Encode(); len(text) > maxAnswer {
				t.Fatalf("a refusal of %d bytes", len(text))
			}
			return
		}
		// The same request, decoded again from its canonical form, is the same request.
		canonical := wire.canonical()
		var again labelRequest
		if found, err := decodeStrict(canonical, &again); err != nil || len(found) > 0 {
			t.Fatalf("%s: %v, %v", canonical, found, err)
		}
		if string(again.canonical()) != string(canonical) {
			t.Fatalf("%s became %s", canonical, again.canonical())
		}
	})
}
