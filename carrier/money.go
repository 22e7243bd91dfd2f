package carrier

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in minor units (cents) of an ISO 4217 currency. Amounts of different
// currencies are never added.
type Money struct {
	Cents    int64
	Currency string
}

// maxCents bounds one amount: a million lines of it still add up inside 64 bits.
const maxCents = 1_000_000_000_000

// Errors of [ParseCents]. Their texts tell a person what to change.
var (
	ErrAmountForm     = errors.New("an amount is digits with at most one decimal point, such as -12.40")
	ErrAmountDecimals = errors.New("the amount has more decimals than its currency")
	ErrAmountSize     = errors.New("the amount is beyond 10,000,000,000.00")
)

// digits lists the currencies of ISO 4217 that do not have two decimals.
var digits = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0,
	"RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
}

// Decimals is how many decimals the currency has by ISO 4217.
func Decimals(currency string) int {
	if n, ok := digits[currency]; ok {
		return n
	}
	return 2
}

// IsCurrency tells whether s looks like a code of ISO 4217: three capital letters.
func IsCurrency(s string) bool {
	return len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// ParseCents reads a decimal amount with "." into minor units of its currency, without a float
// on the way. It refuses what it would have to guess at: grouping marks, decimal commas,
// parentheses, exponents, a currency sign, more decimals than the currency has.
func ParseCents(s, currency string) (int64, error) {
	unsigned, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(unsigned, ".")
	if whole == "" || point && fraction == "" || !isDigits(whole) || !isDigits(fraction) {
		return 0, ErrAmountForm
	}
	places := Decimals(currency)
	if len(fraction) > places {
		return 0, ErrAmountDecimals
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > len(strconv.Itoa(maxCents)) {
		return 0, ErrAmountSize
	}
	cents, err := strconv.ParseInt("0"+whole+fraction+strings.Repeat("0", places-len(fraction)), 10, 64)
	if err != nil || cents > maxCents {
		return 0, ErrAmountSize
	}
	if negative {
		cents = -cents
	}
	return cents, nil
}

// Decimal writes the amount as a decimal number, without its currency.
func (m Money) Decimal() string {
	places := Decimals(m.Currency)
	if places == 0 {
		return strconv.FormatInt(m.Cents, 10)
	}
	sign, cents := "", m.Cents
	if cents < 0 {
		sign, cents = "-", -cents
	}
	unit := int64(1)
	for range places {
		unit *= 10
	}
	return fmt.Sprintf("%s%d.%0*d", sign, cents/unit, places, cents%unit)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
