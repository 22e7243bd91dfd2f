package carrier_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/carrier"
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
		{"10000000000.01", "USD", 0, carrier.ErrAmountSize},
		{"99999999999999999999999", "USD", 0, carrier.ErrAmountSize},
		{"12.401", "USD", 0, carrier.ErrAmountDecimals},
		{"12.0", "JPY", 0, carrier.ErrAmountDecimals},
		{"", "USD", 0, carrier.ErrAmountForm},
		{"-", "USD", 0, carrier.ErrAmountForm},
		{".5", "USD", 0, carrier.ErrAmountForm},
		{"5.", "USD", 0, carrier.ErrAmountForm},
		{"+5", "USD", 0, carrier.ErrAmountForm},
		{"--5", "USD", 0, carrier.ErrAmountForm},
		{"1,234.50", "USD", 0, carrier.ErrAmountForm},
		{"12,40", "USD", 0, carrier.ErrAmountForm},
		{"(12.40)", "USD", 0, carrier.ErrAmountForm},
		{"$12.40", "USD", 0, carrier.ErrAmountForm},
		{"1e3", "USD", 0, carrier.ErrAmountForm},
		{"1.2.3", "USD", 0, carrier.ErrAmountForm},
		{"٣", "USD", 0, carrier.ErrAmountForm},
	} {
		t.Run(tt.currency+" "+tt.in, func(t *testing.T) {
			t.Parallel()
			got, err := carrier.ParseCents(tt.in, tt.currency)
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
		got, err := carrier.ParseCents(m.Decimal(), m.Currency)
		if err != nil || got != m.Cents {
			t.Fatalf("%v became %d (%v)", m, got, err)
		}
	})
}
