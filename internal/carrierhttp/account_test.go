package carrierhttp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckAccount(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckAccount("sim", "A", "USD"))
	require.EqualError(t, CheckAccount("", "A", "USD"), "carrier's name is empty")
	require.EqualError(t, CheckAccount("sim", "", "USD"), "account is empty")
	for _, currency := range []string{"", "euro", "usd"} {
		require.ErrorContains(t, CheckAccount("sim", "A", currency), "not an ISO 4217 code")
	}
}
