package sheet

import (
	"errors"
	"strings"

	"waybill/carrier"
)

// marks is a file's habit of writing amounts: which mark stands before the decimals. It is learnt from
// amounts that can be read in one way only, and holds for the whole file.
type marks struct {
	// decimal is '.' or ',', 0 while nothing has shown it.
	decimal byte

	// points and commas count what has shown either; the more frequent is the habit.
	points, commas int
}

var (
	errBothMarks = errors.New("most amounts of this file have the other mark before their decimals: " +
		"fetch the file again in one language")
	errEitherMark = errors.New("nothing in this file says whether the mark in this amount parts decimals or thousands: " +
		"fetch the file again with two decimals in every amount")
)

// cents reads an amount into minor units of its currency without a float on the way.
func (m *marks) cents(s, currency string) (int64, error) {
	plain, err := m.plain(s, currency)
	if err != nil {
		return 0, err
	}
	return carrier.ParseCents(exact(plain, currency), currency)
}

// exact takes away decimals beyond the currency's that say nothing: 8.40000 dollars are 8.40.
func exact(plain, currency string) string {
	places := carrier.Decimals(currency)
	whole, fraction, ok := strings.Cut(plain, ".")
	if !ok || fraction == "" {
		return plain
	}
	for len(fraction) > places && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// plain writes an amount with a decimal point and nothing else but its sign.
func (m *marks) plain(s, currency string) (string, error) {
	form := formOf(s)
	switch {
	case form == noForm, form == noMark:
		return s, nil
	case isZero(s):
		return "0", nil
	}
	if form == eitherMark && carrier.Decimals(currency) == 0 {
		// Three digits behind the mark of a currency without decimals are thousands.
		return dropMarks(s, markIn(s)), nil
	}
	switch decimal := form.decimal(s); {
	case m.decimal == 0 && decimal == 0:
		return "", errEitherMark
	case m.decimal != 0 && decimal != 0 && m.decimal != decimal:
		return "", errBothMarks
	case m.decimal == 0:
		m.decimal = decimal
	}
	grouping := other(m.decimal)
	return strings.Replace(dropMarks(s, grouping), string(m.decimal), ".", 1), nil
}

// learn takes an amount of the file for what it shows.
func (m *marks) learn(s string) {
	if isZero(s) {
		return
	}
	switch formOf(s).decimal(s) {
	case '.':
		m.points++
	case ',':
		m.commas++
	}
	switch {
	case m.points > m.commas:
		m.decimal = '.'
	case m.commas > m.points:
		m.decimal = ','
	}
}

// form is what the marks of an amount give away.
type form int

const (
	// noForm: not an amount that has marks in places where they could be.
	noForm form = iota

	// noMark: digits only.
	noMark

	// lastDecimal: the last mark parts decimals.
	lastDecimal

	// grouped: one mark more than once, so it parts thousands.
	grouped

	// eitherMark: one mark before three digits.
	eitherMark
)

// formOf looks at the marks: where they stand, and how many digits are behind the last.
func formOf(s string) form {
	s = strings.TrimPrefix(s, "-")
	if s == "" || strings.Trim(s, "0123456789.,") != "" {
		return noForm
	}
	last := strings.LastIndexAny(s, ".,")
	if last < 0 {
		return noMark
	}
	mark, whole, behind := s[last], s[:last], len(s)-last-1
	points, commas := strings.Count(s, "."), strings.Count(s, ",")
	switch {
	case points > 0 && commas > 0:
		if strings.IndexByte(whole, mark) >= 0 || !isGrouped(whole, other(mark)) {
			return noForm
		}
		return lastDecimal
	case points+commas > 1:
		if !isGrouped(s, mark) {
			return noForm
		}
		return grouped
	case behind == 3 && isGrouped(s, mark):
		return eitherMark
	}
	return lastDecimal
}

// isZero tells whether an amount is nothing, which it is whatever the mark: programs fill in 0.00 where people
// would write 0,00.
func isZero(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return strings.HasPrefix(s, "0") && strings.HasSuffix(s, "0") && strings.Trim(s, "0.,") == ""
}

// decimal is the decimal mark that the form proves, 0 if none.
func (f form) decimal(s string) byte {
	switch f {
	case lastDecimal:
		return s[strings.LastIndexAny(s, ".,")]
	case grouped:
		return other(markIn(s))
	case noForm, noMark, eitherMark:
	}
	return 0
}

// isGrouped tells whether the mark parts the digits into threes, with one to three before the first and
// no zero in front.
func isGrouped(s string, mark byte) bool {
	parts := strings.Split(s, string(mark))
	if n := len(parts[0]); n < 1 || n > 3 || parts[0][0] == '0' {
		return false
	}
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return false
		}
	}
	return true
}

func markIn(s string) byte { return s[strings.LastIndexAny(s, ".,")] }

func other(mark byte) byte {
	if mark == '.' {
		return ','
	}
	return '.'
}

func dropMarks(s string, mark byte) string { return strings.ReplaceAll(s, string(mark), "") }
