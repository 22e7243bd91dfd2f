package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
	"waybill/reconcile/report"
)

// plantEverything buys labels and prints invoices with one of each fault.
func plantEverything(b *bundle) {
	for n := 1; n <= 4; n++ {
		b.buy(label{n: n})
	}
	b.buy(label{n: 5, cents: 1250})
	b.buy(label{n: 6, voidedAt: bought.AddDate(0, 0, 1)})
	b.buy(label{n: 7, voidedAt: bought.AddDate(0, 0, 1)})
	b.buy(label{n: 8})
	b.buy(label{n: 9, boughtAt: time.Date(2026, 3, 30, 9, 0, 0, 0, time.UTC)})
	b.intent(label{n: 10}, "in_doubt")
	b.invoiceFile("a-first.csv", "INV-1", "79.99",
		row{tracking: tracking(1), ref: reference(1), amount: "8.40"},
		row{tracking: tracking(2), ref: reference(2), amount: "8.40"},
		// Twice on one invoice.
		row{tracking: tracking(2), ref: reference(2), amount: "8.40"},
		// Two units too much.
		row{tracking: tracking(3), ref: reference(3), amount: "10.40"},
		row{tracking: tracking(4), ref: reference(4), amount: "8.40"},
		row{kind: "adjustment", tracking: tracking(4), ref: reference(4), amount: "0.75"},
		// Too little.
		row{tracking: tracking(5), ref: reference(5), amount: "12.00"},
		// Voided and billed; voided, billed and credited.
		row{tracking: tracking(6), ref: reference(6), amount: "8.40"},
		row{tracking: tracking(7), ref: reference(7), amount: "8.40"},
		row{kind: "void_credit", tracking: tracking(7), ref: reference(7), amount: "-8.40"},
		// Never bought; whoever did typed a name where a reference belongs.
		row{tracking: "SIM999999", ref: "Jane Doe", text: "=cmd|' /C calc'!A0", amount: "12.34"},
		row{kind: "tax", amount: "2.50"},
	)
	b.invoiceFile("b-second.csv", "INV-2", "31.80",
		// Twice, on two invoices.
		row{tracking: tracking(1), ref: reference(1), amount: "8.40"},
		// An intent in doubt: only its reference is ours.
		row{tracking: "SIM888888", ref: reference(10), amount: "8.40"},
		row{kind: "invoice_level", amount: "15.00"},
	)
}

func TestRunFindsWhatWasPlanted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantEverything(b)
	got := b.run()
	require.Empty(t, got.stderr)
	require.Equal(t, exitFindings, got.status)
	require.Empty(t, cmp.Diff([]string{
		"info invoice_level_charge  15.00",
		"error billed_twice SIM000001 8.40",
		"error possible_duplicate_line SIM000002 8.40",
		"error over_billed SIM000003 2.00",
		"info adjustment SIM000004 0.75",
		"warning under_billed SIM000005 -0.50",
		"error billed_voided SIM000006 8.40",
		"warning never_billed SIM000008 -8.40",
		"info pending SIM000009 -8.40",
		"error billed_no_label SIM888888 8.40",
		"error billed_no_label SIM999999 12.34",
		"info tax_or_duty  2.50",
	}, b.exceptions()))
	require.NotContains(t, got.stdout, "DOES NOT FOOT")
	require.Contains(t, got.stdout, "9 labels")
}

func TestRunWritesTheSameBytesForTheSameInputs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantEverything(b)
	first := b.run()
	want := []string{b.reported(report.ExceptionsName), b.reported(report.SummaryName)}

	// Another order of files, another folder, a report that stands there already.
	again := b.runOver([]string{filepath.Join(b.in, "b-second.csv"), filepath.Join(b.in, "a-first.csv")})
	require.Equal(t, first, again)
	require.Equal(t, want, []string{b.reported(report.ExceptionsName), b.reported(report.SummaryName)})
}

func TestRunWritesNoPersonalData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantEverything(b)
	got := b.run()
	written := map[string]string{"stdout": got.stdout, "stderr": got.stderr}
	for _, name := range b.listing() {
		written[name] = unpacked(t, []byte(b.reported(name)))
	}
	for where, text := range written {
		require.NotContains(t, text, "Jane", where)
		require.NotContains(t, text, "Elm Street", where)
	}
	require.Contains(t, b.reported(report.SummaryName), `"recipient"`, "the column that was not read is named")
}

func TestRunIsCleanWhenAllIsWell(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.buy(label{n: 2, boughtAt: time.Date(2026, 3, 31, 23, 59, 0, 0, time.UTC)})
	b.buy(label{n: 3, boughtAt: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)})
	b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
	got := b.run()
	require.Equal(t, exitClean, got.status, got.stdout+got.stderr)
	require.Equal(t, []string{"info pending SIM000002 -8.40"}, b.exceptions(),
		"a label bought after the as-of day is not looked at")
	require.Empty(t, b.exceptionRows()[0]["state"])
	require.Regexp(t, `new +0\n`, b.run("--as-of=2026-04-01").stdout, "what is for the record is not new every night")
}

func TestRunShowsErrorsBeforeWarnings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for n := range 21 {
		b.buy(label{n: n + 1})
	}
	b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: "SIM999999", amount: "8.40"})
	got := b.run()
	require.Equal(t, exitFindings, got.status)
	_, shown, _ := strings.Cut(got.stdout, "To look at\n")
	require.True(t, strings.HasPrefix(shown, "  billed no label: SIM999999"), shown)
	require.Contains(t, shown, "  and 2 more\n")
}

func TestRunExpectsLabelsSinceADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.buy(label{n: 2, boughtAt: bought.AddDate(0, -1, 0)})
	b.buy(label{n: 3, boughtAt: bought.AddDate(0, -1, 0)})
	b.invoiceFile("march.csv", "INV-1", "16.80",
		row{tracking: tracking(1), amount: "8.40"}, row{tracking: tracking(3), amount: "8.40"})
	require.Equal(t, exitFindings, b.run().status)
	require.Equal(t, []string{"warning never_billed SIM000002 -8.40"}, b.exceptions())
	require.Equal(t, exitClean, b.run("--since=2026-03-01").status)
	require.Empty(t, b.exceptions(), "a label that is billed is matched however old it is")
}

func TestRunCountsDaysInTheZone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	// Nine in the evening of the 30th in Chicago, the 31st in UTC.
	b.buy(label{n: 1, boughtAt: time.Date(2026, 3, 31, 2, 0, 0, 0, time.UTC)})
	b.buy(label{n: 2})
	b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(2), amount: "8.40"})
	b.run("--grace=1")
	require.Equal(t, []string{"info pending SIM000001 -8.40"}, b.exceptions())
	b.run("--grace=1", "--timezone=America/Chicago")
	require.Equal(t, []string{"warning never_billed SIM000001 -8.40"}, b.exceptions())
}

func TestRunSetsCopiesAside(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
	b.invoiceFile("march-again.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
	got := b.run()
	require.Equal(t, exitClean, got.status, got.stdout)
	require.Equal(t, []string{"info invoice_resent"}, kinds(b))

	b.invoiceFile("march-corrected.csv", "INV-1", "9.40", row{tracking: tracking(1), amount: "9.40"})
	require.Equal(t, exitInput, b.run().status)
	require.Equal(t, []string{"info invoice_resent", "error invoice_changed"}, kinds(b))
}

func kinds(b *bundle) []string {
	var out []string
	for _, e := range b.exceptionRows() {
		out = append(out, e["severity"]+" "+e["kind"])
	}
	return out
}

func TestRunChecksOurOwnRecords(t *testing.T) {
	t.Parallel()
	// Inside the retention by the database's own clock.
	asOf := "--as-of=" + time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	fresh := time.Now().Add(-time.Hour)
	for _, tt := range []struct {
		name  string
		plant func(b *bundle)
		want  []string
	}{
		{"AllIsWell", func(b *bundle) { b.buy(label{n: 2, boughtAt: fresh, key: "completed"}) }, nil},
		{"KeyPurged", func(b *bundle) { b.buy(label{n: 2, boughtAt: fresh.AddDate(0, 0, -1)}) }, nil},
		{
			"KeyGoneTooEarly", func(b *bundle) { b.buy(label{n: 2, boughtAt: fresh}) },
			[]string{"error label_without_key no_key_record_inside_the_retention"},
		},
		{
			"KeyNotCompleted", func(b *bundle) { b.buy(label{n: 2, key: "started"}) },
			[]string{"error label_without_key key_is_not_completed"},
		},
		{
			"KeySaysRefused", func(b *bundle) { b.buy(label{n: 2, key: "refused"}) },
			[]string{"error label_without_key key_answers_something_else_than_bought"},
		},
		{
			"AnswerNamesAnotherLabel",
			func(b *bundle) {
				b.buy(label{n: 2, key: "completed", answer: `{"label_id":"x","tracking_no":"SIM000002"}`})
			},
			[]string{"error key_label_mismatch saved_answer_names_another_label"},
		},
		{
			"AnswerIsNoJSON", func(b *bundle) { b.buy(label{n: 2, key: "completed", answer: `{"label_id`}) },
			[]string{"error key_label_mismatch saved_answer_cannot_be_read"},
		},
		{
			"KeyWithoutLabel",
			func(b *bundle) {
				b.intent(label{n: 2}, "in_doubt")
				b.saveKey(label{n: 2, key: "completed"})
			},
			[]string{"error key_without_label no_label_for_this_record"},
		},
		{
			"KeyWithoutIntent", func(b *bundle) { b.saveKey(label{n: 2, key: "completed"}) },
			[]string{"error key_without_label no_label_for_this_record"},
		},
		{
			"IntentNotPurchased",
			func(b *bundle) {
				l := b.buy(label{n: 2})
				b.exec(`UPDATE label_intents
					SET state = 'pending', label_id = NULL, finished_at = NULL
					WHERE intent_id = $1`, l.intentID())
			},
			[]string{"error intent_label_mismatch intent_does_not_say_purchased"},
		},
		{
			"IntentWithoutLabel",
			func(b *bundle) {
				l := b.buy(label{n: 2})
				b.exec(`ALTER TABLE label_intents DROP CONSTRAINT label_intents_label`)
				b.exec(`DELETE FROM labels WHERE label_id = $1`, l.labelID())
			},
			[]string{"error intent_without_label no_label_for_this_record"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.buy(label{n: 1})
			tt.plant(b)
			b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: tracking(1), amount: "8.40"})
			got := b.run(asOf, "--grace=366")
			require.Empty(t, got.stderr)
			var found []string
			for _, e := range b.exceptionRows() {
				if e["kind"] != "pending" {
					found = append(found, strings.Join([]string{e["severity"], e["kind"], e["why"]}, " "))
				}
			}
			require.Equal(t, tt.want, found)
			require.Equal(t, len(tt.want), got.status, "one finding is exit status 1, none is 0")
		})
	}
}

func TestRunReadsAKeyTTL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1, boughtAt: time.Now().Add(-2 * time.Hour)})
	b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "invoice_level", amount: "1.00"})
	asOf := "--as-of=" + time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	require.Equal(t, exitFindings, b.run(asOf).status)
	require.Equal(t, exitClean, b.run(asOf, "--key-ttl=1h").status)
}

func TestRunRefusesUsage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	good := b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "invoice_level", amount: "1.00"})
	for _, tt := range []struct {
		name string
		args []string
		says string
	}{
		{"AsOf", []string{"--as-of=31.03.2026"}, "--as-of"},
		{"SinceAfterAsOf", []string{"--since=2026-04-01"}, "--since"},
		{"Format", []string{"--format=xml"}, "auto, neutral"},
		{"Grace", []string{"--grace=-2"}, "--grace"},
		{"KeyTTL", []string{"--key-ttl=0s"}, "--key-ttl"},
		{"Timezone", []string{"--timezone=Chicago"}, "--timezone"},
		{"Carrier", []string{"--carrier="}, "--carrier"},
		{"DatabaseURL", []string{"--database-url=postgres://u:secret@h:port/x"}, "DATABASE_URL"},
		{"DatabasePassword", []string{"--database-url=host=h port=x password = secret"}, "DATABASE_URL: invalid port"},
		{"UnknownFlag", []string{"--nonsense"}, "nonsense"},
		{"OutIsAFile", []string{"--out=" + good}, "--out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := b.runOver([]string{good}, tt.args...)
			require.Equal(t, exitUsage, got.status, got.stderr)
			require.Contains(t, got.stderr, tt.says)
			require.NotContains(t, got.stderr, "secret")
		})
	}
	t.Run("NoFile", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, exitUsage, b.runOver(nil).status)
	})
	t.Run("NoDatabaseURL", func(t *testing.T) {
		t.Parallel()
		var stderr strings.Builder
		status := run(t.Context(), []string{"run", "--carrier=sim", "--as-of=2026-03-31", "--out=" + b.out, good},
			func(string) string { return "" }, &stderr, &stderr)
		require.Equal(t, exitUsage, status)
		require.Contains(t, stderr.String(), "DATABASE_URL is not set")
	})
	t.Run("Help", func(t *testing.T) {
		t.Parallel()
		got := b.runOver(nil, "--help")
		require.Equal(t, exitClean, got.status)
		require.Contains(t, got.stdout, "WAYBILL_KEY_TTL")
	})
}

func TestRunRefusesADatabaseWithoutTables(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.url = testdb.Empty(t)
	b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "invoice_level", amount: "1.00"})
	got := b.run()
	require.Equal(t, exitUsage, got.status)
	require.Contains(t, got.stderr, "api migrate")
	b.nothingReported()
}

func TestRunRefusesInputsWithNothingToJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		plant func(b *bundle) []string
		says  string
	}{
		{"EmptyFolder", func(b *bundle) []string { return []string{b.in} }, "no *.csv file"},
		{"MissingFile", func(b *bundle) []string { return []string{filepath.Join(b.in, "gone.csv")} }, "no such file"},
		{"EmptyFile", func(b *bundle) []string { return []string{b.file("a.csv", "")} }, "empty"},
		{"HeaderOnly", func(b *bundle) []string { return []string{b.invoiceFile("a.csv", "I", "0")} }, "no rows"},
		{"UnknownFormat", func(b *bundle) []string { return []string{b.file("a.csv", "a;b;c\n")} }, "no format we know"},
		{"Folder", func(b *bundle) []string {
			require.NoError(b.t, os.Mkdir(filepath.Join(b.in, "deep.csv"), 0o700))
			return []string{b.in}
		}, "no *.csv file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.buy(label{n: 1})
			got := b.runOver(tt.plant(b))
			require.Equal(t, exitInput, got.status)
			require.Contains(t, got.stderr, tt.says)
			b.nothingReported()
		})
	}
}

func TestRunReportsInputsItCannotRelyOn(t *testing.T) {
	t.Parallel()
	good := row{tracking: tracking(1), amount: "8.40"}
	for _, tt := range []struct {
		name  string
		plant func(b *bundle)
		want  []string
	}{
		{
			"NotFooting", func(b *bundle) { b.invoiceFile("a.csv", "INV-1", "9.40", good) },
			[]string{"error invoice_not_footing"},
		},
		{
			"RowRejected",
			func(b *bundle) { b.invoiceFile("a.csv", "INV-1", "8.40", good, row{tracking: "X", amount: "1,00"}) },
			[]string{"error row_rejected"},
		},
		{
			"IdentifierCorrupted",
			func(b *bundle) {
				b.invoiceFile("a.csv", "INV-1", "8.40", good, row{tracking: "7.94E+11", amount: "1.00"})
			},
			[]string{"error id_corrupted"},
		},
		{
			"OtherCarrier",
			func(b *bundle) {
				b.invoiceFile("a.csv", "INV-1", "8.40", good)
				b.file("b.csv", strings.ReplaceAll(printInvoiceFile("INV-2", "2026-03-15", "1.00",
					row{tracking: "X", amount: "1.00"}), ",sim,", ",other,"))
			},
			[]string{"error row_rejected"},
		},
		{
			"OneFileUnreadable",
			func(b *bundle) {
				b.invoiceFile("a.csv", "INV-1", "8.40", good)
				b.file("b.csv", "no invoice")
			},
			[]string{"error file_unreadable"},
		},
		{
			"OneFileLacksAColumn",
			func(b *bundle) {
				b.invoiceFile("a.csv", "INV-1", "8.40", good)
				b.file("b.csv", "invoice_no,line_no,invoice_total\n")
			},
			[]string{"error column_missing"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.buy(label{n: 1})
			tt.plant(b)
			got := b.run()
			require.Equal(t, exitInput, got.status, got.stderr)
			require.Equal(t, tt.want, kinds(b))
			require.Contains(t, got.stdout, "exit status 3")
		})
	}
}

func TestRunFailsInternallyWithoutHalfAReport(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "invoice_level", amount: "1.00"})
	require.Equal(t, exitClean, b.run().status)
	files := b.listing()
	want := []string{b.reported(report.ExceptionsName), b.reported(report.SummaryName)}

	// A column of another type: an error that no input can cause.
	b.exec(`ALTER TABLE idempotency_keys ALTER COLUMN response_status TYPE text`)
	b.exec(`INSERT INTO idempotency_keys (caller_id, idem_key, request_hash) VALUES ('c', 'k', '')`)
	got := b.run()
	require.Equal(t, exitInternal, got.status)
	require.NotEmpty(t, got.stderr)
	require.Equal(t, want, []string{b.reported(report.ExceptionsName), b.reported(report.SummaryName)})
	require.Equal(t, files, b.listing(), "no temporary file is left")
}

func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "invoice_level", amount: "1.00"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	status := run(ctx, []string{
		"run", "--carrier=sim", "--as-of=2026-03-31", "--out=" + b.out, "--database-url=" + b.url, file,
	},
		func(string) string { return "" }, &out, &out)
	require.Equal(t, exitInternal, status)
	b.nothingReported()
}

func TestRunGuardsFormulas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	plantEverything(b)
	b.run()
	for _, e := range b.exceptionRows() {
		for column, cell := range e {
			if column != "difference" && column != "difference_minor" && column != "billed" {
				require.NotRegexp(t, `^[=+\-@\t\r]`, cell, column)
			}
		}
		if e["tracking_no"] == "SIM999999" {
			require.True(t, strings.HasPrefix(e["charge_text"], "'=cmd"), e["charge_text"])
		}
	}
}
