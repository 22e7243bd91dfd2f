package report

import (
	"fmt"
	"strings"
	"time"

	"waybill/reconcile/invoice"
)

// longDate is a day as a letter has it.
func longDate(d invoice.Date) string {
	if d == 0 {
		return ""
	}
	return d.Start(time.UTC).Format("2 January 2006")
}

// printed is an amount for reading: thousands apart, and a minus sign that is one.
func printed(m summaryMoney) string {
	whole, fraction, point := strings.Cut(m.Decimal, ".")
	out := group(whole)
	if point {
		out += "." + fraction
	}
	return out
}

func grouped(n int64) string { return group(fmt.Sprint(n)) }

func group(digits string) string {
	digits, negative := strings.CutPrefix(digits, "-")
	var out strings.Builder
	if negative {
		out.WriteString("−")
	}
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return out.String()
}

// plural is a number and what it counts.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// listed joins what is named one after another.
func listed(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// sentence is a name of the schema as a sentence begins.
func sentence(name string) string {
	name = words(name)
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
