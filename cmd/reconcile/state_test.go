package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/reconcile/report"
)

// states reads the report: "kind tracking state" for each finding.
func (b *bundle) states() []string {
	b.t.Helper()
	var out []string
	for _, e := range b.exceptionRows() {
		out = append(out, strings.Join([]string{e["kind"], e["tracking_no"], b.stateOf(e["finding_id"])}, " "))
	}
	return out
}

// stateOf is a finding's state as it is kept.
func (b *bundle) stateOf(id string) string {
	b.t.Helper()
	var state string
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(),
		`SELECT coalesce((SELECT state FROM findings WHERE finding_id = $1), 'not kept')`, id).Scan(&state))
	return state
}

// command runs another command than run.
func (b *bundle) command(args ...string) result {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(b.t.Context(), args, func(name string) string {
		return map[string]string{"DATABASE_URL": b.url}[name]
	}, &stdout, &stderr)
	return result{status: status, stdout: stdout.String(), stderr: stderr.String()}
}

func (b *bundle) count(table string) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
	return n
}

func TestRunRemembersInvoicesOfEarlierMonths(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	first := b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
	require.Equal(t, exitClean, b.run().status)
	require.NoError(t, os.Remove(first))
	b.file("april.csv", printInvoiceFile("INV-2", "2026-04-15", "8.40", row{tracking: tracking(1), amount: "8.40"}))

	require.Equal(t, exitFindings, b.run("--as-of=2026-04-30").status)
	require.Equal(t, []string{"error billed_twice SIM000001 8.40"}, b.exceptions())
	require.NotContains(t, b.reported(report.SummaryName), "INV-1", "what is footed is what was read")

	require.Equal(t, exitClean, b.run("--as-of=2026-04-30", "--no-store").status, "a run that reads only knows of nothing else")
}

func TestRunAgainChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantEverything(b)
	first := b.run()
	want := []string{b.reported(report.ExceptionsName), b.reported(report.SummaryName)}
	tables := []string{"reconcile_runs", "invoice_files", "invoices", "invoice_lines", "findings"}
	var rows []int
	for _, table := range tables {
		rows = append(rows, b.count(table))
	}
	require.Equal(t, first, b.run())
	require.Equal(t, want, []string{b.reported(report.ExceptionsName), b.reported(report.SummaryName)})
	for i, table := range tables {
		require.Equal(t, rows[i], b.count(table), table)
	}
}

func TestFindingsHaveALife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.buy(label{n: 2})
	b.invoiceFile("march.csv", "INV-1", "9.40", row{tracking: tracking(1), amount: "9.40"})
	b.run()
	require.Equal(t, []string{"over_billed SIM000001 new", "never_billed SIM000002 new"}, b.states())
	overBilled := b.exceptionRows()[0]["finding_id"]

	b.run("--as-of=2026-04-01")
	require.Equal(t, []string{"over_billed SIM000001 open", "never_billed SIM000002 open"}, b.states())

	for range 2 { // Repeating is harmless.
		got := b.command("findings", "ack", overBilled, "--why=too small to claim", "--actor=ann")
		require.Equal(t, exitClean, got.status, got.stderr)
	}
	require.Equal(t, 1, b.count("finding_changes"))
	require.Contains(t, b.command("findings", "list").stdout, "never_billed")
	require.NotContains(t, b.command("findings", "list").stdout, overBilled)
	require.Contains(t, b.command("findings", "list", "--state=all").stdout, overBilled+"\tacknowledged\t2026-03-31\terror\tover_billed")

	// The missing invoice comes: what remains is known, and stays in the report.
	b.invoiceFile("april.csv", "INV-2", "8.40", row{tracking: tracking(2), amount: "8.40"})
	b.run("--as-of=2026-04-02")
	require.Equal(t, []string{"over_billed SIM000001 acknowledged"}, b.states())
	require.Equal(t, []string{"error over_billed SIM000001 1.00"}, b.exceptions())
	require.Equal(t, 1, strings.Count(b.command("findings", "list", "--state=cleared").stdout, "\n"))

	require.Equal(t, exitClean, b.command("findings", "reopen", overBilled, "--why=more of them", "--actor=ann").status)
	require.Equal(t, exitFindings, b.run("--as-of=2026-04-02").status)
	require.Equal(t, []string{"over_billed SIM000001 open"}, b.states())
	require.Equal(t, exitUsage, b.command("findings", "ack", "F-00000000000000000000", "--why=x").status)
}

// TestADecisionCoversNoMoreThanWasDecided: a finding keeps its id while its money grows, so what was said of
// one unit must not hide ten.
func TestADecisionCoversNoMoreThanWasDecided(t *testing.T) {
	t.Parallel()
	for _, decide := range []string{"ack", "dispute", "credit"} {
		t.Run(decide, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.buy(label{n: 1})
			bill := func(amount string) {
				b.invoiceFile("march.csv", "INV-1", amount, row{tracking: tracking(1), amount: amount})
				// The stored invoice would contradict it: what a carrier charges for a label grows by further lines.
				b.exec(`DELETE FROM invoices`)
			}
			bill("9.40")
			b.run()
			id := b.exceptionRows()[0]["finding_id"]
			require.Equal(t, exitClean, b.command("findings", decide, id, "--why=small", "--actor=ann").status)

			// The same and less are covered.
			require.Equal(t, exitClean, b.run("--as-of=2026-04-01").status)
			bill("9.00")
			require.Equal(t, exitClean, b.run("--as-of=2026-04-02").status)
			require.Equal(t, 1, b.count("finding_changes"))

			bill("18.40")
			looked := b.run("--as-of=2026-04-01")
			require.Equal(t, exitClean, looked.status, "a look back decides nothing")
			require.Equal(t, 1, b.count("finding_changes"))
			for range 2 { // Twice is once.
				require.Equal(t, exitFindings, b.run("--as-of=2026-04-03").status)
				require.Equal(t, []string{"over_billed SIM000001 open"}, b.states())
				require.Equal(t, "open", b.exceptionRows()[0]["state"])
				require.Equal(t, id, b.exceptionRows()[0]["finding_id"])
				require.Equal(t, 2, b.count("finding_changes"))
			}
			var actor, why string
			require.NoError(t, b.pool.QueryRow(t.Context(),
				`SELECT actor, why FROM finding_changes WHERE state = 'open'`).Scan(&actor, &why))
			require.Equal(t, runner, actor)
			shown := b.command("findings", "show", id)
			require.Equal(t, exitClean, shown.status, shown.stderr)
			require.Regexp(t, `(?s)kind +over_billed\n.*difference +10.00 USD\n.* by ann: small\n.* open by reconcile: reopened`, shown.stdout)
			require.Equal(t, exitUsage, b.command("findings", "show", "F-00000000000000000000").status)
			require.Contains(t, why, "grew from 0.60 USD to 10.00 USD")
		})
	}
}

// TestCarriersAndFilesShareNoFinding: next month's file is called as this month's, another carrier's as ours,
// and a key whose intent is gone is every carrier's concern.
func TestCarriersAndFilesShareNoFinding(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.saveKey(label{n: 2, key: "completed"})
	ids := make(map[string]bool)
	for _, night := range []struct {
		carrier, asOf, number string
	}{
		// The second as of an earlier day than the first: two lives in one row would contradict each other.
		{"sim", "2026-04-02", "7.94E+11"},
		{"other", "2026-03-31", "7.94E+11"},
		{"sim", "2026-04-03", "7.95E+11"},
	} {
		file := b.file("march.csv", strings.ReplaceAll(printInvoiceFile("INV-1", "2026-03-15", "1.00",
			row{kind: "invoice_level", amount: "1.00"}, row{tracking: night.number, amount: "1.00"}),
			",sim,", ","+night.carrier+","))
		b.file("broken.csv", "no invoice "+night.number)
		got := b.runOver([]string{file, b.in}, "--carrier="+night.carrier, "--as-of="+night.asOf)
		require.Equal(t, exitInput, got.status, got.stderr)
		for _, e := range b.exceptionRows() {
			if e["severity"] == "info" || e["kind"] == "key_without_label" && night.asOf == "2026-04-03" {
				continue
			}
			require.False(t, ids[e["finding_id"]], "%v", e)
			ids[e["finding_id"]] = true
			require.Equal(t, night.carrier, e["carrier"])
		}
	}
	require.Len(t, ids, 8)
}

// TestARowOfAnotherCarrierIsOneFinding: a row that says several charges is still one row.
func TestARowOfAnotherCarrierIsOneFinding(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "invoice_level", amount: "1.00"})
	content, err := os.ReadFile("../../carrier/fedex/testdata/us25.csv")
	require.NoError(t, err)
	b.file("fedex.csv", string(content))
	require.Equal(t, exitInput, b.run().status)
	seen := make(map[string]bool)
	for _, e := range b.exceptionRows() {
		if e["kind"] == "row_rejected" {
			require.False(t, seen[e["finding_id"]], "%v", e)
			seen[e["finding_id"]] = true
		}
	}
	require.NotEmpty(t, seen)
}

func TestLookingBackChangesNoState(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.invoiceFile("march.csv", "INV-1", "9.40", row{tracking: tracking(1), amount: "9.40"})
	b.run("--as-of=2026-04-02")
	require.Equal(t, exitFindings, b.run("--as-of=2026-03-20").status)
	require.Equal(t, []string{"over_billed SIM000001 new"}, b.states())
	require.Equal(t, 1, b.count("reconcile_runs"))
}

func TestAnInvoiceThatChangesOvernight(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	path := b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
	require.Equal(t, exitClean, b.run().status)
	require.NoError(t, os.Remove(path))
	b.invoiceFile("again.csv", "INV-1", "9.40", row{tracking: tracking(1), amount: "9.40"})
	require.Equal(t, exitInput, b.run().status)
	require.Equal(t, []string{"error invoice_changed"}, b.exceptions(), "what footed first is judged")
}

// TestAcceptingTheNewerInvoice: until it is accepted, what came first is judged; then the newer, whether the
// older file is still there or not.
func TestAcceptingTheNewerInvoice(t *testing.T) {
	t.Parallel()
	for name, olderStays := range map[string]bool{"OlderFileGone": false, "OlderFileStays": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.buy(label{n: 1})
			older := b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
			require.Equal(t, exitClean, b.run().status)
			if !olderStays {
				require.NoError(t, os.Remove(older))
			}
			b.invoiceFile("newer.csv", "INV-1", "9.40", row{tracking: tracking(1), amount: "9.40"})
			require.Equal(t, exitInput, b.run("--as-of=2026-04-01").status)
			changed := b.exceptionRows()[0]
			require.Equal(t, "invoice_changed", changed["kind"])
			require.Equal(t, []string{"9.40", "8.40"}, []string{changed["billed"], changed["expected"]}, "what it asks, and what is judged")
			accept := func(command string) {
				t.Helper()
				got := b.command("findings", command, changed["finding_id"], "--why=they corrected it", "--actor=ann")
				require.Equal(t, exitClean, got.status, got.stderr)
			}

			// Taken back before a run acts on it, it never was.
			accept("accept")
			accept("reopen")
			require.Equal(t, exitInput, b.run("--as-of=2026-04-01").status)
			for range 2 { // Twice is once.
				accept("accept")
				require.Equal(t, 3, b.count("finding_changes"))
			}

			want := []string{"error over_billed"}
			if olderStays {
				want = []string{"info invoice_resent", "error over_billed"}
			}
			for range 2 {
				require.Equal(t, exitFindings, b.run("--as-of=2026-04-02").status)
				require.Equal(t, want, kinds(b))
				require.Equal(t, "cleared", b.stateOf(changed["finding_id"]))
			}
			accept("accept")
			require.Equal(t, 3, b.count("finding_changes"), "a repeat after the run that heeded it is harmless too")

			// The newer is what is remembered, and what a third is held against.
			b.invoiceFile("third.csv", "INV-1", "9.90", row{tracking: tracking(1), amount: "9.90"})
			require.Equal(t, exitInput, b.run("--as-of=2026-04-03").status)
			require.Contains(t, b.exceptions(), "error over_billed SIM000001 1.00")
			require.NoError(t, os.Remove(filepath.Join(b.in, "newer.csv")))
			require.Equal(t, exitInput, b.run("--as-of=2026-04-03").status)
			require.Contains(t, b.exceptions(), "error over_billed SIM000001 1.00")
		})
	}
}

func TestOnlyAChangedInvoiceCanBeAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.invoiceFile("march.csv", "INV-1", "9.40", row{tracking: tracking(1), amount: "9.40"})
	b.run()
	got := b.command("findings", "accept", b.exceptionRows()[0]["finding_id"], "--why=x", "--actor=ann")
	require.Equal(t, exitUsage, got.status)
	require.Contains(t, got.stderr, "only invoice_changed can be accepted")
	require.Equal(t, 0, b.count("finding_changes"))
}

// TestAnInvoiceThatComesAgainOvernight: under its own name it is yesterday's file and no news; under another it
// came again.
func TestAnInvoiceThatComesAgainOvernight(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	path := b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
	for _, asOf := range []string{"2026-03-31", "2026-03-31", "2026-04-01"} {
		require.Equal(t, exitClean, b.run("--as-of="+asOf).status)
		require.Empty(t, b.exceptions())
	}
	require.NoError(t, os.Rename(path, filepath.Join(b.in, "again.csv")))
	for range 2 {
		require.Equal(t, exitClean, b.run("--as-of=2026-04-02").status)
		require.Equal(t, []string{"info invoice_resent"}, b.exceptions())
	}
	require.Equal(t, 1, b.count("invoice_lines"))
}

func TestPartsOfAnInvoiceOnTwoNights(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.buy(label{n: 2})
	path := filepath.Join(b.in, "part-1.csv")
	b.invoiceFile("part-1.csv", "INV-1", "16.80", row{tracking: tracking(1), amount: "8.40"})
	require.Equal(t, exitInput, b.run().status, "half of it does not foot")
	require.NoError(t, os.Remove(path))
	b.invoiceFile("part-2.csv", "INV-1", "16.80", row{tracking: tracking(2), amount: "8.40"})
	got := b.run("--as-of=2026-04-01")
	require.Equal(t, exitClean, got.status, got.stderr)
	require.Equal(t, 2, b.count("invoice_lines"))

	// Either part, or none, changes nothing.
	require.Equal(t, exitClean, b.run("--as-of=2026-04-01").status, b.exceptions())
	require.Equal(t, 2, b.count("invoice_lines"))
}

func TestStateHoldsNoPersonalData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantEverything(b)
	b.run()
	for _, table := range []string{"invoice_files", "invoices", "invoice_lines", "findings"} {
		var text string
		require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(t::text, ' '), '') FROM `+table+` t`).Scan(&text))
		require.NotEmpty(t, text)
		require.NotContains(t, text, "Jane")
		require.NotContains(t, text, "Elm Street")
	}
}
