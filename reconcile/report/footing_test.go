package report

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/reconcile"
)

func TestEveryInvoiceFootsOrSaysByHowMuchItDoesNot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		i := anInvoice(t)
		require.NoError(t, checkFooting([]*reconcile.Invoice{i}))
		cells := make(map[string]string)
		for n, text := range row(invoiceCells(i)) {
			cells[invoiceHeader()[n]] = text
		}
		cents := func(column string) int64 {
			n, err := carrier.ParseCents(cells[column], i.Currency)
			require.NoError(t, err, column)
			return n
		}
		var sum int64
		for b := range reconcile.Buckets {
			sum += cents(b.String())
		}
		require.Equal(t, sum, cents("sum_of_buckets"))
		if i.Unstated {
			require.Empty(t, cells["stated_total"])
			require.Equal(t, "no_total_stated", cells["foots"])
			require.Zero(t, cents("difference"))
			return
		}
		require.Equal(t, cents("stated_total"), sum+cents("difference"))
		require.Equal(t, cents("difference") == 0, cells["foots"] == "yes")
	})
}

func TestInvoicesOfACurrencyFootTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		invoices := rapid.SliceOfN(rapid.Custom(anInvoice), 1, 8).Draw(t, "invoices")
		var lines int64
		for _, f := range summariseFooting(invoices) {
			require.Equal(t, f.Sum.Minor, f.Stated.Minor+f.Unstated.Minor-f.Difference.Minor)
			var sum int64
			for _, b := range f.Buckets {
				sum += b.Amount.Minor
			}
			require.Equal(t, sum, f.Sum.Minor)
			lines += f.Lines
		}
		for _, i := range invoices {
			lines -= i.Lines.Count
		}
		require.Zero(t, lines, "every line is counted, in one currency")
	})
}

// anInvoice is any invoice as a ledger closes it, the carrier's rounding included.
func anInvoice(t *rapid.T) *reconcile.Invoice {
	i := &reconcile.Invoice{InvoiceKey: reconcile.InvoiceKey{
		InvoiceNo: "INV", Currency: rapid.SampledFrom([]string{"USD", "JPY", "KWD"}).Draw(t, "currency"),
	}}
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		cents := rapid.Int64Range(-1e9, 1e9).Draw(t, "cents")
		bucket := &i.Buckets[rapid.IntRange(0, int(reconcile.Buckets)-1).Draw(t, "bucket")]
		bucket.Count++
		bucket.Cents += cents
		i.Lines.Count++
		i.Lines.Cents += cents
	}
	switch rapid.IntRange(0, 3).Draw(t, "total") {
	case 0:
		i.StatedCents = i.Lines.Cents
	case 1:
		i.StatedCents = i.Lines.Cents + rapid.Int64Range(-1e6, 1e6).Draw(t, "missing")
	case 2:
		i.RoundedCents = rapid.Int64Range(-2, 2).Draw(t, "rounded")
		i.Buckets[reconcile.Rounding].Cents += i.RoundedCents
		i.StatedCents = i.Lines.Cents + i.RoundedCents
	default:
		i.Unstated = true
	}
	return i
}
