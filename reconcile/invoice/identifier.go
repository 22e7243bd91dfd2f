package invoice

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scientific is what a spreadsheet makes of a long number: one digit, maybe decimals, an exponent
// with its sign. "0000376E74425" is a good invoice number and does not match.
var scientific = regexp.MustCompile(`^-?[0-9]([.,][0-9]+)?[eE][+-][0-9]{1,3}$`)

// Corrupted tells whether an identifier went through a spreadsheet and lost its digits. They
// cannot be won back: the row is refused, never repaired.
func Corrupted(id string) bool {
	// Few identifiers have a sign in them, and a sign there must be.
	return strings.LastIndexAny(id, "+-") > 0 && scientific.MatchString(id)
}

// Damaged tells whether text cannot be kept: control characters, a NUL above all, or bytes that
// are not UTF-8.
func Damaged(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && !unicode.IsSpace(r)
	})
}

// CleanID takes off what surrounds an identifier without being part of it: the marks that keep a
// spreadsheet from reading it as a number (="…" and a leading apostrophe), and white space,
// around and inside. It never changes a letter or a digit.
func CleanID(s string) string {
	s = strings.TrimFunc(s, unicode.IsSpace)
	if inner, ok := strings.CutPrefix(s, `="`); ok {
		if inner, ok = strings.CutSuffix(inner, `"`); ok {
			s = inner
		}
	}
	s = strings.TrimPrefix(s, "'")
	if strings.IndexFunc(s, unicode.IsSpace) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// ours is the shape of the references that Waybill gives its labels.
var ours = regexp.MustCompile(`^WB[0-9A-V]{26}$`)

// OurReference picks, of all the references that a line carries, the one that has the shape of ours;
// where none has, it is empty. Others are their senders' own words: a customer types a name there, which
// must not get any further.
func OurReference(references ...string) string {
	for _, r := range references {
		if r = CleanID(r); ours.MatchString(r) {
			return r
		}
	}
	return ""
}
