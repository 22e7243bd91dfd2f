package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// cell is a value on its way into a table. A CSV has it as text; a workbook keeps its type, so that
// amounts can be added up there and identifiers keep their zeros.
type cell interface {
	// csv is the value as text; empty if it is not known.
	csv() string
}

type (
	// textCell is text, identifiers included: never a number, never a formula.
	textCell string
	// countCell is a number of ours that is never 0 if it is known.
	countCell int64
	// wholeCell is a number that may be 0.
	wholeCell int64
	// moneyCell is an amount in its currency's decimals; unknown without a currency.
	moneyCell carrier.Money
	// minorCell is an amount in minor units; unknown without a currency.
	minorCell carrier.Money
	// dateCell is a day.
	dateCell invoice.Date
	// noCell is a value that is not known.
	noCell struct{}
)

func (c textCell) csv() string { return guard(clean(string(c))) }

func (c countCell) csv() string {
	if c == 0 {
		return ""
	}
	return strconv.FormatInt(int64(c), 10)
}

func (c wholeCell) csv() string { return strconv.FormatInt(int64(c), 10) }

func (c moneyCell) csv() string {
	if c.Currency == "" {
		return ""
	}
	return carrier.Money(c).Decimal()
}

func (c minorCell) csv() string {
	if c.Currency == "" {
		return ""
	}
	return strconv.FormatInt(c.Cents, 10)
}

func (c dateCell) csv() string { return invoice.Date(c).String() }

func (noCell) csv() string { return "" }

// formulaMarks begin what a spreadsheet takes for a formula. The full-width ones are signs of the
// same meaning where East Asian text is typed.
const formulaMarks = "=+-@＝＋－＠"

// guard keeps a spreadsheet from running a cell as a formula. Such text comes from carriers and
// callers, and finance opens the file with a click.
func guard(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune(formulaMarks, first) {
		return "'" + s
	}
	return s
}

// clean shows in place of each control character, and of each mark that turns the direction of
// writing, that something was there. They break lines, hide text or show it backwards.
func clean(s string) string {
	s = strings.ToValidUTF8(s, string(unicode.ReplacementChar))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// row is the text of cells.
func row(cells []cell) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = c.csv()
	}
	return out
}
