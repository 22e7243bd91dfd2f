package main

import (
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func mustDecode(t require.TestingT, body string) *labelRequest {
	var wire labelRequest
	found, err := decodeStrict([]byte(body), &wire)
	require.NoError(t, err)
	require.Empty(t, found)
	return &wire
}

// TestFingerprintGolden pins fingerprints for ever: stored intents are found by them. If this test
// fails, the code is wrong, not the test.
func TestFingerprintGolden(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct{ body, canonical, want string }{
		"Whole": {
			validBody,
			`{"order_id":918273,"parcel_no":1,"label_version":1,"carrier":"sim","service":"ground","weight_g":1450,` +
				`"dimensions_mm":{"length":300,"width":200,"height":120},` +
				`"ship_from":{"name":"Ada","company":"Mill","street1":"1 High St","city":"Bath","postal_code":"BA1","country":"GB"},` +
				`"ship_to":{"name":"Bob","street1":"2 Low St","street2":"Flat 3","city":"Reno","state":"NV",` +
				`"postal_code":"89501","country":"US","phone":"1","email":"b@example.com"},` +
				`"label_format":"pdf","max_cost_cents":2500}`,
			"bafb82a37d2173b13cf1ea667e6b8ef5dcada8ca16116de4abc9d1cb510213d5",
		},
		"Smallest": {
			`{"order_id":1,"parcel_no":1,"service":"ground","weight_g":1,"ship_to":{"name":"B","street1":"s","city":"c","country":"US"}}`,
			`{"order_id":1,"parcel_no":1,"label_version":1,"service":"ground","weight_g":1,` +
				`"ship_to":{"name":"B","street1":"s","city":"c","country":"US"},"label_format":"pdf"}`,
			"d5a0ff76b97417dd1f6ba0dfa1e7ae4120d204be9a456b11811f9a38956e5f2b",
		},
		"OtherAlphabets": {
			`{"order_id":9007199254740993,"parcel_no":2,"label_version":3,"service":"a<b>&\u2028\/","weight_g":1,` +
				`"ship_to":{"company":"\uc11c\uc6b8 \ud83d\ude00","street1":"\"\\","city":"é","country":"KR"},"label_format":"zpl"}`,
			`{"order_id":9007199254740993,"parcel_no":2,"label_version":3,"service":"a<b>&` + "\u2028" + `/","weight_g":1,` +
				`"ship_to":{"company":"서울 😀","street1":"\"\\","city":"é","country":"KR"},"label_format":"zpl"}`,
			"f3575b6b4c542357d647354e6132ffe8d759225051aa38803d0b5bf050c6d947",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := mustDecode(t, tt.body)
			require.Equal(t, tt.canonical, string(wire.canonical()))
			hash := wire.fingerprint()
			require.Equal(t, tt.want, hex.EncodeToString(hash[:]))
		})
	}
}

func TestFingerprintKeepsNumbersPastTwoToThe53(t *testing.T) {
	t.Parallel()

	// Both are 9007199254740992 in floating point, and so in canonical JSON of RFC 8785.
	one := mustDecode(t, strings.Replace(validBody, "918273", "9007199254740992", 1))
	other := mustDecode(t, strings.Replace(validBody, "918273", "9007199254740993", 1))
	require.NotEqual(t, one.fingerprint(), other.fingerprint())
}

func TestFingerprintSeesEveryMember(t *testing.T) {
	t.Parallel()

	seen := map[[32]byte]string{mustDecode(t, validBody).fingerprint(): "the request itself"}
	for _, change := range [][2]string{
		{`"order_id": 918273`, `"order_id": 918274`},
		{`"parcel_no": 1`, `"parcel_no": 2`},
		{`"label_version": 1`, `"label_version": 2`},
		{`"carrier": "sim"`, `"carrier": "sin"`},
		{`"carrier": "sim", `, ``},
		{`"service": "ground"`, `"service": "Ground"`},
		{`"weight_g": 1450`, `"weight_g": 1451`},
		{`"length": 300`, `"length": 301`},
		{`"width": 200`, `"width": 201`},
		{`"height": 120`, `"height": 121`},
		{`"name": "Ada"`, `"name": "Ade"`},
		{`"company": "Mill", `, ``},
		{`"street1": "1 High St"`, `"street1": "1  High St"`},
		{`"street2": "Flat 3", `, ``},
		{`"city": "Reno"`, `"city": "reno"`},
		{`"state": "NV"`, `"state": "CA"`},
		{`"postal_code": "89501"`, `"postal_code": "89502"`},
		{`"country": "US"`, `"country": "CA"`},
		{`"phone": "1"`, `"phone": "2"`},
		{`"email": "b@example.com"`, `"email": "c@example.com"`},
		{`"label_format": "pdf"`, `"label_format": "png"`},
		{`"max_cost_cents": 2500`, `"max_cost_cents": 2501`},
		{`, "max_cost_cents": 2500`, ``},
	} {
		require.Contains(t, validBody, change[0])
		hash := mustDecode(t, strings.Replace(validBody, change[0], change[1], 1)).fingerprint()
		require.Empty(t, seen[hash], "%s is like %s", change[1], seen[hash])
		seen[hash] = change[1]
	}
}

// TestFingerprintIsOfTheMeaning writes one request in many ways, and two requests in one way each.
func TestFingerprintIsOfTheMeaning(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		one, other := drawRequest(t, "one"), drawRequest(t, "other")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		written := mustDecode(t, write(random, one))
		rewritten := mustDecode(t, write(random, withConstants(one)))
		require.Equal(t, written.fingerprint(), rewritten.fingerprint())

		same := maps.EqualFunc(withConstants(one), withConstants(other), func(a, b any) bool {
			return string(encode(a)) == string(encode(b))
		})
		require.Equal(t, same, written.fingerprint() == mustDecode(t, write(random, other)).fingerprint())
	})
}

// drawRequest draws from few values, so that equal requests come up.
func drawRequest(t *rapid.T, label string) map[string]any {
	integer := rapid.SampledFrom([]int64{1, 2, 9007199254740992, 9007199254740993, 9223372036854775807})
	text := rapid.SampledFrom([]string{"a", "A", "\u00e9", "e\u0301", "\"\\/", "😀"})
	r := map[string]any{
		"order_id":  integer.Draw(t, label+" order"),
		"parcel_no": int64(1),
		"service":   text.Draw(t, label+" service"),
		"weight_g":  int64(1),
		"ship_to":   map[string]any{"city": text.Draw(t, label+" city")},
	}
	if rapid.Bool().Draw(t, label+" has carrier") {
		r["carrier"] = "sim"
	}
	if rapid.Bool().Draw(t, label+" has version") {
		r["label_version"] = int64(1)
	}
	if rapid.Bool().Draw(t, label+" has format") {
		r["label_format"] = "pdf"
	}
	return r
}

func withConstants(r map[string]any) map[string]any {
	r = maps.Clone(r)
	r["label_version"], r["label_format"] = int64(1), "pdf"
	return r
}

func encode(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return b
}

// write spells a request with its members in any order, any white space and any escapes.
func write(random *rand.Rand, r map[string]any) string {
	names := slices.Collect(maps.Keys(r))
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out strings.Builder
	out.WriteString("{")
	for i, name := range names {
		if i > 0 {
			out.WriteString(strings.Repeat(" ", random.IntN(3)) + ",\n")
		}
		out.Write(encode(name))
		out.WriteString(":" + strings.Repeat("\t", random.IntN(2)))
		value := jsontext.Value(encode(r[name]))
		if random.IntN(2) == 0 {
			escaped, err := json.Marshal(r[name], jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true))
			if err != nil {
				panic(err)
			}
			value = jsontext.Value(strings.ReplaceAll(string(escaped), "😀", `\ud83d\ude00`))
		}
		out.Write(value)
	}
	out.WriteString("}")
	return out.String()
}
