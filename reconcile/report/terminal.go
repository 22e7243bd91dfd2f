package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"waybill/reconcile"
)

// maxInvoices is how many invoices are shown in full. All are in invoices.csv.
const maxInvoices = 10

// Print writes the published report for a person at a terminal, in its essentials. It is called after
// Publish.
func (r *Report) Print(to io.Writer) error {
	s := r.published
	w := bufio.NewWriter(to)
	p := s.Parameters
	since := "all labels"
	if p.Since != "" {
		since = "labels since " + p.Since
	}
	fmt.Fprintf(w, "Reconciliation of %s as of %s (%s), %s, %d days of grace\n\n",
		p.Carrier, p.AsOf, p.Timezone, since, p.GraceDays)
	printFiles(w, s.Files)
	printInvoices(w, s.Invoices)
	printRollforward(w, s.Rollforward)
	fmt.Fprintf(w, "Our own records\n  %s held against their labels\n\n", count(s.CompletedKeys, "completed key"))
	printFindings(w, s.Findings)
	printChanges(w, s.Changes)
	printClaims(w, s.Claims)
	r.tally.printUrgent(w)
	fmt.Fprintf(w, "Result: %s (exit status %d)\nFor a person: %s\nAll findings: %s\n", verdict(s.Result), s.ExitStatus,
		filepath.Join(r.dir, PageName), filepath.Join(r.dir, ExceptionsName))
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing the summary: %w", err)
	}
	return nil
}

// verdict is a result in words.
func verdict(r Result) string {
	switch r {
	case Clean:
		return "clean"
	case Findings:
		return "there are findings to look at"
	default:
		return "an input is incomplete or does not foot: mend it first, the rest may be wrong"
	}
}

func printFiles(w io.Writer, files []summaryFile) {
	fmt.Fprintln(w, "Files")
	for _, f := range files {
		state := count(f.Lines, "line")
		if f.Rejected > 0 {
			state += fmt.Sprintf(", %s rejected", count(f.Rejected, "row"))
		}
		if f.Refused != "" {
			state += ", " + f.Refused
		}
		if len(f.Ignored) > 0 {
			state += ", columns not read: " + strings.Join(f.Ignored, ", ")
		}
		fmt.Fprintf(w, "  %s  %s  %s\n", clean(f.Name), cmp.Or(f.Format, "(unknown format)"), clean(state))
	}
	fmt.Fprintln(w)
}

// printInvoices shows first what does not foot.
func printInvoices(w io.Writer, invoices []summaryInvoice) {
	shown := 0
	for _, foots := range []bool{false, true} {
		for _, i := range invoices {
			if i.Foots != foots || shown == maxInvoices {
				continue
			}
			shown++
			printInvoice(w, i)
		}
	}
	if hidden := len(invoices) - shown; hidden > 0 {
		fmt.Fprintf(w, "And %s in %s.\n\n", count(int64(hidden), "invoice"), InvoicesName)
	}
}

func printInvoice(w io.Writer, i summaryInvoice) {
	fmt.Fprintf(w, "Invoice %s of %s, account %s, %s\n", clean(i.InvoiceNo), i.Date, clean(i.Account), i.Currency)
	for _, b := range i.Buckets {
		if b.Lines > 0 {
			fmt.Fprintf(w, "  %-18s %14s  %s\n", words(b.Bucket), b.Amount.Decimal, count(b.Lines, "line"))
		}
	}
	fmt.Fprintf(w, "  %-18s %14s  %s\n", "sum", i.Sum.Decimal, count(i.Lines, "line"))
	foots := "foots"
	switch {
	case i.Stated == nil:
		fmt.Fprint(w, "  the file states no total\n\n")
		return
	case !i.Foots:
		foots = "DOES NOT FOOT"
	}
	fmt.Fprintf(w, "  %-18s %14s\n", "stated total", i.Stated.Decimal)
	fmt.Fprintf(w, "  %-18s %14s  %s\n\n", "difference", i.Difference.Decimal, foots)
}

func printRollforward(w io.Writer, all []rollforward) {
	for _, r := range all {
		fmt.Fprintf(w, "Labels in %s\n", r.Currency)
		for _, s := range r.States {
			fmt.Fprintf(w, "  %-18s %14s  %s\n", words(string(s.State)), s.Cost.Decimal, count(s.Labels, "label"))
		}
		fmt.Fprintf(w, "  %-18s %14s  %s\n", "bought", r.Bought.Cost.Decimal, count(r.Bought.Labels, "label"))
		fmt.Fprintf(w, "  %-18s %14s  adds up\n\n", "difference", r.Difference.Cost.Decimal)
	}
}

func printFindings(w io.Writer, totals []summaryFindings) {
	if len(totals) == 0 {
		return
	}
	fmt.Fprintln(w, "Findings")
	for _, t := range totals {
		difference := ""
		if t.Difference != nil {
			difference = t.Difference.Decimal + " " + t.Currency
		}
		fmt.Fprintf(w, "  %-8s %-22s %6d  %16s\n", t.Severity, words(string(t.Kind)), t.Count, difference)
	}
	fmt.Fprintln(w)
}

// printChanges is silent where no state is kept.
func printChanges(w io.Writer, c summaryChanges) {
	if !c.StateKept {
		return
	}
	fmt.Fprintln(w, c.heading())
	for _, row := range c.rows() {
		fmt.Fprintf(w, "  %-18s %6d\n", row.Name, row.Count)
	}
	fmt.Fprintln(w)
}

func (c summaryChanges) heading() string {
	if c.Since == "" {
		return "Since the run before"
	}
	return "Since the run of " + c.Since
}

// changesRow is how many findings there are of a state.
type changesRow struct {
	Name  string
	Count int64
}

func (c summaryChanges) rows() []changesRow {
	return []changesRow{
		{"new", c.New},
		{"still open", c.StillOpen},
		{"acknowledged", c.Acknowledged},
		{"disputed", c.Disputed},
		{"credited", c.Credited},
		{"cleared", c.Cleared},
	}
}

func printClaims(w io.Writer, all []summaryClaim) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "To claim")
	for _, c := range all {
		by := ""
		if c.DisputeBy != "" {
			by = ", the first by " + c.DisputeBy
		}
		fmt.Fprintf(w, "  %s, account %s: %s %s in %s%s: %s\n", clean(c.Carrier), clean(c.Account), c.Amount.Decimal,
			c.Currency, count(c.Count, "claim"), by, c.File)
	}
	fmt.Fprintln(w)
}

// printUrgent shows errors before warnings.
func (t *tally) printUrgent(w io.Writer) {
	shown := slices.Concat(t.errors, t.warnings)
	shown = shown[:min(len(shown), maxUrgent)]
	if len(shown) == 0 {
		return
	}
	fmt.Fprintln(w, "To look at")
	for _, f := range shown {
		fmt.Fprintf(w, "  %s\n", describe(f))
	}
	if more := t.urgent - int64(len(shown)); more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
	fmt.Fprintln(w)
}

// describe is a finding on one line.
func describe(f reconcile.Finding) string {
	parts := []string{words(string(f.Kind)) + ":"}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.TrackingNo != "" {
		add("%s", f.TrackingNo)
	}
	if f.OrderID != 0 {
		add("(order %d, parcel %d)", f.OrderID, f.ParcelNo)
	}
	if f.InvoiceNo != "" {
		add("on invoice %s", f.InvoiceNo)
	}
	if f.Billed.Currency != "" {
		add("billed %s %s", f.Billed.Decimal(), f.Billed.Currency)
	}
	if f.Expected.Currency != "" {
		add("expected %s %s", f.Expected.Decimal(), f.Expected.Currency)
	}
	add("[%s]", words(string(f.Why)))
	if source := f.Source.String(); source != "" {
		add("%s", source)
	}
	if f.Advice != "" {
		add("— %s", f.Advice)
	}
	return clean(strings.Join(parts, " "))
}

// count says how many of something, with its plural.
func count(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
