package dhl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/dhl"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoice/invoicetest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	invoicetest.Golden(t, dhl.Express{}, "*.csv")
}

const header = "Line Type,Invoice Number,Invoice Date,Billing Account,Shipment Number,Currency,Total amount(incl.VAT)," +
	"Total Tax,Invoice Fee,Weight Charge,XC1 Code,XC1 Name,XC1 Charge,XC1 Tax,XC1 Discount,XC1 Total\n"

// TestALinesSumIsTheInvoices holds what an invoice adds up to against what it states.
func TestALinesSumIsTheInvoices(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		invoice, shipment string
		kinds             []invoice.Kind
		foots             bool
	}{
		"Exact":            {"10.00,0,0", "10.00,0,,10.00,,,,,,", []invoice.Kind{invoice.Freight}, true},
		"AMinorUnitMore":   {"10.01,0,0", "10.00,0,,10.00,,,,,,", []invoice.Kind{invoice.Freight, invoice.Rounding}, true},
		"AMinorUnitLess":   {"9.99,0,0", "10.00,0,,10.00,,,,,,", []invoice.Kind{invoice.Freight, invoice.Rounding}, true},
		"TwoAreNoRounding": {"10.02,0,0", "10.00,0,,10.00,,,,,,", []invoice.Kind{invoice.Freight}, false},
		"Fee":              {"12.50,0,2.50", "10.00,0,,10.00,,,,,,", []invoice.Kind{invoice.Freight, invoice.InvoiceLevel}, true},
		"FeeAmongThem":     {"10.00,0,2.50", "10.00,0,,10.00,,,,,,", []invoice.Kind{invoice.Freight}, true},
		"NotItemised":      {"10.00,0,0", "10.00,0,,9.00,,,,,,", []invoice.Kind{invoice.Freight, invoice.Unknown}, true},
		"RowRounds":        {"10.00,0,0", "10.00,0,,9.99,,,,,,", []invoice.Kind{invoice.Freight, invoice.Rounding}, true},
		"NothingToPay":     {"0.00,0,0", "0.00,0,,0.00,0,0,0,0,0,0", []invoice.Kind{invoice.Freight}, true},
		"WaivedCharge":     {"10.00,0,0", "10.00,0,,10.00,FF,FUEL,5.00,,,0.00", []invoice.Kind{invoice.Freight}, true},
		"TaxInTheGroup":    {"16.00,1,0", "16.00,1.00,,10.00,FF,FUEL,5.00,1.00,,6.00", []invoice.Kind{invoice.Freight, invoice.Fuel, invoice.Tax}, true},
		"NoGroupTotal":     {"14.00,0,0", "14.00,0,,10.00,FF,FUEL,5.00,,-1.00,", []invoice.Kind{invoice.Freight, invoice.Fuel}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := invoicetest.Read(t, dhl.Express{}, header+
				"I,A1,20260328,954,,EUR,"+tt.invoice+",0,,,,,,\nS,A1,20260328,954,3661655384,EUR,"+tt.shipment+"\n")
			require.Empty(t, k.Rejects)
			var kinds []invoice.Kind
			var sum int64
			for _, l := range k.Lines {
				kinds = append(kinds, l.Kind)
				sum += l.Amount.Cents
			}
			require.Equal(t, tt.kinds, kinds)
			require.Equal(t, tt.foots, sum == k.Lines[0].StatedCents)
		})
	}
}

// TestARefusedShipmentIsNotMadeUpFor: an invoice whose shipments cannot be read has no line that says otherwise.
func TestARefusedShipmentIsNotMadeUpFor(t *testing.T) {
	t.Parallel()
	k := invoicetest.Read(t, dhl.Express{}, header+
		"I,A1,20260328,954,,EUR,10.00,0,,,,,,,,\nS,A1,20260328,954,3.66E+09,EUR,10.00,0,,10.00,,,,,,\n")
	require.Len(t, k.Rejects, 1)
	require.Empty(t, k.Lines)
}

func TestRefusesAFile(t *testing.T) {
	t.Parallel()
	require.Contains(t, invoicetest.Refused(t, dhl.Express{}, strings.Replace(header, "Billing Account", "Account", 1)).Advice, "Billing Account")
	require.Equal(t, invoice.FileEmpty, invoicetest.Refused(t, dhl.Express{}, "").Fault)
}

func FuzzExpress(f *testing.F) {
	files, err := filepath.Glob("testdata/*.csv")
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, file []byte) { invoicetest.Check(t, dhl.Express{}, file) })
}
