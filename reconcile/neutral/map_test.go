package neutral_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/invoice/invoicetest"
	"waybill/reconcile/neutral"
)

const german = `
columns:
  invoice_no: Rechnung
  invoice_date: Datum
  tracking_no: Paketschein
  amount: Netto
  reference: Ihr Zeichen
constants:
  carrier: dpd
  account: "0012"
  currency: EUR
  kind: freight
dates: DD.MM.YYYY
`

const germanFile = "Rechnung;Datum;Empf\xe4nger;Paketschein;Netto;Ihr Zeichen\nR1;31.03.2026;J. Doe;0599;1.008,40; WB00000000E1JM400000G0000004\nR1;31.03.2026;J. Doe;0600;4,00;\n"

func mapped(t *testing.T, text string) neutral.Mapped {
	t.Helper()
	m, err := neutral.ReadMap(strings.NewReader(text))
	require.NoError(t, err)
	return neutral.Mapped{Map: m}
}

func TestMappedFile(t *testing.T) {
	t.Parallel()
	d := mapped(t, german)
	require.True(t, d.Detect([]byte(germanFile)))
	require.False(t, d.Detect([]byte(header+good)))
	k := invoicetest.Read(t, d, germanFile)
	require.Empty(t, k.Rejects)
	date, err := invoice.ParseDate("2026-03-31")
	require.NoError(t, err)
	require.Len(t, k.Lines, 2)
	require.Empty(t, cmp.Diff(invoice.Line{
		Source: invoice.Source{Row: 2}, Carrier: "dpd", Account: "0012", InvoiceNo: "R1", InvoiceDate: date,
		LineNo: "freight", Kind: invoice.Freight, TrackingNo: "0599", Reference: "WB00000000E1JM400000G0000004",
		Amount: carrier.Money{Cents: 100840, Currency: "EUR"}, Unstated: true,
	}, k.Lines[0]))
	require.Equal(t, []string{"Empfänger"}, k.Columns)
}

func TestMappedFileComplainsInItsMapsWords(t *testing.T) {
	t.Parallel()
	d := mapped(t, german)
	require.Contains(t, invoicetest.Refused(t, d, strings.Replace(germanFile, "Netto", "Brutto", 1)).Advice, "lacks Netto")
	k := invoicetest.Read(t, d, strings.Replace(germanFile, "31.03.2026", "2026-03-31", 1))
	require.Equal(t, "invoice_date", k.Rejects[0].Column)
}

func TestReadMapRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, says string }{
		"Misspelt":      {"columns: {amont: Netto}\n", `"amont" is not one of`},
		"UnknownMember": {"colums: {amount: Netto}\n", "colums"},
		"Twice":         {"columns: {carrier: C}\nconstants: {carrier: dpd}\n", "both"},
		"Nothing":       {"columns: {amount: ' '}\n", "mapped to nothing"},
		"Dates":         {"columns: {amount: Netto}\ndates: D/M/Y\n", "DD.MM.YYYY"},
		"NoColumns":     {"constants: {carrier: dpd}\n", "columns names none"},
		"NoYAML":        {"columns: [", "reading the map"},
		"EmptyIsNoMap":  {"", "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := neutral.ReadMap(strings.NewReader(tt.text))
			require.ErrorContains(t, err, tt.says)
		})
	}
}
