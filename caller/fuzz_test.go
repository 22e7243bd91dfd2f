package caller

import (
	"strings"
	"testing"
)

// FuzzKey holds that a key has one spelling, and that no other text is a key.
func FuzzKey(f *testing.F) {
	golden := Key{id: "AbCd1234", secret: "0123456789abcdefghijABCDEFGHIJzz"}
	whole := golden.Reveal()
	for _, seed := range []string{
		whole, "Bearer " + whole, "bearer  " + whole, whole + "0", whole[:len(whole)-1], strings.ToLower(whole),
		badAlphabet(golden), prefix, "", "Bearer ", "Basic " + whole,
	} {
		f.Add(seed, 20, byte('x'))
	}
	f.Fuzz(func(t *testing.T, text string, position int, wrong byte) {
		key, ok := parseKey(text)
		if ok != (len(text) == keyLen && key.Reveal() == text) {
			t.Fatalf("%q: accepted %v, as %q", text, ok, key.Reveal())
		}
		if ok && (!isBase62(key.id) || !isBase62(key.secret) || strings.Contains(key.String(), key.secret)) {
			t.Fatalf("%q gave the key %q", text, key)
		}
		if scheme, token, cut := strings.Cut(text, " "); !cut || !strings.EqualFold(scheme, "Bearer") {
			if _, ok := parseHeader(text); ok {
				t.Fatalf("%q is taken for a header", text)
			}
		} else if _, ok := parseHeader(text); ok {
			if _, ok := parseKey(strings.TrimLeft(token, " ")); !ok {
				t.Fatalf("%q is taken for a header", text)
			}
		}
		// One byte of a real key changed: the checksum must see it.
		if position >= 0 && position < len(whole) && whole[position] != wrong {
			altered := whole[:position] + string([]byte{wrong}) + whole[position+1:]
			if _, ok := parseKey(altered); ok {
				t.Fatalf("%q is taken for a key", altered)
			}
		}
	})
}
