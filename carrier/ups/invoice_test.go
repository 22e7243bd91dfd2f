package ups_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/ups"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoice/invoicetest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	invoicetest.Golden(t, ups.BillingData{}, "*.csv")
}

// row is a row with the fields at the given positions and 250 in all.
func row(at map[int]string) string {
	fields := make([]string, 250)
	for i, v := range map[int]string{
		1: "2.1", 3: "0000A12345", 5: "2026-03-28", 6: "0000376E74425", 10: "USD", 11: "10.00",
		12: "2026-03-24", 21: "1ZA", 35: "SHP", 36: "ISD", 44: "FRT", 45: "003", 46: "Ground", 53: "10.00",
	} {
		fields[i-1] = v
	}
	for i, v := range at {
		fields[i-1] = v
	}
	return strings.Join(fields, ",") + "\n"
}

func TestCharges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		category, detail, class, text, net string
		kind                               invoice.Kind
		correction                         bool
	}{
		{"SHP", "ISD", "FRT", "Standard", "1.00", invoice.Freight, false},
		{"SHP", "ISD", "FSC", "Irgendwas", "1.00", invoice.Fuel, false},
		{"SHP", "ISD", "ACC", "Remote Area Surcharge", "1.00", invoice.Area, false},
		{"SHP", "ISD", "ACC", "Fuel Surcharge", "1.00", invoice.Fuel, false},
		{"SHP", "ISD", "ACC", "Over Maximum Limits", "1.00", invoice.Accessorial, false},
		{"SHP", "ISD", "BRK", "Entry Preparation", "1.00", invoice.Brokerage, false},
		{"SHP", "ISD", "GOV", "Duty Amount", "1.00", invoice.Duty, false},
		{"SHP", "ISD", "EXM", "Exam", "1.00", invoice.Unknown, false},
		{"SHP", "ISD", "", "", "1.00", invoice.Unknown, false},
		{"SHP", "ISD", "MSC", "Something", "1.00", invoice.Unknown, false},
		{"ADJ", "ADJ", "FRT", "Address Correction Ground", "1.00", invoice.AddressCorrection, true},
		{"ADJ", "ADJ", "FRT", "Residential Adjustment", "1.00", invoice.Residential, true},
		{"ADJ", "ADJ", "FRT", "ZONE ADJUSTMENT Ground", "-1.00", invoice.Adjustment, true},
		{"ADJ", "CADJ", "ACC", "SCC Audit Fee", "1.00", invoice.Accessorial, true},
		{"ADJ", "ADJ", "FRT", "Guaranteed Service Refund", "-1.00", invoice.ServiceCredit, false},
		{"ADJ", "ADJ", "ACC", "Chargeback Fee", "1.00", invoice.Chargeback, false},
		{"ADJ", "ADJ", "FRT", "Void Ground", "1.00", invoice.Adjustment, true},
		{"RTN", "RTS", "FRT", "Returns Ground", "1.00", invoice.Return, false},
		{"RTN", "PRL", "FRT", "Returns Ground", "1.00", invoice.Freight, false},
	} {
		t.Run(tt.class+" "+tt.text, func(t *testing.T) {
			t.Parallel()
			k := invoicetest.Read(t, ups.BillingData{}, row(map[int]string{
				35: tt.category, 36: tt.detail, 44: tt.class, 46: tt.text, 53: tt.net,
			}))
			require.Len(t, k.Lines, 1)
			require.Equal(t, tt.kind, k.Lines[0].Kind)
			require.Equal(t, tt.correction, k.Lines[0].Correction)
		})
	}
}

func TestAnotherCurrencyThanTheTotalsStatesNone(t *testing.T) {
	t.Parallel()
	k := invoicetest.Read(t, ups.BillingData{}, row(nil)+row(map[int]string{51: "CAD"}))
	require.False(t, k.Lines[0].Unstated)
	require.True(t, k.Lines[1].Unstated)
	require.Equal(t, "CAD", k.Lines[1].Amount.Currency)
	require.Equal(t, "0000376E74425", k.Lines[1].InvoiceNo, "no number that lost its digits")
}

func TestRefusesAFile(t *testing.T) {
	t.Parallel()
	summary := "Account Number,Invoice Number,Invoice Date,Amount Due,Tracking Number,Billed Charge,Incentive Credit,Invoice Section\n"
	for name, tt := range map[string]struct {
		file, says string
		known      bool
	}{
		"Summary":      {summary + "1,2,3,4,5,6,7,Outbound/Shipping API\n", "one row for each shipment", true},
		"OtherVersion": {row(map[int]string{1: "6.1"}), "version 2.1", false},
		"OtherHeader":  {row(map[int]string{1: "Version", 6: "Number"}) + row(nil), "where UPS has it", true},
		"Empty":        {"", "empty", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, invoicetest.Refused(t, ups.BillingData{}, tt.file).Advice, tt.says)
			require.Equal(t, tt.known, ups.BillingData{}.Detect([]byte(tt.file)))
		})
	}
}

func FuzzBillingData(f *testing.F) {
	files, err := filepath.Glob("testdata/*.csv")
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, file []byte) { invoicetest.Check(t, ups.BillingData{}, file) })
}
