package main

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// meaning reads a body the plain way, by names and not by types, and fills in the constants. It is
// false for bodies without a member that every request must have: they are refused before anybody
// asks for their fingerprint.
func meaning(body []byte) (map[string]any, bool) {
	var members map[string]jsontext.Value
	if json.Unmarshal(body, &members) != nil {
		return nil, false
	}
	m := map[string]any{"label_version": int64(1), "label_format": "pdf"}
	for name, raw := range members {
		m[name] = plain(raw)
	}
	for _, name := range []string{"order_id", "parcel_no", "service", "weight_g", "ship_to"} {
		if m[name] == nil {
			return nil, false
		}
	}
	if dimensions, ok := m["dimensions_mm"].(map[string]any); ok && len(dimensions) != 3 {
		return nil, false
	}
	return m, true
}

// plain makes a value of a JSON text: an exact integer, a string, or an object of values that are not
// empty, because an empty line of an address is none.
func plain(raw jsontext.Value) any {
	switch raw.Kind() {
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	case '{':
		var members map[string]jsontext.Value
		_ = json.Unmarshal(raw, &members)
		m := map[string]any{}
		for name, raw := range members {
			if value := plain(raw); value != "" {
				m[name] = value
			}
		}
		return m
	default:
		n, _ := strconv.ParseInt(string(raw), 10, 64)
		return n
	}
}

// FuzzFingerprint holds that two requests have one fingerprint if and only if they mean the same, and
// that one request has the same in any spelling.
func FuzzFingerprint(f *testing.F) {
	const smallest = `{"order_id":1,"parcel_no":1,"service":"ground","weight_g":1,"ship_to":{"name":"B"}}`
	for _, pair := range [][2]string{
		{validBody, smallest},
		{smallest, `{"ship_to":{"name":"\u0042","city":""},"label_version":1,"label_format":"pdf","weight_g":1,"service":"ground","parcel_no":1,"order_id":1}`},
		{`{"order_id":9007199254740993,"parcel_no":1,"service":"s","weight_g":1,"ship_to":{}}`, `{"order_id":9007199254740992,"parcel_no":1,"service":"s","weight_g":1,"ship_to":{}}`},
		{`{"order_id":-0,"parcel_no":1,"service":"s","weight_g":1,"ship_to":{}}`, `{"order_id":0,"parcel_no":1,"service":"s","weight_g":1,"ship_to":{},"ship_from":{}}`},
		{`{"order_id":1,"parcel_no":1,"service":"s\u2028","weight_g":1,"ship_to":{"name":"a","company":"b"}}`, `{"order_id":1,"parcel_no":1,"service":"s","weight_g":1,"ship_to":{"name":"b","company":"a"}}`},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]), uint64(1))
	}
	f.Fuzz(func(t *testing.T, one, other []byte, seed uint64) {
		wire, meant, ok := understood(one)
		if !ok {
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		respelled, _, ok := understood([]byte(write(random, meant)))
		if !ok || respelled.fingerprint() != wire.fingerprint() {
			t.Fatalf("%s in another spelling is another request", one)
		}
		otherWire, otherMeant, ok := understood(other)
		if !ok {
			return
		}
		if same := wire.fingerprint() == otherWire.fingerprint(); same != reflect.DeepEqual(meant, otherMeant) {
			t.Fatalf("fingerprints equal: %v\n%s\n%s", same, one, other)
		}
	})
}

// understood decodes a body both ways.
func understood(body []byte) (*labelRequest, map[string]any, bool) {
	var wire labelRequest
	if found, err := decodeStrict(body, &wire); err != nil || len(found) > 0 {
		return nil, nil, false
	}
	meant, ok := meaning(body)
	return &wire, meant, ok
}

var printableID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// FuzzRequestID holds that what comes back in a header and stands in the log can stand there.
func FuzzRequestID(f *testing.F) {
	for _, seed := range []string{"", "r-1", "a b", "a\r\nSet-Cookie: x=1", "\x00", "é", `{"a":1}`, "00000000-0000-0000-0000-000000000000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		got := requestID(http.Header{requestIDHeader: {sent}})
		if !printableID.MatchString(got) {
			t.Fatalf("%q became %q", sent, got)
		}
		if (got == sent) != printableID.MatchString(sent) {
			t.Fatalf("%q became %q", sent, got)
		}
	})
}

// FuzzPreferredWait holds that no header makes a request wait longer than it may, and that a wait is
// found in whatever company it comes.
func FuzzPreferredWait(f *testing.F) {
	for _, seed := range []string{
		"wait=10", `wait="10"`, "respond-async, wait=10; x=1", `x="a, wait=10`, "wait=99999999999999999999", "wait=-1", ",;=", `"\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		n, ok := preferredWait(http.Header{"Prefer": {line}})
		if n < 0 || n > maxWait || !ok && n != 0 {
			t.Fatalf("%q waits for %d", line, n)
		}
		again, fine := preferredWait(http.Header{"Prefer": {line, "wait=7"}})
		if ok && again != n || !ok && !fine && again != 0 {
			t.Fatalf("%q waits for %d, and for %d with a line below it", line, n, again)
		}
		if first, _ := preferredWait(http.Header{"Prefer": {"wait=7," + line}}); first != 7 {
			t.Fatalf("the first wait before %q is not the one that counts", line)
		}
	})
}

// FuzzIfMatch holds that a header of entity tags is read as it is written: what it names is found
// again, what cannot be read is refused, and no condition is taken for none.
func FuzzIfMatch(f *testing.F) {
	for _, seed := range []string{
		"", "*", `"v1"`, `W/"v1"`, `"a,b" , ,"v7"`, `"v1" "v2"`, `v1`, `"`, `W/`, `w/"v1"`, `"v9223372036854775808"`, `"é"`, "*,*", ",",
	} {
		f.Add(seed, int64(7))
	}
	f.Fuzz(func(t *testing.T, line string, revision int64) {
		m, ok := parseMatch([]string{line})
		if !ok {
			return
		}
		if !m.given || m.any == (len(m.tags) > 0) {
			t.Fatalf("%q is a condition and names nothing: %+v", line, m)
		}
		var spelled []string
		for _, tag := range m.tags {
			spelled = append(spelled, map[bool]string{true: "W/"}[tag.weak]+`"`+tag.text+`"`)
		}
		again, ok := parseMatch(spelled)
		if !m.any && (!ok || !reflect.DeepEqual(m, again)) {
			t.Fatalf("%q is %+v, and spelled again %+v", line, m, again)
		}
		for _, n := range m.condition() {
			if !strings.Contains(line, etag(n)) || !m.weakly(n) {
				t.Fatalf("%q does not name revision %d", line, n)
			}
		}
		if more, ok := parseMatch([]string{line, etag(revision)}); ok && !slices.Contains(more.condition(), revision) {
			t.Fatalf("%q and a line below it do not name revision %d", line, revision)
		}
	})
}

// FuzzCursor holds that a cursor has one spelling, and that what is none is refused.
func FuzzCursor(f *testing.F) {
	id := uuid.MustParse("018f3c1e-7a52-7c3d-9f10-3b6f0a1b2c3d")
	good := cursor{after: id, list: newListID("labels")}.String()
	for _, seed := range []string{"", good, good[1:], good + "A", strings.ToLower(good), strings.Repeat("A", len(good)), "\x00"} {
		f.Add(seed, id[:])
	}
	f.Fuzz(func(t *testing.T, text string, after []byte) {
		if c, ok := parseCursor(text); ok && c.String() != text {
			t.Fatalf("%q and %q are one cursor", text, c)
		}
		id, err := uuid.FromBytes(after)
		if err != nil || id == uuid.Nil {
			return
		}
		made := cursor{after: id, list: newListID(text)}
		if c, ok := parseCursor(made.String()); !ok || c != made {
			t.Fatalf("%v became %v", made, c)
		}
	})
}
