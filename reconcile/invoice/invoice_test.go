package invoice_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

func TestParseCents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in, currency string
		want         int64
		err          error
	}{
		{"0", "USD", 0, nil},
		{"12.4", "USD", 1240, nil},
		{"-12.40", "USD", -1240, nil},
		{"-0.00", "USD", 0, nil},
		{"000012.34", "USD", 1234, nil},
		{"1240", "JPY", 1240, nil},
		{"1.240", "KWD", 1240, nil},
		{"10000000000.00", "USD", 1_000_000_000_000, nil},
		{"10000000000.01", "USD", 0, invoice.ErrAmountSize},
		{"99999999999999999999999", "USD", 0, invoice.ErrAmountSize},
		{"12.401", "USD", 0, invoice.ErrAmountDecimals},
		{"12.0", "JPY", 0, invoice.ErrAmountDecimals},
		{"", "USD", 0, invoice.ErrAmountForm},
		{"-", "USD", 0, invoice.ErrAmountForm},
		{".5", "USD", 0, invoice.ErrAmountForm},
		{"5.", "USD", 0, invoice.ErrAmountForm},
		{"+5", "USD", 0, invoice.ErrAmountForm},
		{"--5", "USD", 0, invoice.ErrAmountForm},
		{"1,234.50", "USD", 0, invoice.ErrAmountForm},
		{"12,40", "USD", 0, invoice.ErrAmountForm},
		{"(12.40)", "USD", 0, invoice.ErrAmountForm},
		{"$12.40", "USD", 0, invoice.ErrAmountForm},
		{"1e3", "USD", 0, invoice.ErrAmountForm},
		{"1.2.3", "USD", 0, invoice.ErrAmountForm},
		{"٣", "USD", 0, invoice.ErrAmountForm},
	} {
		t.Run(tt.currency+" "+tt.in, func(t *testing.T) {
			t.Parallel()
			got, err := invoice.ParseCents(tt.in, tt.currency)
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestAmountsSurviveBeingWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := carrier.Money{
			Cents:    rapid.Int64Range(-1_000_000_000_000, 1_000_000_000_000).Draw(t, "cents"),
			Currency: rapid.SampledFrom([]string{"USD", "JPY", "KWD"}).Draw(t, "currency"),
		}
		got, err := invoice.ParseCents(invoice.Decimal(m), m.Currency)
		if err != nil || got != m.Cents {
			t.Fatalf("%v became %d (%v)", m, got, err)
		}
	})
}

func TestCorrupted(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"7.94E+11": true, "7,94E+11": true, "1E+12": true, "1.2e-05": true,
		"0000376E74425": false, "1Z999AA10123456784": false, "12E7": false, "79E+11": false, "": false,
	} {
		require.Equal(t, want, invoice.Corrupted(id), id)
	}
}

func TestCleanID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  0012 ":               "0012",
		`="0012"`:               "0012",
		"'0012":                 "0012",
		"9400 1000\u00a00000 1": "9400100000001",
		"0012.0":                "0012.0",
		`="0012`:                `="0012`,
		"":                      "",
	} {
		require.Equal(t, want, invoice.CleanID(in), in)
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	d, err := invoice.ParseDate("2026-02-28")
	require.NoError(t, err)
	require.Equal(t, "2026-03-01", (d + 1).String())
	for _, s := range []string{"", "2026-2-28", "28.02.2026", "02/28/2026", "2026-02-30", "1969-12-31", "20260228"} {
		_, err := invoice.ParseDate(s)
		require.Error(t, err, s)
	}

	chicago, err := time.LoadLocation("America/Chicago")
	require.NoError(t, err)
	late := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	require.Equal(t, "2026-02-28", invoice.DateOf(late, chicago).String(), "nine in the evening in Chicago")
	require.Equal(t, "2026-03-01", invoice.DateOf(late, time.UTC).String())
	require.Equal(t, "2026-02-28T06:00:00Z", d.Start(chicago).UTC().Format(time.RFC3339))
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	require.False(t, invoice.Damaged("Zürich\t1"))
	for _, s := range []string{"a\x00b", "a\xffb", "a\x1bb", strings.Repeat("x", 9) + "\x7f"} {
		require.True(t, invoice.Damaged(s), "%q", s)
	}
}
