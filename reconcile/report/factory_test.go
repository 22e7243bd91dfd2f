package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
	"waybill/reconcile/report"
)

func day(s string) invoice.Date {
	d, err := invoice.ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

func money(cents int64, currency string) carrier.Money {
	return carrier.Money{Cents: cents, Currency: currency}
}

func usd(cents int64) carrier.Money { return money(cents, "USD") }

var parameters = report.Parameters{
	Carrier: "sim", AsOf: day("2026-03-31"), Since: day("2026-01-01"), Zone: time.UTC, GraceDays: 14, KeyTTL: "24h0m0s",
}

// finding is a finding about label n, charged on INV-1 unless a test says otherwise.
func finding(n int, kind reconcile.Kind, change ...func(*reconcile.Finding)) reconcile.Finding {
	f := reconcile.Finding{
		ID: fmt.Sprintf("F-%020x", n), Kind: kind, Severity: reconcile.Error, Why: reconcile.TwiceOnOneInvoice,
		Carrier: "sim", Account: "SIM-1", InvoiceNo: "INV-1", InvoiceDate: day("2026-03-15"), LineNo: fmt.Sprint(n),
		TrackingNo: fmt.Sprintf("SIM%06d", n), Reference: fmt.Sprintf("REF%06d", n), OrderID: int64(1000 + n),
		ParcelNo: 1, LabelVersion: 1, LabelID: fmt.Sprintf("0195a000-0000-7000-8000-%012d", n),
		IntentID: fmt.Sprintf("0195b000-0000-7000-8000-%012d", n), CallerID: "fulfilment",
		IdempotencyKey: fmt.Sprintf("label:%d:1:v1", 1000+n), Billed: usd(840), Expected: usd(0), Difference: usd(840),
		Text: "Ground", Source: invoice.Source{File: "a-first.csv", Row: n + 1},
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

func warning(f *reconcile.Finding) { f.Severity = reconcile.Warning }

func info(f *reconcile.Finding) { f.Severity = reconcile.Info }

func state(s reconcile.State, since string) func(*reconcile.Finding) {
	return func(f *reconcile.Finding) { f.State, f.FirstSeen = s, day(since) }
}

func why(r reconcile.Reason) func(*reconcile.Finding) {
	return func(f *reconcile.Finding) { f.Why = r }
}

func amounts(billed, expected carrier.Money) func(*reconcile.Finding) {
	return func(f *reconcile.Finding) {
		f.Billed, f.Expected = billed, expected
		f.Difference = money(billed.Cents-expected.Cents, expected.Currency)
	}
}

func voided(at string) func(*reconcile.Finding) {
	return func(f *reconcile.Finding) { f.VoidedAt = day(at).Start(time.UTC).Add(10 * time.Hour) }
}

func disputeBy(s string) func(*reconcile.Finding) {
	return func(f *reconcile.Finding) { f.DisputeBy = day(s) }
}

// unbilled is a finding about a label that no line bills.
func unbilled(f *reconcile.Finding) {
	f.InvoiceNo, f.InvoiceDate, f.LineNo, f.Text, f.Source = "", 0, "", "", invoice.Source{}
	f.Billed, f.Expected, f.Difference = carrier.Money{}, usd(840), usd(-840)
}

// everything is a finding of most kinds.
func everything() []reconcile.Finding {
	return []reconcile.Finding{
		finding(1, reconcile.BilledTwice, why(reconcile.OnAnotherInvoice), state(reconcile.New, "2026-03-31"),
			disputeBy("2026-09-11"), func(f *reconcile.Finding) { f.InvoiceNo, f.OtherInvoiceNo = "INV-2", "INV-1" }),
		finding(2, reconcile.BilledTwice, state(reconcile.Open, "2026-03-20"), disputeBy("2026-09-11"),
			func(f *reconcile.Finding) { f.OtherInvoiceNo = "INV-1" }),
		finding(3, reconcile.OverBilled, why(reconcile.AboveCost), amounts(usd(1040), usd(840)),
			state(reconcile.Acknowledged, "2026-03-20")),
		finding(4, reconcile.Adjustment, info, why(reconcile.CorrectedLater), amounts(usd(75), usd(0)),
			state(reconcile.New, "2026-03-31")),
		finding(5, reconcile.UnderBilled, warning, why(reconcile.BelowCost), amounts(usd(1200), usd(1250)),
			state(reconcile.Open, "2026-03-28")),
		finding(6, reconcile.BilledVoided, why(reconcile.InvoicedAfterVoid), voided("2026-03-02"),
			state(reconcile.Disputed, "2026-03-20"), disputeBy("2026-04-05")),
		finding(7, reconcile.VoidCreditMissing, warning, why(reconcile.InvoicedBeforeVoid), voided("2026-01-20"),
			state(reconcile.Open, "2026-02-10"), disputeBy("2026-07-20")),
		finding(8, reconcile.NeverBilled, warning, why(reconcile.PastGrace), unbilled, state(reconcile.New, "2026-03-31")),
		finding(9, reconcile.Pending, info, why(reconcile.InsideGrace), unbilled, state(reconcile.New, "2026-03-31")),
		finding(10, reconcile.BilledNoLabel, why(reconcile.ReferenceOfIntent), state(reconcile.New, "2026-03-31"),
			func(f *reconcile.Finding) { f.LabelID, f.IdempotencyKey = "", "" }),
		finding(11, reconcile.BilledNoLabel, why(reconcile.NoSuchTracking), amounts(usd(123456789), usd(0)),
			state(reconcile.New, "2026-03-31"), disputeBy("2026-09-11"), func(f *reconcile.Finding) {
				f.Reference, f.Text = "=cmd|' /C calc'!A0", "Ground\x07 \u202edekcah"
				f.OrderID, f.ParcelNo, f.LabelVersion, f.LabelID, f.IntentID, f.CallerID, f.IdempotencyKey = 0, 0, 0, "", "", "", ""
			}),
		finding(12, reconcile.BilledNoLabel, why(reconcile.NoSuchTracking), amounts(money(1240, "JPY"), money(0, "JPY")),
			state(reconcile.New, "2026-03-31"), func(f *reconcile.Finding) {
				f.Account, f.InvoiceNo, f.Source.File = "0000/12", "0000376E74425", "c-third.csv"
				f.OrderID, f.ParcelNo, f.LabelVersion, f.LabelID, f.IntentID, f.CallerID, f.IdempotencyKey = 0, 0, 0, "", "", "", ""
			}),
	}
}

// placed is an invoice whose money lies in the buckets, in turn.
func placed(number, account, currency string, stated int64, cents map[reconcile.Bucket][]int64) *reconcile.Invoice {
	i := &reconcile.Invoice{
		InvoiceKey:  reconcile.InvoiceKey{Carrier: "sim", Account: account, InvoiceNo: number, Currency: currency},
		Date:        day("2026-03-15"),
		StatedCents: stated,
	}
	for bucket, lines := range cents {
		for _, c := range lines {
			i.Buckets[bucket].Count++
			i.Buckets[bucket].Cents += c
			i.Lines.Count++
			i.Lines.Cents += c
		}
	}
	return i
}

func stood(currency string, state reconcile.LabelState, n, cents int64) reconcile.LabelTotal {
	return reconcile.LabelTotal{Currency: currency, State: state, Sum: reconcile.Sum{Count: n, Cents: cents}}
}

// told is a run that goes with everything.
func told() report.Run {
	return report.Run{
		Files: []report.File{
			{Name: "a-first.csv", SHA256: "11aa", Format: "neutral", Lines: 11, Ignored: []string{"recipient"}},
			{Name: "b-second.csv", SHA256: "22bb", Format: "neutral", Lines: 3},
			{Name: "c-third.csv", SHA256: "33cc", Format: "neutral", Lines: 1},
		},
		Invoices: []*reconcile.Invoice{
			placed("0000376E74425", "0000/12", "JPY", 1240, map[reconcile.Bucket][]int64{reconcile.NoLabel: {1240}}),
			placed("INV-1", "SIM-1", "USD", 123464144, map[reconcile.Bucket][]int64{
				reconcile.Matched: {840, 840}, reconcile.Differs: {1040, 1200}, reconcile.Duplicate: {840},
				reconcile.VoidCharged: {840, 840}, reconcile.NoLabel: {123456789}, reconcile.Cancelled: {840, -840},
				reconcile.Adjusted: {75, -150}, reconcile.Taxes: {990},
			}),
			placed("INV-2", "SIM-1", "USD", 3180, map[reconcile.Bucket][]int64{
				reconcile.Duplicate: {840}, reconcile.NoLabel: {840}, reconcile.InvoiceLevel: {1500},
			}),
		},
		Bought: []report.Bought{{Currency: "JPY", Labels: 2, Cents: 2480}, {Currency: "USD", Labels: 10, Cents: 8810}},
		Labels: []reconcile.LabelTotal{
			stood("JPY", reconcile.Waiting, 2, 2480),
			stood("USD", reconcile.Billed, 6, 5450), stood("USD", reconcile.Unbilled, 1, 840),
			stood("USD", reconcile.Waiting, 1, 840), stood("USD", reconcile.VoidedBilled, 2, 1680),
		},
		PreviousAsOf: day("2026-03-30"),
		Cleared: []reconcile.Finding{
			finding(20, reconcile.NeverBilled, warning, unbilled, state(reconcile.Cleared, "2026-03-10")),
		},
		CompletedKeys: 10,
	}
}

// publish makes a report in a new folder.
func publish(t *testing.T, p report.Parameters, findings []reconcile.Finding, run report.Run) (*report.Report, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "report")
	return publishIn(t, dir, p, findings, run), dir
}

func publishIn(t *testing.T, dir string, p report.Parameters, findings []reconcile.Finding, run report.Run) *report.Report {
	t.Helper()
	r, err := report.Open(dir, p)
	require.NoError(t, err)
	for _, f := range findings {
		require.NoError(t, r.Find(f))
	}
	require.NoError(t, r.Publish(run))
	require.NoError(t, r.Close())
	return r
}

// files reads all files of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := make(map[string]string)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(content)
	}
	return out
}
