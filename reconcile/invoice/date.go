package invoice

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Date is a civil day, counted from 1970-01-01: carriers print dates without a zone, and days are
// all that reconciliation counts in. 0 means no date.
type Date int32

const secondsPerDay = 24 * 60 * 60

var errDate = errors.New("a date must be written YYYY-MM-DD")

// ParseDate reads YYYY-MM-DD and nothing else: 03/04/2026 is two different days.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, errDate
	}
	d := Date(t.Unix() / secondsPerDay) //nolint:gosec // G115: the year has four digits.
	if d <= 0 {
		return 0, errDate
	}
	return d, nil
}

// ParseDateAs reads a day in the first of the layouts that fits. Layouts are those of package time; a
// dialect lists the forms that its carrier documents, and no two of them may read one text as two days.
func ParseDateAs(s string, layouts ...string) (Date, error) {
	for _, layout := range layouts {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if d := DateOf(t, time.UTC); d > 0 {
			return d, nil
		}
	}
	return 0, fmt.Errorf("a date must be written like %s", strings.Join(layouts, " or "))
}

// DateOf is the day that an instant falls on in a zone.
func DateOf(t time.Time, zone *time.Location) Date {
	year, month, day := t.In(zone).Date()
	//nolint:gosec // G115: an instant of the database or of an argument; 32 bits end in the year 5 million.
	return Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay)
}

// Start is the instant at which the day begins in a zone.
func (d Date) Start(zone *time.Location) time.Time {
	year, month, day := time.Unix(int64(d)*secondsPerDay, 0).UTC().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// String is YYYY-MM-DD, and empty for no date.
func (d Date) String() string {
	if d == 0 {
		return ""
	}
	return time.Unix(int64(d)*secondsPerDay, 0).UTC().Format(time.DateOnly)
}
