package fedex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/fedex"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoice/invoicetest"
)

func TestBillingOnlineGolden(t *testing.T) {
	t.Parallel()
	invoicetest.Golden(t, fedex.BillingOnline{}, "us*.csv")
	invoicetest.Golden(t, fedex.BillingOnlineIntl{}, "intl*.csv")
}

const billingHeader = "Bill to Account Number,Invoice Date,Invoice Number,Original Amount Due,Express or Ground Tracking ID," +
	"Transportation Charge Amount,Net Charge Amount," +
	"Tracking ID Charge Description,Tracking ID Charge Amount,Tracking ID Charge Description,Tracking ID Charge Amount\n"

// TestARowsChargesAddUpToItsNetAmount, wherever the file keeps the carriage and whatever it leaves out.
func TestARowsChargesAddUpToItsNetAmount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		amounts string
		kinds   []invoice.Kind
	}{
		"CarriageBeside":    {"8.00,9.00,Fuel Surcharge,1.00,,", []invoice.Kind{invoice.Fuel, invoice.Freight}},
		"CarriageAmong":     {"8.00,9.00,Transportation Charge,8.00,Fuel,1.00", []invoice.Kind{invoice.Freight, invoice.Fuel}},
		"CarriageAlone":     {"8.00,8.00,,,,", []invoice.Kind{invoice.Freight}},
		"NothingItemised":   {",8.00,,,,", []invoice.Kind{invoice.Freight}},
		"SomethingLeftOut":  {"0.00,9.00,Fuel Surcharge,1.00,,", []invoice.Kind{invoice.Fuel, invoice.Unknown}},
		"NeitherWayAddsUp":  {"8.00,9.50,Fuel Surcharge,1.00,,", []invoice.Kind{invoice.Fuel, invoice.Freight, invoice.Unknown}},
		"SubtotalsRepeat":   {"8.00,9.00,Fuel Surcharge,1.00,Net Transportation Charges,9.00", []invoice.Kind{invoice.Fuel, invoice.Freight}},
		"CarriageThenAlone": {"8.00,9.50,,,,", []invoice.Kind{invoice.Freight, invoice.Unknown}},
		"NothingToPay":      {"0.00,0.00,,,,", []invoice.Kind{invoice.Freight}},
		"ANamelessCharge":   {"8.00,9.00,,1.00,,", []invoice.Kind{invoice.Unknown, invoice.Freight}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := invoicetest.Read(t, fedex.BillingOnline{}, billingHeader+"1,20260328,7,9.00,7946,"+tt.amounts+"\n")
			require.Empty(t, k.Rejects)
			var kinds []invoice.Kind
			var sum int64
			for _, l := range k.Lines {
				kinds = append(kinds, l.Kind)
				sum += l.Amount.Cents
			}
			require.Equal(t, tt.kinds, kinds)
			net := strings.Split(tt.amounts, ",")[1]
			require.Equal(t, net, sumText(sum))
		})
	}
}

func sumText(cents int64) string {
	return string([]byte{byte('0' + cents/100), '.', byte('0' + cents/10%10), byte('0' + cents%10)})
}

func TestBillingOnlineRefusesAFile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, says string }{
		"NoNetAmount": {strings.Replace(billingHeader, "Net Charge Amount", "Net", 1), "Net Charge Amount"},
		"NoPairs":     {billingHeader[:strings.Index(billingHeader, ",Tracking ID Charge")] + "\n", "no pair"},
		"Empty":       {"", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, invoicetest.Refused(t, fedex.BillingOnline{}, tt.file).Advice, tt.says)
		})
	}
}

func TestBillingOnlineRejectsARowAsAWhole(t *testing.T) {
	t.Parallel()
	k := invoicetest.Read(t, fedex.BillingOnline{}, billingHeader+
		"1,20260328,7,9.00,7.946E+11,8.00,9.00,Fuel,1.00,,\n"+
		"1,20260328,7,9.00,7946,8.00,9.00,Fuel,1.00,Other,x\n"+
		"1,28.03.2026,7,9.00,7946,8.00,9.00,Fuel,1.00,,\n")
	require.Empty(t, k.Lines, "half a row would be a false amount")
	require.Len(t, k.Rejects, 3)
	require.Equal(t, invoice.IDCorrupted, k.Rejects[0].Fault)
}

func FuzzBillingOnline(f *testing.F) {
	files, err := filepath.Glob("testdata/*.csv")
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Add([]byte(billingHeader + "1,20260328,7,9.00,7946,8.00,9.00,Fuel,1.00,,\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		invoicetest.Check(t, fedex.BillingOnline{}, file)
		invoicetest.Check(t, fedex.BillingOnlineIntl{}, file)
	})
}
