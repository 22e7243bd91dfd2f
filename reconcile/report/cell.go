package report

import (
	"strconv"
	"strings"

	"waybill/carrier"
)

// text keeps a spreadsheet from running a cell as a formula. Such text comes from carriers and
// callers, and finance opens the file with a click.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

// number leaves out what is not known.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func amount(m carrier.Money) string {
	if m.Currency == "" {
		return ""
	}
	return m.Decimal()
}

func minor(m carrier.Money) string {
	if m.Currency == "" {
		return ""
	}
	return strconv.FormatInt(m.Cents, 10)
}
