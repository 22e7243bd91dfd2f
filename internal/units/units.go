// Package units turns grams and millimetres into what carriers measure in, and back, without a float
// on the way: the ounce of a scale that rounds is a postage due.
package units

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
)

// Unit is how much of our own unit one of the carrier's is.
type Unit struct{ metric *big.Rat }

// The units of the carriers, exactly (international yard and pound agreement of 1959).
var (
	Ounce      = Unit{big.NewRat(28_349_523_125, 1_000_000_000)} // in grams
	Pound      = Unit{big.NewRat(45_359_237, 100_000)}           // in grams
	Kilogram   = Unit{big.NewRat(1_000, 1)}                      // in grams
	Inch       = Unit{big.NewRat(254, 10)}                       // in millimetres
	Centimetre = Unit{big.NewRat(10, 1)}                         // in millimetres
)

// FromMetric writes grams or millimetres in the unit, rounded up to so many decimals: what is too
// light on paper is surcharged, or returned. It has no superfluous zeros, and so is a JSON number too.
func (u Unit) FromMetric(v int64, decimals int) string {
	text := new(big.Rat).SetFrac(u.up(v, decimals), pow10(decimals)).FloatString(decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Steps is [Unit.FromMetric] as a number of the last of so many decimals.
func (u Unit) Steps(v int64, decimals int) int64 { return u.up(v, decimals).Int64() }

func (u Unit) up(v int64, decimals int) *big.Int {
	steps := new(big.Rat).Quo(big.NewRat(v, 1), u.step(decimals))
	up, rest := new(big.Int).QuoRem(steps.Num(), steps.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		up.Add(up, big.NewInt(1))
	}
	return up
}

// ErrNotANumber is returned for text that is not a plain decimal number.
var ErrNotANumber = errors.New("not a decimal number")

// number is what carriers write: no exponent, no sign.
var number = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,12})?$`)

// ToMetric reads a decimal number of the unit as grams or millimetres, to the nearest. What was
// rounded up on its way out comes back as at least what it was, and less than one step more: see
// [Unit.Step].
func (u Unit) ToMetric(text string) (int64, error) {
	if !number.MatchString(text) {
		return 0, ErrNotANumber
	}
	v, _ := new(big.Rat).SetString(text)
	v.Mul(v, u.metric)
	half := new(big.Rat).Add(v, big.NewRat(1, 2))
	return new(big.Int).Quo(half.Num(), half.Denom()).Int64(), nil
}

// Step is the size of the last of so many decimals in grams or millimetres, rounded up: by as much
// may a value differ that was sent with them and read again.
func (u Unit) Step(decimals int) int64 {
	step := u.step(decimals)
	return new(big.Int).Quo(step.Num(), step.Denom()).Int64() + 1
}

func (u Unit) step(decimals int) *big.Rat {
	return new(big.Rat).Quo(u.metric, new(big.Rat).SetInt(pow10(decimals)))
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
