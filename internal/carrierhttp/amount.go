package carrierhttp

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"strings"

	"waybill/carrier"
)

// ErrNoAmount is returned for what is neither a JSON number nor a string.
var ErrNoAmount = errors.New("not an amount")

// ErrForeignMoney is what a look-up ends in that finds a label in another currency than the account's.
// The label is ours and paid for, and no price limit can be held against it: a person must look.
var ErrForeignMoney = errors.New("the carrier shows a label whose price is not in the account's currency")

// Cents reads an amount of money as a carrier's answer has it, a JSON number or a string of one, in
// minor units of the currency and without a float on the way. Decimals that say nothing are passed
// over ("5.93000"); those that say something, exponents and signs other than "-" are refused.
func Cents(raw jsontext.Value, currency string) (int64, error) {
	text := string(raw)
	switch raw.Kind() {
	case '0':
	case '"':
		if json.Unmarshal(raw, &text) != nil {
			return 0, ErrNoAmount
		}
	default:
		return 0, ErrNoAmount
	}
	if whole, fraction, point := strings.Cut(text, "."); point && fraction != "" {
		text = strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".")
	}
	return carrier.ParseCents(text, currency)
}
