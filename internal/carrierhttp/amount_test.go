package carrierhttp

import (
	"encoding/json/jsontext"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCents(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		`21.45`: 2145, `"5.93000"`: 593, `8`: 800, `"0.00000"`: 0, `10.9`: 1090, `-1.5`: -150,
	} {
		got, err := Cents(jsontext.Value(raw), "USD")
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
	}
	yen, err := Cents(jsontext.Value(`1200.0`), "JPY")
	require.NoError(t, err)
	require.EqualValues(t, 1200, yen)
	for _, raw := range []string{
		``, `null`, `true`, `{}`, `[1]`, `""`, `"."`, `"1."`, `1e2`, `"1,50"`, `5.935`, `"$5"`, `21.450000000000003`, `"5 "`,
	} {
		_, err := Cents(jsontext.Value(raw), "USD")
		require.Error(t, err, raw)
	}
}
