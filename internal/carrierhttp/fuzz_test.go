package carrierhttp

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"waybill/carrier"
)

// FuzzRedact holds that a carrier's words, wherever they quote the shipment, do not get to the log.
func FuzzRedact(f *testing.F) {
	f.Add("ZOË MÜLLER does not live at 12 Fable St. (rear)", "Zoë Müller", "12 Fable St. (rear)", "", "")
	f.Add("abc", "ab", "bc", "", "")
	f.Add("a.b", "(?i)", "[", "", "")
	f.Add("\xff", "\xff", "K\u212a", "", "")
	f.Add("\uabf0", "\xb0", "", "", "")
	f.Add("AdaJones of Ada", "Mr Jones", "Ada", "", "")
	f.Add("call 1.503.555.0142 about 97205", "Ada Jones", "12 Elm Street", "97205-1234", "(503) 555-0142")
	f.Fuzz(func(t *testing.T, message, name, street, postalCode, phone string) {
		if len(message) > 4096 {
			return
		}
		address := carrier.Address{Name: name, Street1: street, PostalCode: postalCode, Phone: phone}
		out := redact(message, carrier.Shipment{ShipTo: address})
		// "(redacted)" is ours, and a value that spans one was not there before.
		left := strings.ReplaceAll(out, redacted, "\n")
		for _, value := range []string{name, street, postalCode, phone} {
			value = strings.TrimSpace(value)
			if value != "" && !strings.Contains(value, "\n") && strings.Contains(left, value) {
				t.Fatalf("%q is left in %q", value, out)
			}
		}
		for _, word := range strings.FieldsFunc(left, notLetterOrDigit) {
			if isPart(word, name) || slices.Contains(strings.Split(strings.TrimSpace(postalCode), "-"), word) && len(word) > 2 {
				t.Fatalf("the word %q is left in %q", word, out)
			}
		}
		if digits := strings.Map(digit, phone); len(digits) >= 5 && strings.Contains(left, digits) {
			t.Fatalf("the number %q is left in %q", digits, out)
		}
	})
}

func notLetterOrDigit(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Nd) }

// isPart tells whether one of the name's words of three letters is this one.
func isPart(word, name string) bool {
	plain := strings.ContainsFunc(word, unicode.IsDigit) || utf8.RuneCountInString(word) < 3
	return !plain && slices.ContainsFunc(strings.FieldsFunc(name, notLetterOrDigit), func(w string) bool { return strings.EqualFold(w, word) })
}

func digit(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}
