package usps_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/usps"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoice/invoicetest"
)

func TestTransactionsGolden(t *testing.T) {
	t.Parallel()
	invoicetest.Golden(t, usps.Transactions{}, "eps*.csv")
}

func TestTransactionsRefusesAFile(t *testing.T) {
	t.Parallel()
	refused := invoicetest.Refused(t, usps.Transactions{}, "EPS Account #,Transaction Amount,Transaction Date/Time\n")
	require.Equal(t, invoice.ColumnMissing, refused.Fault)
	require.Contains(t, refused.Advice, "EPS Transaction ID, Transaction Type, Package Identification Code (PIC)")
	require.Equal(t, invoice.FileEmpty, invoicetest.Refused(t, usps.Transactions{}, "").Fault)
}

func FuzzTransactions(f *testing.F) {
	content, err := os.ReadFile("testdata/eps.csv")
	require.NoError(f, err)
	f.Add(content)
	f.Fuzz(func(t *testing.T, file []byte) { invoicetest.Check(t, usps.Transactions{}, file) })
}
