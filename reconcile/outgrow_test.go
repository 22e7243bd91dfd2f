package reconcile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile"
)

func TestOutgrows(t *testing.T) {
	t.Parallel()
	usd := func(cents int64) reconcile.Stake {
		return reconcile.Stake{Severity: reconcile.Warning, Billed: cents, Difference: cents, Currency: "USD"}
	}
	with := func(s reconcile.Stake, change func(*reconcile.Stake)) reconcile.Stake {
		change(&s)
		return s
	}
	for _, tt := range []struct {
		name    string
		was, is reconcile.Stake
		why     string
	}{
		{"TheSame", usd(100), usd(100), ""},
		{"Less", usd(100), usd(99), ""},
		{"More", usd(100), usd(101), "grew from 1.00 USD to 1.01 USD"},
		{"MoreTheOtherWay", usd(-100), usd(-101), "grew from -1.00 USD to -1.01 USD"},
		{"TheOtherWay", usd(-100), usd(50), "grew from -1.00 USD to 0.50 USD"},
		{"Nothing", usd(-100), usd(0), ""},
		{"FromNothing", usd(0), usd(1), "grew from 0.00 USD to 0.01 USD"},
		{
			"AnotherCurrency", usd(100), with(usd(90), func(s *reconcile.Stake) { s.Currency = "EUR" }),
			"was about 1.00 USD, is about 0.90 EUR",
		},
		{
			"MoneyAtLast",
			reconcile.Stake{Severity: reconcile.Warning},
			usd(100),
			"was about no money, is about 1.00 USD",
		},
		{
			// Between two currencies there is no difference, and what is billed grows.
			"MoreBilled", with(usd(100), func(s *reconcile.Stake) { s.Difference = 0 }),
			with(usd(200), func(s *reconcile.Stake) { s.Difference = 0 }), "grew from 1.00 USD to 2.00 USD",
		},
		{
			"Worse", usd(100), with(usd(100), func(s *reconcile.Stake) { s.Severity = reconcile.Error }),
			"was warning, is error: 1.00 USD",
		},
		{"Better", usd(100), with(usd(100), func(s *reconcile.Stake) { s.Severity = reconcile.Info }), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			why, outgrown := tt.is.Outgrows(tt.was)
			require.Equal(t, tt.why, why)
			require.Equal(t, tt.why != "", outgrown)
		})
	}
}

func TestStakeNamesTheCurrencyThatThereIs(t *testing.T) {
	t.Parallel()
	eur, usd := carrier.Money{Cents: 500, Currency: "EUR"}, carrier.Money{Cents: 400, Currency: "USD"}
	require.Equal(t, "EUR", reconcile.Finding{Billed: eur, Expected: usd}.Stake().Currency)
	require.Equal(t, "USD", reconcile.Finding{Expected: usd}.Stake().Currency)
	require.Equal(t, reconcile.Stake{Difference: 400, Currency: "USD"}, reconcile.Finding{Difference: usd}.Stake())
	require.Empty(t, reconcile.Finding{}.Stake().Currency)
}
