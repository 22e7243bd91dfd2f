package report

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"waybill/carrier"
	"waybill/reconcile"
)

// WorkbookName is the report as a workbook: all of exceptions.csv, and the summaries.
const WorkbookName = "exceptions.xlsx"

// The sheets of the workbook, in order.
const (
	sheetSummary    = "Summary"
	sheetExceptions = "Exceptions"
	sheetInvoices   = "Invoices"
	sheetLabels     = "Labels"
)

// maxSheetRows is how many findings fit on a sheet under its header.
const maxSheetRows = excelize.TotalRows - 1

// dayZero is 1970-01-01 as a workbook counts days.
const dayZero = 25569

// workbook is the workbook in the making. Findings go through a stream that keeps them on disk when
// they are many; the other sheets are small and held in memory.
type workbook struct {
	file   *excelize.File
	styles *styles
	stream *excelize.StreamWriter
	rows   int
	// beyond is how many findings did not fit.
	beyond int64
}

func newWorkbook(p Parameters) (*workbook, error) {
	w := &workbook{file: excelize.NewFile()}
	if err := w.begin(p); err != nil {
		return nil, errors.Join(fmt.Errorf("beginning %s: %w", WorkbookName, err), w.close())
	}
	return w, nil
}

func (w *workbook) begin(p Parameters) error {
	// No wall clock: the same run gives the same bytes on any day.
	made := p.AsOf.String() + "T00:00:00Z"
	err := w.file.SetDocProps(&excelize.DocProperties{
		Creator: "Waybill", LastModifiedBy: "Waybill", Created: made, Modified: made,
		Title: "Reconciliation of " + clean(p.Carrier) + " as of " + p.AsOf.String(),
	})
	if err != nil {
		return err
	}
	if err := w.file.SetSheetName("Sheet1", sheetSummary); err != nil {
		return err
	}
	for _, name := range []string{sheetExceptions, sheetInvoices, sheetLabels} {
		if _, err := w.file.NewSheet(name); err != nil {
			return err
		}
	}
	if w.styles, err = newStyles(w.file); err != nil {
		return err
	}
	return w.beginExceptions()
}

func (w *workbook) beginExceptions() error {
	var err error
	if w.stream, err = w.file.NewStreamWriter(sheetExceptions); err != nil {
		return err
	}
	for i, c := range exceptionColumns {
		if err := w.stream.SetColWidth(i+1, i+1, c.width); err != nil {
			return err
		}
	}
	if err := w.stream.SetPanes(frozenHeader()); err != nil {
		return err
	}
	var cells []any
	for _, name := range exceptionHeader() {
		cells = append(cells, excelize.Cell{StyleID: w.styles.header, Value: name})
	}
	return w.setRow(cells)
}

// frozenHeader keeps the first row in sight.
func frozenHeader() *excelize.Panes {
	return &excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}
}

func (w *workbook) setRow(cells []any) error {
	w.rows++
	return w.stream.SetRow("A"+strconv.Itoa(w.rows), cells)
}

// exception appends a finding. What does not fit on a sheet is counted, and all in exceptions.csv.
func (w *workbook) exception(cells []cell) error {
	if w.rows > maxSheetRows {
		w.beyond++
		return nil
	}
	typed := make([]any, len(cells))
	for i, c := range cells {
		style, value := w.styles.typed(c)
		typed[i] = excelize.Cell{StyleID: style, Value: value}
	}
	if err := w.setRow(typed); err != nil {
		return fmt.Errorf("writing %s: %w", WorkbookName, err)
	}
	return nil
}

// write ends the workbook and writes it down.
func (w *workbook) write(to *files, run Run, s *summary) error {
	o, err := to.create(WorkbookName)
	if err != nil {
		return err
	}
	if err := w.end(o, run, s); err != nil {
		return fmt.Errorf("writing %s: %w", WorkbookName, err)
	}
	return o.close()
}

func (w *workbook) end(to io.Writer, run Run, s *summary) error {
	if err := w.file.AutoFilter(sheetExceptions, filterRange(len(exceptionColumns), w.rows), nil); err != nil {
		return err
	}
	if err := w.stream.Flush(); err != nil {
		return err
	}
	if err := w.writeSummary(s); err != nil {
		return err
	}
	if err := w.writeInvoices(run.Invoices); err != nil {
		return err
	}
	if err := w.writeLabels(s.Rollforward); err != nil {
		return err
	}
	// Straight to the file: by itself the library holds the whole archive in memory first. Only one
	// sheet is streamed, because the library writes several in no order.
	w.file.SetZipWriter(func(io.Writer) excelize.ZipWriter { return zip.NewWriter(to) })
	return w.file.Write(io.Discard)
}

// filterRange is the header and the rows below it.
func filterRange(columns, rows int) string {
	name, _ := excelize.ColumnNumberToName(columns) // It fails for no number that columns have.
	return "A1:" + name + strconv.Itoa(max(rows, 1))
}

func (w *workbook) writeInvoices(invoices []*reconcile.Invoice) error {
	header := invoiceHeader()
	sheet := w.sheet(sheetInvoices)
	sheet.header(header...)
	for _, i := range invoices {
		sheet.row(invoiceCells(i)...)
	}
	sheet.widths(slices.Repeat([]float64{13}, len(header))...)
	sheet.widths(12, 14, 22, 12)
	sheet.table(len(header))
	return sheet.err
}

func (w *workbook) writeLabels(all []rollforward) error {
	sheet := w.sheet(sheetLabels)
	sheet.header("currency", "state", "labels", "cost")
	for _, r := range all {
		for _, state := range r.States {
			sheet.row(textCell(r.Currency), textCell(words(string(state.State))), wholeCell(state.Labels),
				moneyCell(state.Cost.of(r.Currency)))
		}
		sheet.strong(textCell(r.Currency), textCell("bought"), wholeCell(r.Bought.Labels),
			moneyCell(r.Bought.Cost.of(r.Currency)))
		sheet.row(textCell(r.Currency), textCell("difference"), wholeCell(r.Difference.Labels),
			moneyCell(r.Difference.Cost.of(r.Currency)))
	}
	sheet.widths(10, 24, 12, 16)
	sheet.table(4)
	return sheet.err
}

func (w *workbook) writeSummary(s *summary) error {
	sheet := w.sheet(sheetSummary)
	p := s.Parameters
	sheet.strong(textCell("Reconciliation of " + p.Carrier + " as of " + p.AsOf))
	sheet.row(textCell("Result"), textCell(verdict(s.Result)))
	sheet.row(textCell("Labels since"), textCell(p.Since))
	sheet.row(textCell("Time zone"), textCell(p.Timezone))
	sheet.row(textCell("Days of grace"), wholeCell(p.GraceDays))
	if w.beyond > 0 {
		sheet.row(textCell("Not on the sheet"), textCell(count(w.beyond, "finding")+" more than a sheet takes: see "+ExceptionsName))
	}
	sheet.gap()
	sheet.header("Findings", "severity", "count", "currency", "difference")
	for _, f := range s.Findings {
		difference := cell(noCell{})
		if f.Difference != nil {
			difference = moneyCell(f.Difference.of(f.Currency))
		}
		sheet.row(textCell(guideTo(f.Kind).title), textCell(string(f.Severity)), wholeCell(f.Count),
			textCell(f.Currency), difference)
	}
	sheet.gap()
	sheet.header("Invoices", "currency", "count", "not footing", "stated", "not stated", "sum", "difference")
	for _, f := range s.Footing {
		sheet.row(textCell("All"), textCell(f.Currency), wholeCell(f.Invoices), wholeCell(f.NotFooting),
			moneyCell(f.Stated.of(f.Currency)), moneyCell(f.Unstated.of(f.Currency)), moneyCell(f.Sum.of(f.Currency)), moneyCell(f.Difference.of(f.Currency)))
	}
	sheet.gap()
	sheet.header("Claims to make", "account", "count", "currency", "amount", "first dispute by", "file")
	for _, c := range s.Claims {
		sheet.row(textCell(c.Carrier), textCell(c.Account), wholeCell(c.Count), textCell(c.Currency),
			moneyCell(c.Amount.of(c.Currency)), textCell(c.DisputeBy), textCell(c.File))
	}
	sheet.gap()
	sheet.header("Since the run before", "count")
	for _, c := range s.Changes.rows() {
		sheet.row(textCell(c.Name), wholeCell(c.Count))
	}
	sheet.widths(34, 24, 14, 14, 16, 18, 36, 14)
	return sheet.err
}

func (w *workbook) close() error {
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", WorkbookName, err)
	}
	return nil
}

// of is the amount in its currency.
func (m summaryMoney) of(currency string) carrier.Money {
	return carrier.Money{Cents: m.Minor, Currency: currency}
}

// decimals is how many decimals a currency has.
func decimals(currency string) int {
	_, fraction, _ := strings.Cut(carrier.Money{Currency: currency}.Decimal(), ".")
	return len(fraction)
}
