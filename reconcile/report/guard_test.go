package report_test

import (
	"encoding/csv"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"waybill/reconcile"
	"waybill/reconcile/report"
)

// hostile is what a customer's reference could hold: a formula, what ends a line or a cell, what turns
// the direction of writing, markup.
var hostile = []string{
	"=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r\n=1+1", "＝1+1", "\x00\x07\x1b[2J", "\u202eexe.pdf",
	"</td><script>alert(1)</script>", "\"; DROP TABLE labels; --", "a,b;c\"d", "\xff\xfe", "\u2028", "x\uFFFEy",
}

// withText puts a text in every text of a finding that comes from others.
func withText(s string) reconcile.Finding {
	f := finding(1, reconcile.BilledTwice)
	value := reflect.ValueOf(&f).Elem()
	for _, name := range []string{
		"Account", "InvoiceNo", "LineNo", "TrackingNo", "Reference", "CallerID", "IdempotencyKey", "OtherInvoiceNo", "Text",
		"Advice",
	} {
		value.FieldByName(name).SetString(s)
	}
	f.Source.File = s
	return f
}

func hostileReport(t *testing.T) map[string]string {
	t.Helper()
	run := told()
	var findings []reconcile.Finding
	for _, s := range hostile {
		findings = append(findings, withText(s))
		run.Files = append(run.Files, report.File{Name: s, SHA256: "aa", Ignored: []string{s}, Refused: s})
		run.Invoices = append(run.Invoices, placed(s, s, "USD", 840, map[reconcile.Bucket][]int64{reconcile.Matched: {840}}))
		run.Cleared = append(run.Cleared, withText(s))
	}
	r, dir := publish(t, parameters, findings, run)
	written := files(t, dir)
	written["terminal"] = printed(t, r, dir)
	return written
}

var signedNumber = regexp.MustCompile(`^-[0-9]+(\.[0-9]+)?$`)

func TestTablesGuardFormulas(t *testing.T) {
	t.Parallel()
	for name, content := range hostileReport(t) {
		if !strings.HasSuffix(name, ".csv") {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
		require.NoError(t, err, name)
		for _, row := range rows {
			for _, cell := range row {
				if !signedNumber.MatchString(cell) {
					require.NotRegexp(t, `^[=+\-@\t\r\n＝＋－＠]`, cell, name)
				}
			}
		}
	}
}

func TestOutputsHoldNoControlCharacters(t *testing.T) {
	t.Parallel()
	for name, content := range hostileReport(t) {
		if name == report.WorkbookName {
			content = workbookText(t, content)
		}
		if name == report.SummaryName {
			// JSON escapes them, as a program expects.
			require.NotRegexp(t, `[\x00-\x09\x0b-\x1f]`, content)
			continue
		}
		for _, r := range content {
			bad := r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028'
			require.False(t, bad, "%s holds %U", name, r)
		}
	}
}

func TestPageTakesTextForText(t *testing.T) {
	t.Parallel()
	page := hostileReport(t)[report.PageName]
	require.NotContains(t, page, "<script")
	require.Contains(t, page, "&lt;script&gt;")
}

func TestPageNeedsNothingElse(t *testing.T) {
	t.Parallel()
	_, dir := publish(t, parameters, everything(), told())
	page := files(t, dir)[report.PageName]
	require.NotRegexp(t, `(?i)https?:|<link|<img|<iframe|\bsrc=|\bhref=|url\(|@import| on[a-z]+=`, page)
	require.Contains(t, page, `content="default-src 'none'; style-src 'unsafe-inline'"`)
}

func TestWorkbookKeepsIdentifiersAsTextAndAmountsAsNumbers(t *testing.T) {
	t.Parallel()
	f := finding(1, reconcile.OverBilled, amounts(money(-123456, "KWD"), money(1, "KWD")))
	f.InvoiceNo, f.TrackingNo, f.Account, f.Reference = "0000376E74425", "00794612345678901234", "000042", "=1+1"
	_, dir := publish(t, parameters, []reconcile.Finding{f}, told())
	book := openWorkbook(t, files(t, dir)[report.WorkbookName])
	header, err := book.GetRows("Exceptions")
	require.NoError(t, err)
	cells := make(map[string]string)
	for i, name := range header[0] {
		cells[name], err = excelize.CoordinatesToCellName(i+1, 2)
		require.NoError(t, err)
	}
	for name, want := range map[string]string{
		"invoice_no": "0000376E74425", "tracking_no": "00794612345678901234", "account": "000042", "reference": "=1+1",
		"order_id": "1001",
	} {
		kind, err := book.GetCellType("Exceptions", cells[name])
		require.NoError(t, err)
		require.Equal(t, excelize.CellTypeInlineString, kind, name)
		got, err := book.GetCellValue("Exceptions", cells[name])
		require.NoError(t, err)
		require.Equal(t, want, got, name)
		formula, err := book.GetCellFormula("Exceptions", cells[name])
		require.NoError(t, err)
		require.Empty(t, formula, name)
	}
	for name, want := range map[string][2]string{
		"billed": {"-123.456", "-123.456"}, "expected": {"0.001", "0.001"}, "difference_minor": {"-123457", "-123457"},
		"invoice_date": {"46096", "2026-03-15"}, "parcel_no": {"1", "1"},
	} {
		raw, err := book.GetCellValue("Exceptions", cells[name], excelize.Options{RawCellValue: true})
		require.NoError(t, err)
		shown, err := book.GetCellValue("Exceptions", cells[name])
		require.NoError(t, err)
		require.Equal(t, want, [2]string{raw, shown}, name)
	}
	panes, err := book.GetPanes("Exceptions")
	require.NoError(t, err)
	require.True(t, panes.Freeze)
	require.Contains(t, book.GetDefinedName(), excelize.DefinedName{
		Name: "_xlnm._FilterDatabase", RefersTo: "'Exceptions'!$A$1:$AE$2", Scope: "Exceptions",
	})
}
