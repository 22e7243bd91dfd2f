package easypost_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/easypost"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoice/invoicetest"
)

func TestReportsGolden(t *testing.T) {
	t.Parallel()
	invoicetest.Golden(t, easypost.ShipmentInvoices{}, "adjustments*.csv")
	invoicetest.Golden(t, easypost.PaymentLog{}, "payments*.csv")
}

// TestReportsLackColumns: EasyPost leaves out a column that was asked for and says nothing.
func TestReportsLackColumns(t *testing.T) {
	t.Parallel()
	refused := invoicetest.Refused(t, easypost.ShipmentInvoices{}, "shipment_id,label_date,tracking_code,initially_paid_amount\nshp_1,2026-03-24,9400,1\n")
	require.Equal(t, invoice.ColumnMissing, refused.Fault)
	require.Contains(t, refused.Advice, "final_invoice_amount")
	require.Contains(t, invoicetest.Refused(t, easypost.PaymentLog{}, "id,amount\n1,2\n").Advice, "created_at, status, source_type, target_type")
}

func FuzzReports(f *testing.F) {
	for _, file := range []string{"testdata/adjustments.csv", "testdata/payments.csv"} {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		invoicetest.Check(t, easypost.ShipmentInvoices{}, file)
		invoicetest.Check(t, easypost.PaymentLog{}, file)
	})
}
