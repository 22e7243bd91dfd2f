package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rulesFile writes a rules file beside the invoices' folder.
func (b *bundle) rulesFile(content string) string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "rules.yaml")
	require.NoError(b.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestRunFollowsTheRulesFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	b.buy(label{n: 2})
	b.buy(label{n: 3})
	b.buy(label{n: 4, boughtAt: time.Date(2026, 3, 27, 9, 0, 0, 0, time.UTC)})
	b.invoiceFile("march.csv", "INV-1", "27.20",
		row{tracking: tracking(1), amount: "8.45"},
		row{tracking: tracking(2), amount: "9.40"},
		row{tracking: tracking(3), amount: "8.35"},
		row{kind: "weight", tracking: tracking(3), amount: "1.00"},
	)
	got := b.run("--rules=" + b.rulesFile(`
carriers:
  sim:
    grace_days: 4
    dispute_days: 15
    accounts:
      - {number: "000SIM-1", invoice_every_days: 15}
      - {number: "SIM-2", invoice_every_days: 7}
    tolerances:
      price: {over: {percent: "0.6"}, under: {minor: 4}}
      weight: {over: {minor: 100}}
`))
	require.Empty(t, got.stderr)
	require.Equal(t, exitFindings, got.status)
	require.Equal(t, []string{
		"info within_tolerance SIM000001 0.05",
		"error over_billed SIM000002 1.00",
		"warning under_billed SIM000003 -0.05",
		"info within_tolerance SIM000003 1.00",
		"warning never_billed SIM000004 -8.40",
		"warning invoice_expected_missing",
		"warning invoice_expected_missing",
	}, b.exceptions())
	require.Contains(t, got.stdout, "within tolerance             9.45  2 lines", "what is tolerated stays in the totals")
}

func TestNoDaysOfGraceAreNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1, boughtAt: time.Date(2026, 3, 31, 9, 0, 0, 0, time.UTC)})
	b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "tax", amount: "1.00"})
	b.run("--rules=" + b.rulesFile("carriers: {sim: {grace_days: 0}}"))
	require.Contains(t, b.exceptions(), "warning never_billed SIM000001 -8.40")
	b.run("--rules=" + b.rulesFile("carriers: {sim: {}}"))
	require.Contains(t, b.exceptions(), "info pending SIM000001 -8.40", "nothing said is the default")
}

func TestRulesOfOtherCarriersOnlyAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.invoiceFile("march.csv", "INV-1", "1.00", row{kind: "tax", amount: "1.00"})
	got := b.run("--rules=" + b.rulesFile("carriers: {ups: {}, Sim: {}}"))
	require.Equal(t, exitUsage, got.status)
	require.Contains(t, got.stderr, "there is no carriers.sim, only Sim, ups: add it, `sim: {}` for none")
}

func TestRunRefusesRulesThatItCannotFollow(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"UnknownName": "carriers: {sim: {grace: 4}}",
		"Days":        "carriers: {sim: {grace_days: -4}}",
		"Percent":     `carriers: {sim: {}, ups: {tolerances: {price: {over: {percent: "1.234"}}}}}`,
		"Kind":        "carriers: {sim: {}, ups: {tolerances: {freigth: {over: {minor: 1}}}}}",
		"Rounding":    "carriers: {sim: {}, ups: {rounding_minor: 5}}",
		"Account":     "carriers: {sim: {}, ups: {accounts: [{invoice_every_days: 7}]}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "rules.yaml")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			_, err := readRules(path, "sim")
			require.Error(t, err)
		})
	}
}

func TestRunFindsDoublePurchasesAndOldDoubts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.buy(label{n: 1})
	second := b.buy(label{n: 2, boughtAt: bought.Add(time.Hour)})
	b.exec(`UPDATE labels SET order_id = 1001, label_version = 2 WHERE label_id = $1`, second.labelID())
	third := b.buy(label{n: 3})
	b.exec(`
		INSERT INTO carrier_calls (intent_id, kind, outcome, reason, carrier_label_id, tracking_no)
		VALUES ($1, 'buy', 'bought', 'too_late', 'C99', 'SIM000099'), ($1, 'buy', 'bought', 'bought_at_once', 'C3', 'SIM000003')`,
		third.intentID())
	b.intent(label{n: 10}, "in_doubt")
	b.invoiceFile("march.csv", "INV-1", "25.20",
		row{tracking: tracking(1), amount: "8.40"},
		row{tracking: tracking(2), amount: "8.40"},
		row{tracking: tracking(3), amount: "8.40"},
	)
	rules := b.rulesFile("carriers: {sim: {doubt_days: 30}}")
	require.Equal(t, exitFindings, b.run("--rules="+rules).status)
	require.Equal(t, []string{
		"error double_purchase SIM000002 8.40",
		"error double_purchase SIM000099 8.40",
		"warning doubt_unbilled",
	}, b.exceptions())
	require.Contains(t, b.exceptionRows()[2]["advice"], "not_bought_give_up")
}
