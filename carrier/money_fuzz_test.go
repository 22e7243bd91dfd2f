package carrier_test

import (
	"errors"
	"math/big"
	"regexp"
	"testing"

	"waybill/carrier"
)

var amount = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// FuzzParseCents holds amounts to exact arithmetic: what is accepted is what the text says, to the
// last minor unit, and what is refused is refused for a reason that is true.
func FuzzParseCents(f *testing.F) {
	for _, seed := range [][2]string{
		{"8.40", "USD"},
		{"-12.4", "EUR"},
		{"100", "JPY"},
		{"1.234", "KWD"},
		{"1.5", "JPY"},
		{"1e3", "USD"},
		{"0010000000000.00", "USD"},
		{"10000000000.01", "USD"},
		{"99999999999999999999", "USD"},
		{"-0.00", "USD"},
		{"1,000.00", "USD"},
		{"(5.00)", "USD"},
		{"٣", "USD"},
		{".5", "USD"},
		{"5.", "USD"},
		{"--5", "USD"},
		{"NaN", "USD"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, currency string) {
		cents, err := carrier.ParseCents(text, currency)
		if !amount.MatchString(text) {
			if !errors.Is(err, carrier.ErrAmountForm) {
				t.Fatalf("%q is taken for %d, %v", text, cents, err)
			}
			return
		}
		said, _ := new(big.Rat).SetString(text)
		minor := new(big.Rat).Mul(said, unit(currency))
		exact := minor.IsInt() && err == nil
		switch {
		case err == nil && (!exact || minor.Num().Cmp(big.NewInt(cents)) != 0):
			t.Fatalf("%q %s is taken for %d", text, currency, cents)
		case errors.Is(err, carrier.ErrAmountSize) && minor.Num().CmpAbs(big.NewInt(1_000_000_000_000)) <= 0 && minor.IsInt():
			t.Fatalf("%q %s is called too large", text, currency)
		case errors.Is(err, carrier.ErrAmountForm):
			t.Fatalf("%q is called malformed", text)
		case err != nil:
			return
		}
		again, err := carrier.ParseCents(carrier.Money{Cents: cents, Currency: currency}.Decimal(), currency)
		if err != nil || again != cents {
			t.Fatalf("%d %s is written and read as %d, %v", cents, currency, again, err)
		}
	})
}

// unit is how many minor units a major one has.
func unit(currency string) *big.Rat {
	digits := len(carrier.Money{Cents: 1, Currency: currency}.Decimal()) - len("0.")
	if digits < 0 {
		digits = 0
	}
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
}
