package carrierhttp

import (
	"strings"
	"unicode/utf8"

	"waybill/carrier"
)

// Redact takes the shipment's personal data out of a carrier's words, and makes the rest fit to be
// kept: a message is stored, logged and shown, an address is not.
//
// Whatever of an address is found is taken out, in capitals or not, and also what adapters make of it:
// the words of a name and of a company, the digits of a telephone number however they are written, the
// parts of a postal code.
func Redact(message string, s carrier.Shipment) string {
	return carrier.Sanitise(redact(message, s))
}

// maxRedacted is how long a message is searched; a longer one is no sentence. It is not cut, since the
// cut may go through a name.
const maxRedacted = 64 << 10

func redact(message string, s carrier.Shipment) string {
	if len(message) > maxRedacted {
		return ""
	}
	m := newMask(message)
	for _, a := range []carrier.Address{s.ShipTo, s.ShipFrom} {
		for _, value := range []string{a.Name, a.Company, a.Street1, a.Street2, a.City, a.PostalCode, a.Phone, a.Email} {
			if !utf8.ValidString(value) {
				return "" // it has no letters to look for: better no message than a leaking one
			}
			m.hide(value)
		}
		m.hideNumber(a.Phone)
	}
	words := personalWords(s)
	// A word may stand alone only when what stood beside it is gone: "AdaJones" of a town called Ada.
	for m.hideWords(words) {
	}
	return m.String()
}

// minWord is how many letters make a word, or digits and letters a part of a postal code: shorter ones
// are found in anything.
const minWord = 3

func personalWords(s carrier.Shipment) [][]rune {
	var words [][]rune
	for _, a := range []carrier.Address{s.ShipTo, s.ShipFrom} {
		for _, word := range strings.FieldsFunc(a.Name+" "+a.Company, notInWord) {
			if letters(word) >= minWord {
				words = append(words, fold(word))
			}
		}
		for _, part := range postalParts(a.PostalCode) {
			if len(part) >= minWord {
				words = append(words, fold(part))
			}
		}
	}
	return words
}

// postalParts are what is before and behind the hyphen of a postal code, and both together. A ZIP+4 may
// come without its hyphen.
func postalParts(code string) []string {
	code = strings.TrimSpace(code)
	before, behind, divided := strings.Cut(code, "-")
	if divided {
		return []string{before, behind, before + behind}
	}
	if len(code) == len("972051234") && strings.Trim(code, "0123456789") == "" {
		return []string{code[:5], code[5:], code[:5] + "-" + code[5:]}
	}
	return nil
}
