package reconcile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// file is the lines of one invoice in one file: amounts, and the total each row states.
type file struct {
	name    string
	stated  int64
	amounts []int64
}

func (f file) lines() []invoice.Line {
	var lines []invoice.Line
	for i, cents := range f.amounts {
		c := charge(amount(cents), lineNo(i+1))
		c.Source.File, c.StatedCents = f.name, f.stated
		lines = append(lines, c.Line)
	}
	return lines
}

func TestLedgerSettlesCopies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files []file
		// aside are the numbers of files whose copy does not count.
		aside []int
		found []reconcile.Kind
		sum   int64
	}{
		{"OneThatFoots", []file{{"a", 30, []int64{10, 20}}}, nil, nil, 30},
		{"OneThatDoesNot", []file{{"a", 31, []int64{10, 20}}}, nil, []reconcile.Kind{reconcile.InvoiceNotFooting}, 30},
		{
			"SentAgain",
			[]file{{"a", 30, []int64{10, 20}}, {"b", 30, []int64{10, 20}}},
			[]int{1},
			[]reconcile.Kind{reconcile.InvoiceResent},
			30,
		},
		{
			"SentTwiceMore",
			[]file{{"a", 10, []int64{10}}, {"b", 10, []int64{10}}, {"c", 10, []int64{10}}},
			[]int{1, 2},
			[]reconcile.Kind{reconcile.InvoiceResent, reconcile.InvoiceResent},
			10,
		},
		{"InParts", []file{{"a", 30, []int64{10}}, {"b", 30, []int64{20}}}, nil, nil, 30},
		{
			"Changed",
			[]file{{"a", 30, []int64{10, 20}}, {"b", 40, []int64{10, 30}}},
			[]int{1},
			[]reconcile.Kind{reconcile.InvoiceChanged},
			30,
		},
		{
			"ChangedAndOnlyTheLaterFoots",
			[]file{{"a", 30, []int64{10}}, {"b", 40, []int64{10, 30}}},
			[]int{0},
			[]reconcile.Kind{reconcile.InvoiceChanged},
			40,
		},
		{
			"ChangedAndNeitherFoots",
			[]file{{"a", 30, []int64{10}}, {"b", 30, []int64{11}}},
			[]int{1},
			[]reconcile.Kind{reconcile.InvoiceChanged, reconcile.InvoiceNotFooting},
			10,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ledger := reconcile.NewLedger()
			for number, f := range tt.files {
				for _, l := range f.lines() {
					ledger.Take(number, l)
				}
			}
			aside, findings := ledger.Settle()
			var numbers []int
			for _, a := range aside {
				numbers = append(numbers, a.File)
			}
			require.Equal(t, tt.aside, numbers)
			var kinds []reconcile.Kind
			ids := make(map[string]bool)
			for _, f := range findings {
				kinds = append(kinds, f.Kind)
				ids[f.ID] = true
			}
			require.Equal(t, tt.found, kinds)
			require.Len(t, ids, len(findings))

			_, err := ledger.Close()
			require.ErrorContains(t, err, "0 placed", "no line was placed yet")
			for number, f := range tt.files {
				for _, l := range f.lines() {
					if !contains(numbers, number) {
						require.NoError(t, ledger.Place(reconcile.Placement{Charge: &reconcile.Charge{Line: l}}))
					}
				}
			}
			invoices, err := ledger.Close()
			require.NoError(t, err)
			require.Len(t, invoices, 1)
			require.Equal(t, tt.sum, invoices[0].Lines.Cents)
			require.Equal(t, invoices[0].Lines, invoices[0].Buckets[reconcile.Matched])
		})
	}
}

func contains(numbers []int, n int) bool {
	for _, have := range numbers {
		if have == n {
			return true
		}
	}
	return false
}

func TestLedgerKeepsCurrenciesApart(t *testing.T) {
	t.Parallel()
	ledger := reconcile.NewLedger()
	dollars := charge().Line
	euros := charge(func(c *reconcile.Charge) { c.Amount = carrier.Money{Cents: 500, Currency: "EUR"} }).Line
	euros.StatedCents = 500
	ledger.Take(0, dollars)
	ledger.Take(0, euros)
	_, findings := ledger.Settle()
	require.Empty(t, findings, "each foots in its own currency")
}

func TestLedgerSeesRowsThatContradictEachOther(t *testing.T) {
	t.Parallel()
	ledger := reconcile.NewLedger()
	first := charge(func(c *reconcile.Charge) { c.StatedCents = 1680 }).Line
	second := charge(lineNo(2), func(c *reconcile.Charge) { c.StatedCents = 1681 }).Line
	ledger.Take(0, first)
	ledger.Take(0, second)
	_, findings := ledger.Settle()
	require.Len(t, findings, 1)
	require.Equal(t, reconcile.TotalsDiffer, findings[0].Why)
}

func TestLedgerRefusesALineItNeverTook(t *testing.T) {
	t.Parallel()
	ledger := reconcile.NewLedger()
	ledger.Settle()
	c := charge()
	require.Error(t, ledger.Place(reconcile.Placement{Charge: &c}))
}

func TestLedgerSeesALinePlacedTwice(t *testing.T) {
	t.Parallel()
	ledger := reconcile.NewLedger()
	c := charge()
	ledger.Take(0, c.Line)
	ledger.Settle()
	for range 2 {
		require.NoError(t, ledger.Place(reconcile.Placement{Charge: &c}))
	}
	_, err := ledger.Close()
	require.ErrorContains(t, err, "1 lines were read and 2 placed")
}
