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

// maxInvoices is how many invoices are shown in full. All are in summary.json.
const maxInvoices = 10

// Print writes the published summary for a person. It is called after Publish.
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
	printLabels(w, s.Labels)
	fmt.Fprintf(w, "Our own records\n  %s held against their labels\n\n", count(s.CompletedKeys, "completed key"))
	r.printFindings(w, s.Findings)
	fmt.Fprintf(w, "Result: %s\nAll findings: %s\n", verdict(s.Result), filepath.Join(r.dir, ExceptionsName))
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing the summary: %w", err)
	}
	return nil
}

func verdict(r Result) string {
	switch r {
	case Clean:
		return "clean (exit status 0)"
	case Findings:
		return "there are findings to look at (exit status 1)"
	default:
		return "an input is incomplete or does not foot: mend it first, the rest may be wrong (exit status 3)"
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
		fmt.Fprintf(w, "  %s  %s  %s\n", f.Name, cmp.Or(f.Format, "(unknown format)"), state)
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
		fmt.Fprintf(w, "And %s in %s.\n\n", count(int64(hidden), "invoice"), SummaryName)
	}
}

func printInvoice(w io.Writer, i summaryInvoice) {
	fmt.Fprintf(w, "Invoice %s of %s, account %s, %s\n", i.InvoiceNo, i.Date, i.Account, i.Currency)
	for _, b := range i.Buckets {
		if b.Lines > 0 {
			fmt.Fprintf(w, "  %-18s %14s  %s\n", words(b.Bucket), b.Amount.Decimal, count(b.Lines, "line"))
		}
	}
	fmt.Fprintf(w, "  %-18s %14s  %s\n", "sum of lines", i.Sum.Decimal, count(i.Lines, "line"))
	fmt.Fprintf(w, "  %-18s %14s\n", "stated total", i.Stated.Decimal)
	foots := "foots"
	if !i.Foots {
		foots = "DOES NOT FOOT"
	}
	fmt.Fprintf(w, "  %-18s %14s  %s\n\n", "difference", i.Difference.Decimal, foots)
}

func printLabels(w io.Writer, labels []summaryLabels) {
	for _, l := range labels {
		fmt.Fprintf(w, "Labels in %s\n", l.Currency)
		for _, s := range l.States {
			fmt.Fprintf(w, "  %-18s %14s  %s\n", words(string(s.State)), s.Cost.Decimal, count(s.Labels, "label"))
		}
		fmt.Fprintf(w, "  %-18s %14s  %s\n\n", "bought", l.Cost.Decimal, count(l.Labels, "label"))
	}
}

func (r *Report) printFindings(w io.Writer, totals []summaryFindings) {
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
	shown := slices.Concat(r.errors, r.warnings)
	shown = shown[:min(len(shown), maxUrgent)]
	if len(shown) == 0 {
		return
	}
	fmt.Fprintln(w, "To look at")
	for _, f := range shown {
		fmt.Fprintf(w, "  %s\n", describe(f))
	}
	if more := r.urgent - len(shown); more > 0 {
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
		add("billed %s %s", amount(f.Billed), f.Billed.Currency)
	}
	if f.Expected.Currency != "" {
		add("expected %s %s", amount(f.Expected), f.Expected.Currency)
	}
	add("[%s]", words(string(f.Why)))
	if source := f.Source.String(); source != "" {
		add("%s", source)
	}
	if f.Advice != "" {
		add("— %s", f.Advice)
	}
	return strings.Join(parts, " ")
}

func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// count says how many of something, with its plural.
func count(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
