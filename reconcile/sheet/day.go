package sheet

import (
	"strconv"
	"strings"
)

// dayOrder is a file's habit of writing dates with slashes: 03/04/2026 is two different days until
// another date of the file has a number above twelve.
type dayOrder struct{ dayFirst, monthFirst bool }

// learn takes a date of the file for what it shows.
func (o *dayOrder) learn(s string) {
	first, rest, ok := strings.Cut(s, "/")
	second, _, more := strings.Cut(rest, "/")
	if !ok || !more {
		return
	}
	o.dayFirst = o.dayFirst || beyondMonths(first)
	o.monthFirst = o.monthFirst || beyondMonths(second)
}

// layouts are how a date with slashes is to be read, or why it cannot be.
func (o *dayOrder) layouts(s string) (layouts []string, advice string) {
	own := dayOrder{}
	own.learn(s)
	if !o.dayFirst && !o.monthFirst {
		*o = own
	}
	switch {
	case o.dayFirst && o.monthFirst:
		return nil, "some dates of this file put the day first and some the month: fetch the file again"
	case o.dayFirst:
		return []string{"2/1/2006", "2/1/06"}, ""
	case o.monthFirst:
		return []string{"1/2/2006", "1/2/06"}, ""
	default:
		return nil, "nothing in this file says whether its dates put the day or the month first: " +
			"fetch the file again with dates as YYYY-MM-DD"
	}
}

func beyondMonths(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 12 && n <= 31
}
