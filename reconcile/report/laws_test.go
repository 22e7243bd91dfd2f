package report_test

import (
	"encoding/csv"
	"encoding/json/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/reconcile"
	"waybill/reconcile/report"
)

// table reads a CSV by the names of its columns.
func table(t require.TestingT, content string) []map[string]string {
	rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	require.NoError(t, err)
	var out []map[string]string
	for _, row := range rows[1:] {
		cells := make(map[string]string)
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		out = append(out, cells)
	}
	return out
}

func TestPublishRefusesWhatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		breaks func(*report.Run)
		says   string
	}{
		{"LabelMissing", func(r *report.Run) { r.Labels = r.Labels[1:] }, "2 for 2480 are not accounted for"},
		{"LabelTooMany", func(r *report.Run) { r.Bought = r.Bought[1:] }, "-2 for -2480 are not accounted for"},
		{"CostDiffers", func(r *report.Run) { r.Bought[1].Cents++ }, "0 for 0.01 are not accounted for"},
		{"LineLost", func(r *report.Run) { r.Invoices[0].Lines.Count++ }, "footing invoice 0000376E74425"},
		{"MoneyLost", func(r *report.Run) { r.Invoices[1].Lines.Cents++ }, "footing invoice INV-1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := told()
			tt.breaks(&run)
			dir := filepath.Join(t.TempDir(), "report")
			r, err := report.Open(dir, parameters)
			require.NoError(t, err)
			require.ErrorContains(t, r.Publish(run), tt.says)
			require.NoError(t, r.Close())
			require.Empty(t, files(t, dir))
		})
	}
}

func TestWhatAPersonHasTakenUpDoesNotAskAgain(t *testing.T) {
	t.Parallel()
	for state, want := range map[reconcile.State]report.Result{
		"": report.Findings, reconcile.New: report.Findings, reconcile.Open: report.Findings,
		reconcile.Acknowledged: report.Clean, reconcile.Disputed: report.Clean, reconcile.CreditedBack: report.Clean,
	} {
		f := finding(1, reconcile.BilledTwice)
		f.State = state
		r, dir := publish(t, parameters, []reconcile.Finding{f}, told())
		require.Equal(t, want, r.Result(), state)
		var summary struct {
			Findings []struct {
				Count      int64 `json:"count"`
				Difference struct {
					Minor int64 `json:"minor"`
				} `json:"difference"`
			} `json:"findings"`
		}
		require.NoError(t, json.Unmarshal([]byte(files(t, dir)[report.SummaryName]), &summary))
		require.Equal(t, int64(840), summary.Findings[0].Difference.Minor, "it never leaves the totals")
	}
	for kind, want := range map[reconcile.Kind]int{
		reconcile.InvoiceNotFooting: 3, reconcile.BilledTwice: 1,
	} {
		r, _ := publish(t, parameters, []reconcile.Finding{finding(1, kind)}, told())
		require.Equal(t, want, r.Result().ExitStatus())
	}
}

func TestOnlyWhatTheCarrierOwesIsClaimed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		finding reconcile.Finding
		claimed bool
	}{
		{"BilledTwice", finding(1, reconcile.BilledTwice), true},
		{"Disputed", finding(1, reconcile.BilledTwice, state(reconcile.Disputed, "2026-03-01")), true},
		{"Acknowledged", finding(1, reconcile.BilledTwice, state(reconcile.Acknowledged, "2026-03-01")), false},
		{"Credited", finding(1, reconcile.BilledTwice, state(reconcile.CreditedBack, "2026-03-01")), false},
		{"VoidCreditDue", finding(1, reconcile.VoidCreditMissing, warning), true},
		{"VoidCreditInGrace", finding(1, reconcile.VoidCreditMissing, info), false},
		{"NotOurs", finding(1, reconcile.BilledNoLabel, why(reconcile.NoSuchTracking)), true},
		{"OursInDoubt", finding(1, reconcile.BilledNoLabel, why(reconcile.ReferenceOfIntent)), false},
		{"ForAnotherPayer", finding(1, reconcile.Chargeback, why(reconcile.ChargedLater)), true},
		{"AdjustedLater", finding(1, reconcile.LateAdjustment, warning), false},
		{"CreditForNothing", finding(1, reconcile.BilledNoLabel, warning, amounts(usd(-840), usd(0))), false},
		{"BelowThePrice", finding(1, reconcile.UnderBilled, warning, amounts(usd(800), usd(840))), false},
		{"BoughtTwiceByUs", finding(1, reconcile.DoublePurchase), false},
		{"NotFooting", finding(1, reconcile.InvoiceNotFooting), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, dir := publish(t, parameters, []reconcile.Finding{tt.finding}, told())
			content, claimed := files(t, dir)["disputes-sim-SIM-1.csv"]
			require.Equal(t, tt.claimed, claimed)
			if claimed {
				rows := table(t, content)
				require.Len(t, rows, 1)
				require.Equal(t, "8.40", rows[0]["amount_claimed"])
				require.NotEmpty(t, rows[0]["reason"])
			}
		})
	}
}

func TestDisputeFilesStayInTheFolderAndApart(t *testing.T) {
	t.Parallel()
	accounts := []string{
		"../../etc/passwd", "..", "", "a/b", "a%2Fb", `a\b`, "a b", "ä", "\x00", strings.Repeat("x", 300), strings.Repeat("x", 301),
	}
	var findings []reconcile.Finding
	for i, account := range accounts {
		f := finding(i+1, reconcile.BilledTwice)
		f.Account = account
		findings = append(findings, f)
	}
	_, dir := publish(t, parameters, findings, told())
	var names []string
	for name, content := range files(t, dir) {
		if strings.HasPrefix(name, "disputes-") {
			names = append(names, name)
			require.Len(t, table(t, content), 1, name)
		}
	}
	require.Len(t, names, len(accounts), slices.Sorted(slices.Values(names)))
}

// TestInvoicesWithoutATotalProveNothing: where there is nothing to hold lines against, no page says that all is
// well.
func TestInvoicesWithoutATotalProveNothing(t *testing.T) {
	t.Parallel()
	page := func(unstated int) string {
		run := told()
		for _, i := range run.Invoices[:unstated] {
			i.Unstated, i.StatedCents = true, 0
		}
		_, dir := publish(t, parameters, nil, run)
		return files(t, dir)[report.PageName]
	}
	all := len(told().Invoices)
	require.Contains(t, page(0), "every invoice adds up to the total it states.")
	require.Contains(t, page(1), "every invoice that states a total adds up to it; 1 states none.")
	require.Contains(t, page(1), "all add up, to the cent; 1 without a total")
	require.Contains(t, page(all), "no invoice states a total that its lines could be held against.")
	require.NotContains(t, page(all), "✓ foots")
}
