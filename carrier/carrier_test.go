package carrier_test

import (
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// TestClass: what may be done after an unknown hangs on the age of the key, to the nanosecond.
func TestClass(t *testing.T) {
	t.Parallel()
	const (
		window = 24 * time.Hour
		margin = 4 * time.Hour
		last   = window - margin // the first moment at which the key is no longer trusted
	)
	keyed := &carrier.Key{Window: window, Margin: margin}
	lookup := &carrier.Lookup{Lag: time.Second, Processing: time.Minute}
	for name, tt := range map[string]struct {
		caps carrier.Capabilities
		age  time.Duration
		want carrier.Class
	}{
		"Nothing":              {carrier.Capabilities{}, 0, carrier.Blind},
		"VoidAloneIsBlind":     {carrier.Capabilities{Void: true}, 0, carrier.Blind},
		"Lookup":               {carrier.Capabilities{Lookup: lookup}, 0, carrier.ByLookup},
		"LookupNeverEnds":      {carrier.Capabilities{Lookup: lookup}, 1000 * window, carrier.ByLookup},
		"KeyFresh":             {carrier.Capabilities{Key: keyed}, 0, carrier.Keyed},
		"KeyAtItsLastMoment":   {carrier.Capabilities{Key: keyed}, last - 1, carrier.Keyed},
		"KeyInItsMargin":       {carrier.Capabilities{Key: keyed}, last, carrier.Blind},
		"KeyPastItsWindow":     {carrier.Capabilities{Key: keyed}, window + 1, carrier.Blind},
		"KeyThenLookup":        {carrier.Capabilities{Key: keyed, Lookup: lookup}, last, carrier.ByLookup},
		"KeyGoesBeforeLookup":  {carrier.Capabilities{Key: keyed, Lookup: lookup}, last - 1, carrier.Keyed},
		"KeyForEver":           {carrier.Capabilities{Key: &carrier.Key{}}, 1000 * window, carrier.Keyed},
		"KeyForEverWithMargin": {carrier.Capabilities{Key: &carrier.Key{Margin: margin}}, 1000 * window, carrier.Keyed},
		"MarginEatsTheWindow":  {carrier.Capabilities{Key: &carrier.Key{Window: margin, Margin: margin}}, 0, carrier.Blind},
		"KeyFromTheFuture":     {carrier.Capabilities{Key: keyed}, -time.Hour, carrier.Keyed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.caps.Class(tt.age))
		})
	}
}

func TestQuietPeriod(t *testing.T) {
	t.Parallel()
	require.Equal(t, 95*time.Second, carrier.Lookup{Lag: 5 * time.Second, Processing: 90 * time.Second}.QuietPeriod())
	require.Zero(t, carrier.Lookup{}.QuietPeriod())
}

func TestContentType(t *testing.T) {
	t.Parallel()
	for format, want := range map[carrier.Format]string{
		carrier.PDF: "application/pdf",
		carrier.PNG: "image/png",
		carrier.ZPL: "application/zpl",
		"":          "application/octet-stream",
		"text/html": "application/octet-stream", // never what a browser would run
		"PDF":       "application/octet-stream",
	} {
		require.Equal(t, want, format.ContentType(), format)
	}
}

// TestAnAddressIsNeverPrinted: whatever holds one, and however it is printed by mistake.
func TestAnAddressIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const canary = "canary"
	a := carrier.Address{
		Name: canary, Company: canary, Street1: canary, Street2: canary, City: canary, State: canary,
		PostalCode: canary, Country: canary, Phone: canary, Email: canary,
	}
	shipment := carrier.Shipment{ShipFrom: a, ShipTo: a}
	for name, value := range map[string]any{
		"Address":   a,
		"Pointer":   &a,
		"Shipment":  shipment,
		"PShipment": &shipment,
		"Purchase":  carrier.Purchase{Shipment: shipment},
		"Slice":     []carrier.Address{a},
		"Map":       map[string]carrier.Address{"to": a},
		"Any":       []any{a},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			require.NotContains(t, fmt.Sprintf(verb, value), canary, "%s of %s", verb, name)
			require.NotContains(t, strings.ToLower(fmt.Sprintf(verb, value)), fmt.Sprintf("%x", canary), "%s of %s", verb, name)
		}
	}
	require.NotContains(t, fmt.Errorf("sending to %v: %w", a, fmt.Errorf("at %s", a)).Error(), canary)
	// It is data all the same: it goes to the carrier and into the intent's row whole.
	text, err := json.Marshal(a)
	require.NoError(t, err)
	require.Equal(t, 10, strings.Count(string(text), canary))
}

func TestSanitise(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"Plain":              {"No delivery there.", "No delivery there."},
		"Empty":              {"", ""},
		"OnlySpaces":         {" \t\r\n ", ""},
		"NUL":                {"a\x00b", "a b"},
		"LineBreaks":         {"a\r\nb", "a  b"},
		"Escape":             {"a\x1b[31mb", "a [31mb"},
		"C1Control":          {"a\u0085b", "a b"},
		"DirectionOverride":  {"a\u202eb", "a b"},
		"ZeroWidth":          {"a\u200bb\ufeff", "a b"},
		"InvalidUTF8":        {"a\xff\xfeb", "a\uFFFDb"},
		"CutCharacter":       {"a\xe2\x82", "a\uFFFD"},
		"Surrogate":          {"a\xed\xa0\x80b", "a\uFFFDb"},
		"AroundIt":           {"\n a \x00", "a"},
		"300Bytes":           {strings.Repeat("x", 300), strings.Repeat("x", 300)},
		"301Bytes":           {strings.Repeat("x", 301), strings.Repeat("x", 300)},
		"CutBetweenRunes":    {strings.Repeat("é", 151), strings.Repeat("é", 150)},
		"CutInsideARune":     {"x" + strings.Repeat("é", 150), "x" + strings.Repeat("é", 149)},
		"SpaceBeforeTheCut":  {strings.Repeat("x", 299) + " yz", strings.Repeat("x", 299)},
		"SpacesBeforeTheCut": {strings.Repeat("x", 290) + strings.Repeat("\n", 20) + "y", strings.Repeat("x", 290)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, carrier.Sanitise(tt.text))
		})
	}
}

// FuzzSanitise holds that foreign text comes out storable and printable, and that what is safe stays
// as it is: a saved message that is sanitised again on its way out must be the same message.
func FuzzSanitise(f *testing.F) {
	for _, seed := range []string{
		"", "No delivery there.", "a\x00b", "\u202e", "\xff", strings.Repeat("x", 299) + " yz",
		strings.Repeat("é", 151), strings.Repeat("\uFFFD", 100) + "\xff", "\u2028\u2029",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := carrier.Sanitise(text)
		switch {
		case !utf8.ValidString(once), strings.ContainsFunc(once, unicode.IsControl):
			t.Fatalf("%q is not safe", once)
		case len(once) > 300:
			t.Fatalf("%d bytes are left", len(once))
		case strings.TrimSpace(once) != once:
			t.Fatalf("%q has space around it", once)
		case carrier.Sanitise(once) != once:
			t.Fatalf("%q became %q", once, carrier.Sanitise(once))
		}
	})
}
