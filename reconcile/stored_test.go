package reconcile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/reconcile"
)

// asStored is the invoice of files that hold parts of it, as an earlier run stored it.
func asStored(parts ...file) reconcile.Invoice {
	ledger := reconcile.NewLedger()
	for number, f := range parts {
		for _, l := range f.lines() {
			ledger.Take(number, l)
		}
	}
	ledger.Settle()
	stored := *ledger.Invoices()[0]
	stored.Before = true
	return stored
}

func TestLedgerHeedsWhatAPersonSaid(t *testing.T) {
	t.Parallel()
	older := file{"older", 30, []int64{10, 20}}
	newer := file{"newer", 40, []int64{10, 30}}
	third := file{"third", 50, []int64{10, 40}}
	broken := file{"broken", 99, []int64{10, 30}}
	firstHalf, secondHalf := file{"half-1", 40, []int64{15}}, file{"half-2", 40, []int64{25}}
	for _, tt := range []struct {
		name   string
		stored []file
		files  []file
		// valid and givenUp are whose contents a person spoke about.
		valid, givenUp []file
		found          []reconcile.Reason
		sum            int64
	}{
		{"NothingSaid", []file{older}, []file{newer}, nil, nil, []reconcile.Reason{reconcile.OtherContent}, 30},
		{"NewerAccepted", []file{older}, []file{newer}, []file{newer}, []file{older}, nil, 40},
		{
			"OlderFileStays",
			[]file{older},
			[]file{older, newer},
			[]file{newer},
			[]file{older},
			[]reconcile.Reason{reconcile.GivenUp},
			40,
		},
		// There is never nothing of the invoice.
		{"AcceptedIsNotHere", []file{older}, []file{older}, []file{newer}, []file{older}, nil, 30},
		{"AcceptedIsNotHereNorTheOlder", []file{older}, nil, []file{newer}, []file{older}, nil, 30},
		{"AcceptedIsStored", []file{newer}, []file{older}, []file{newer}, []file{older}, []reconcile.Reason{reconcile.GivenUp}, 40},
		{
			"AThirdComes",
			[]file{newer},
			[]file{third},
			[]file{newer},
			[]file{older},
			[]reconcile.Reason{reconcile.OtherContent},
			40,
		},
		{
			"AcceptedThoughItDoesNotFoot",
			[]file{older},
			[]file{broken, third},
			[]file{broken},
			[]file{older},
			[]reconcile.Reason{reconcile.OtherContent, reconcile.LinesMissTotal},
			40,
		},
		{
			"AcceptedInParts", []file{older}, []file{firstHalf, secondHalf}, []file{firstHalf, secondHalf}, []file{older}, nil, 40,
		},
		{
			"GivenUpInParts", []file{firstHalf, secondHalf}, []file{third}, []file{third}, []file{firstHalf, secondHalf}, nil, 50,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ledger := reconcile.NewLedger()
			stored := asStored(tt.stored...)
			ledger.TakeStored(stored)
			for number, f := range tt.files {
				ledger.Seen(number)
				for _, l := range f.lines() {
					ledger.Take(number, l)
				}
			}
			for _, f := range tt.valid {
				ledger.Decide(stored.InvoiceKey, asStored(f).Digests[0], true)
			}
			for _, f := range tt.givenUp {
				ledger.Decide(stored.InvoiceKey, asStored(f).Digests[0], false)
			}
			_, findings := ledger.Settle()
			var found []reconcile.Reason
			for _, f := range findings {
				found = append(found, f.Why)
			}
			require.Equal(t, tt.found, found)
			require.Len(t, ledger.Invoices(), 1)
			require.Equal(t, tt.sum, ledger.Invoices()[0].Lines.Cents)
		})
	}
}

func TestLedgerTellsWhatCameAgain(t *testing.T) {
	t.Parallel()
	whole := file{"whole", 30, []int64{10, 20}}
	for _, tt := range []struct {
		name   string
		before bool
		// seen are the files that were there on an earlier day, of two with the same content.
		seen  []int
		found int
	}{
		{"TheSameFiles", true, []int{0, 1}, 1},
		{"OneMore", true, []int{1}, 1},
		{"UnderOtherNames", true, nil, 2},
		{"TheSameNight", false, nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ledger := reconcile.NewLedger()
			stored := asStored(whole)
			stored.Before = tt.before
			ledger.TakeStored(stored)
			for number, name := range []string{"a", "b"} {
				for _, l := range whole.lines() {
					l.Source.File = name
					ledger.Take(number, l)
				}
			}
			for _, number := range tt.seen {
				ledger.Seen(number)
			}
			_, findings := ledger.Settle()
			require.Len(t, findings, tt.found, "of two files one is told of as the other's copy")
			for _, f := range findings {
				require.Equal(t, reconcile.InvoiceResent, f.Kind)
			}
			require.Equal(t, int64(30), ledger.Invoices()[0].Lines.Cents)
		})
	}
}
