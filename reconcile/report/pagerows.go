package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"waybill/carrier"
	"waybill/reconcile"
)

func pageStakes(s *summary) []stakesOf {
	var out []stakesOf
	for _, stake := range s.Stakes {
		if len(out) == 0 || out[len(out)-1].Currency != stake.Currency {
			out = append(out, stakesOf{Currency: stake.Currency})
		}
		last := &out[len(out)-1]
		b := bar{
			Label: guideTo(stake.Kind).title, Count: grouped(stake.Count), Amount: printed(stake.Amount),
			Tone: "over", value: stake.Amount.Minor,
		}
		if b.value < 0 {
			b.Tone = "under"
		}
		last.Bars = append(last.Bars, b)
	}
	for i := range out {
		out[i].Bars = lay(out[i].Bars)
	}
	return out
}

func pageClaims(claims []summaryClaim) []claimRow {
	var out []claimRow
	for _, c := range claims {
		out = append(out, claimRow{
			Carrier: clean(c.Carrier), Account: clean(c.Account), Count: grouped(c.Count),
			Amount: printed(c.Amount) + " " + c.Currency, DisputeBy: c.DisputeBy, File: c.File,
		})
	}
	return out
}

func pageFooting(all []summaryFooting) []footingOf {
	var out []footingOf
	for _, f := range all {
		shown := footingOf{
			Currency: f.Currency, Invoices: plural(f.Invoices, "invoice", "invoices"), Stated: printed(f.Stated),
			Sum: printed(f.Sum), Difference: printed(f.Difference), Foots: f.NotFooting == 0,
			NoTotals: f.WithoutTotal == f.Invoices,
		}
		if f.Unstated.Minor != 0 {
			shown.Unstated = printed(f.Unstated)
		}
		for _, b := range f.Buckets {
			if b.Lines > 0 || b.Amount.Minor != 0 {
				shown.Bars = append(shown.Bars, bar{
					Label: sentence(b.Bucket), Count: grouped(b.Lines), Amount: printed(b.Amount),
					Tone: bucketTone(b.Bucket), value: b.Amount.Minor,
				})
			}
		}
		shown.Bars = lay(shown.Bars)
		out = append(out, shown)
	}
	return out
}

// bucketTone shows money that is as it should be quietly.
func bucketTone(bucket string) string {
	switch bucket {
	case reconcile.Matched.String(), reconcile.Tolerated.String():
		return "fine"
	case reconcile.Taxes.String(), reconcile.InvoiceLevel.String(), reconcile.Cancelled.String(), reconcile.Rounding.String():
		return "quiet"
	default:
		return "over"
	}
}

// pageInvoices shows what does not foot first, then the largest.
func pageInvoices(all []summaryInvoice) (shown []invoiceRow, more string) {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b summaryInvoice) int {
		return cmp.Or(cmp.Compare(footed(a), footed(b)), cmp.Compare(a.Currency, b.Currency),
			cmp.Compare(b.Sum.Minor, a.Sum.Minor))
	})
	for _, i := range sorted[:min(len(sorted), maxPageInvoices)] {
		stated := ""
		if i.Stated != nil {
			stated = printed(*i.Stated) + " " + i.Currency
		}
		shown = append(shown, invoiceRow{
			Carrier: clean(i.Carrier), InvoiceNo: clean(i.InvoiceNo), Date: i.Date, Account: clean(i.Account),
			Currency: i.Currency, Stated: stated, Sum: printed(i.Sum), Difference: printed(i.Difference),
			Foots: i.Foots,
		})
	}
	if rest := len(all) - len(shown); rest > 0 {
		more = plural(int64(rest), "invoice", "invoices")
	}
	return shown, more
}

func footed(i summaryInvoice) int {
	if i.Foots {
		return 1
	}
	return 0
}

func pageLabels(all []rollforward) []labelsOf {
	var out []labelsOf
	for _, r := range all {
		shown := labelsOf{
			Currency: r.Currency, Bought: grouped(r.Bought.Labels), Cost: printed(r.Bought.Cost),
			Difference: grouped(r.Difference.Labels), DifferenceCost: printed(r.Difference.Cost),
		}
		for _, s := range r.States {
			shown.Segments = append(shown.Segments, segment{
				Label: sentence(string(s.State)), Count: grouped(s.Labels), Cost: printed(s.Cost),
				Tone: stateTone(s.State), value: s.Labels,
			})
		}
		shown.Segments = stack(shown.Segments)
		out = append(out, shown)
	}
	return out
}

func stateTone(s reconcile.LabelState) string {
	switch s {
	case reconcile.Billed, reconcile.BilledBefore:
		return "fine"
	case reconcile.Waiting:
		return "wait"
	case reconcile.Unbilled:
		return "under"
	case reconcile.VoidedClean, reconcile.Refunded:
		return "quiet"
	default:
		return "over"
	}
}

func pageAges(all []summaryVoidCredit) []agesOf {
	var out []agesOf
	for _, due := range all {
		if len(out) == 0 || out[len(out)-1].Currency != due.Currency {
			out = append(out, agesOf{Currency: due.Currency})
		}
		last := &out[len(out)-1]
		label := fmt.Sprintf("%d to %d days", due.FromDays, due.ToDays)
		if due.ToDays == 0 {
			label = fmt.Sprintf("%d days and more", due.FromDays)
		}
		last.Bars = append(last.Bars, bar{
			Label: label, Count: grouped(due.Count), Amount: printed(due.Amount), Tone: "over", value: due.Amount.Minor,
		})
	}
	for i := range out {
		out[i].Bars = lay(out[i].Bars)
	}
	return out
}

// pageTodo tells what to do about each kind that asks for it, in all currencies together: first about
// the inputs, because the rest may follow from them.
func pageTodo(totals []summaryFindings) []todo {
	counts := make(map[reconcile.Kind]int64)
	for _, t := range totals {
		counts[t.Kind] += t.Urgent
	}
	var out []todo
	inputsFirst := slices.SortedStableFunc(slices.Values(totals), func(a, b summaryFindings) int {
		return cmp.Compare(about(a.Kind), about(b.Kind))
	})
	for _, t := range inputsFirst {
		if counts[t.Kind] == 0 {
			continue
		}
		g := guideTo(t.Kind)
		out = append(out, todo{
			Title: g.title, Count: grouped(counts[t.Kind]), Action: g.action, Severity: string(t.Severity),
		})
		counts[t.Kind] = 0
	}
	return out
}

// about is 0 for kinds about an input.
func about(k reconcile.Kind) int {
	if k.Distrusts() {
		return 0
	}
	return 1
}

func pageFinding(f reconcile.Finding) findingRow {
	r := findingRow{
		Kind: guideTo(f.Kind).title, Severity: string(f.Severity), TrackingNo: clean(f.TrackingNo),
		InvoiceNo: clean(f.InvoiceNo), Why: sentence(string(f.Why)), DisputeBy: f.DisputeBy.String(),
		State: string(f.State), Currency: f.Difference.Currency,
		Billed: pageMoney(f.Billed), Expected: pageMoney(f.Expected), Difference: pageMoney(f.Difference),
	}
	if f.OrderID != 0 {
		r.Order = fmt.Sprintf("order %d, parcel %d", f.OrderID, f.ParcelNo)
	}
	if r.TrackingNo == "" && f.InvoiceNo == "" {
		r.TrackingNo = clean(f.Source.String())
	}
	if f.Advice != "" {
		r.Why = clean(f.Advice)
	}
	return r
}

func pageMoney(m carrier.Money) string {
	if m.Currency == "" {
		return ""
	}
	return printed(money(m.Cents, m.Currency)) + " " + m.Currency
}

func pageFiles(all []summaryFile) []fileRow {
	var out []fileRow
	for _, f := range all {
		row := fileRow{
			Name: clean(f.Name), Format: cmp.Or(f.Format, "unknown"), Lines: grouped(f.Lines),
			SHA256: f.SHA256[:min(12, len(f.SHA256))], Trouble: clean(f.Refused),
		}
		if f.Rejected > 0 {
			row.Trouble = strings.TrimSpace(plural(f.Rejected, "row", "rows") + " not taken. " + row.Trouble)
		}
		out = append(out, row)
	}
	return out
}

// outputNames are the files beside the page.
func (s *summary) outputNames() []string {
	return slices.Concat([]string{ExceptionsName, WorkbookName, InvoicesName, SummaryName}, claimFiles(s.Claims))
}
