package simserver

import (
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// invoiceServer has five charges, of which the last is void.
func invoiceServer(t *testing.T) *testBundle {
	t.Helper()
	b := setup(t, nil)
	for _, reference := range []string{"REF1", "REF2", "REF3", "REF4"} {
		b.buyRef(t, reference)
	}
	_, label := b.buyRef(t, "REF5")
	b.call(t, "POST", "/labels/"+label["label_id"].(string)+"/void", "")
	return b
}

func TestInvoice(t *testing.T) {
	t.Parallel()
	for _, plants := range []string{
		"", "double", "orphan", "wrong_amount", "unbilled", "after_void", "adjustment", "tax",
		"invoice_level", "not_footing", "double,orphan,wrong_amount,unbilled,after_void",
	} {
		name := strings.ReplaceAll(plants, ",", "-")
		if name == "" {
			name = "honest"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/_sim/invoice?format=neutral&plant=" + plants
			b := invoiceServer(t)
			status, got := b.callRaw(t, "GET", path, "")
			require.Equal(t, 200, status)
			_, again := b.callRaw(t, "GET", path, "")
			require.Equal(t, string(got), string(again))
			golden := filepath.Join("testdata", "invoice-"+name+".csv")
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(string(want), string(got)))
		})
	}
}

func TestInvoiceRefuses(t *testing.T) {
	t.Parallel()
	b := invoiceServer(t)
	for name, tt := range map[string]struct {
		query  string
		status int
	}{
		"UnknownFormat":   {"format=ups", 400},
		"UnknownPlant":    {"plant=typo", 422},
		"NothingToPlant":  {"plant=after_void,after_void", 422},
		"MorePlantsThan4": {"plant=double,double,double,double,double", 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer := b.call(t, "GET", "/_sim/invoice?"+tt.query, "")
			require.Equal(t, tt.status, status)
			require.NotEmpty(t, answer["message"])
		})
	}
}

func TestInvoiceOfAnEmptyLedger(t *testing.T) {
	t.Parallel()
	invoice, err := setup(t, nil).Invoice()
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(invoice))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, [][]string{neutralColumns}, rows)
	_, err = setup(t, nil).Invoice("orphan")
	require.ErrorContains(t, err, "ledger is empty")
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for cents, want := range map[int64]string{0: "0.00", 5: "0.05", 600: "6.00", -7: "-0.07", -1234: "-12.34"} {
		require.Equal(t, want, decimal(cents))
	}
}

// TestInvoiceIsOfItsOwnFormat: what is sold as FedEx sells it, FedEx bills.
func TestInvoiceIsOfItsOwnFormat(t *testing.T) {
	t.Parallel()
	s := setup(t, nil)
	for _, sold := range []record{
		{Entry: Entry{Kind: Charge, LabelID: "a", TrackingNo: "OURS", AmountCents: 100}},
		{Entry: Entry{Kind: Charge, LabelID: "b", TrackingNo: "THEIRS", AmountCents: 100}, Dialect: "fedex"},
		{Entry: Entry{Kind: Void, LabelID: "b", TrackingNo: "THEIRS", AmountCents: 100}},
	} {
		_, err := s.ledger.append(sold, nil)
		require.NoError(t, err)
	}
	invoice, err := s.Invoice()
	require.NoError(t, err)
	require.Contains(t, string(invoice), "OURS")
	require.NotContains(t, string(invoice), "THEIRS")
}
