package report

import (
	"cmp"
	"strconv"

	"waybill/reconcile"
)

// ExceptionsName is the file with a row for each finding.
const ExceptionsName = "exceptions.csv"

// findingColumn is a column of exceptions.csv and of the workbook's first sheet.
type findingColumn struct {
	name string
	// width is that of the column in the workbook, in characters.
	width float64
	value func(f reconcile.Finding, p Parameters) cell
}

// exceptionColumns are the columns in order. New ones are added at the end.
var exceptionColumns = []findingColumn{
	{"finding_id", 25, textOf(func(f reconcile.Finding) string { return f.ID })},
	{"kind", 22, textOf(func(f reconcile.Finding) string { return string(f.Kind) })},
	{"severity", 10, textOf(func(f reconcile.Finding) string { return string(f.Severity) })},
	{"why", 34, textOf(func(f reconcile.Finding) string { return string(f.Why) })},
	{"carrier", 12, textOf(func(f reconcile.Finding) string { return f.Carrier })},
	{"account", 14, textOf(func(f reconcile.Finding) string { return f.Account })},
	{"invoice_no", 20, textOf(func(f reconcile.Finding) string { return f.InvoiceNo })},
	{"invoice_date", 12, dateOf(func(f reconcile.Finding) dateCell { return dateCell(f.InvoiceDate) })},
	{"line_no", 9, textOf(func(f reconcile.Finding) string { return f.LineNo })},
	{"tracking_no", 26, textOf(func(f reconcile.Finding) string { return f.TrackingNo })},
	{"reference", 20, textOf(func(f reconcile.Finding) string { return f.Reference })},
	{"order_id", 12, known(func(f reconcile.Finding) int64 { return f.OrderID })},
	{"parcel_no", 10, counted(func(f reconcile.Finding) int64 { return int64(f.ParcelNo) })},
	{"label_version", 13, counted(func(f reconcile.Finding) int64 { return int64(f.LabelVersion) })},
	{"label_id", 38, textOf(func(f reconcile.Finding) string { return f.LabelID })},
	{"intent_id", 38, textOf(func(f reconcile.Finding) string { return f.IntentID })},
	{"caller_id", 16, textOf(func(f reconcile.Finding) string { return f.CallerID })},
	{"idempotency_key", 26, textOf(func(f reconcile.Finding) string { return f.IdempotencyKey })},
	{"billed", 12, moneyOf(func(f reconcile.Finding) moneyCell { return moneyCell(f.Billed) })},
	{"billed_currency", 9, textOf(func(f reconcile.Finding) string { return f.Billed.Currency })},
	{"expected", 12, moneyOf(func(f reconcile.Finding) moneyCell { return moneyCell(f.Expected) })},
	{"expected_currency", 9, textOf(func(f reconcile.Finding) string { return f.Expected.Currency })},
	{"difference", 12, moneyOf(func(f reconcile.Finding) moneyCell { return moneyCell(f.Difference) })},
	{"difference_minor", 12, func(f reconcile.Finding, _ Parameters) cell { return minorCell(f.Difference) }},
	{"charge_text", 28, textOf(func(f reconcile.Finding) string { return f.Text })},
	{"source", 28, textOf(func(f reconcile.Finding) string { return f.Source.String() })},
	{"advice", 60, textOf(func(f reconcile.Finding) string { return cmp.Or(f.Advice, guideTo(f.Kind).action) })},
	{"state", 13, textOf(func(f reconcile.Finding) string { return string(f.State) })},
	{"first_seen", 12, dateOf(func(f reconcile.Finding) dateCell { return dateCell(f.FirstSeen) })},
	{"dispute_by", 12, dateOf(func(f reconcile.Finding) dateCell { return dateCell(f.DisputeBy) })},
	{"age_days", 10, ageOf},
}

func textOf(of func(reconcile.Finding) string) func(reconcile.Finding, Parameters) cell {
	return func(f reconcile.Finding, _ Parameters) cell { return textCell(of(f)) }
}

func dateOf(of func(reconcile.Finding) dateCell) func(reconcile.Finding, Parameters) cell {
	return func(f reconcile.Finding, _ Parameters) cell { return of(f) }
}

func moneyOf(of func(reconcile.Finding) moneyCell) func(reconcile.Finding, Parameters) cell {
	return func(f reconcile.Finding, _ Parameters) cell { return of(f) }
}

func counted(of func(reconcile.Finding) int64) func(reconcile.Finding, Parameters) cell {
	return func(f reconcile.Finding, _ Parameters) cell { return countCell(of(f)) }
}

// known is an identifier that happens to be a number of ours: text, as every identifier.
func known(of func(reconcile.Finding) int64) func(reconcile.Finding, Parameters) cell {
	return func(f reconcile.Finding, _ Parameters) cell {
		if id := of(f); id != 0 {
			return textCell(strconv.FormatInt(id, 10))
		}
		return noCell{}
	}
}

// ageOf is how many days ago the finding was made first; unknown where no state is kept.
func ageOf(f reconcile.Finding, p Parameters) cell {
	if f.FirstSeen == 0 {
		return noCell{}
	}
	return wholeCell(p.AsOf - f.FirstSeen)
}

// exceptionHeader is the names of the columns.
func exceptionHeader() []string {
	names := make([]string, len(exceptionColumns))
	for i, c := range exceptionColumns {
		names[i] = c.name
	}
	return names
}

// exceptionCells is a finding as a row.
func exceptionCells(f reconcile.Finding, p Parameters) []cell {
	cells := make([]cell, len(exceptionColumns))
	for i, c := range exceptionColumns {
		cells[i] = c.value(f, p)
	}
	return cells
}
