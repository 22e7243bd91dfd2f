package units_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"waybill/internal/units"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFromMetric(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		unit     units.Unit
		metric   int64
		decimals int
		want     string
	}{
		{units.Ounce, 1450, 1, "51.2"}, // 51.147
		{units.Ounce, 28, 0, "1"},
		{units.Ounce, 29, 0, "2"},
		{units.Pound, 1450, 2, "3.2"}, // 3.1967
		{units.Pound, 1, 2, "0.01"},
		{units.Kilogram, 1450, 3, "1.45"},
		{units.Kilogram, 1451, 2, "1.46"},
		{units.Kilogram, 1000, 0, "1"},
		{units.Kilogram, 20_000, 0, "20"},
		{units.Inch, 254, 2, "10"},
		{units.Inch, 300, 2, "11.82"}, // 11.811
		{units.Centimetre, 305, 0, "31"},
	} {
		require.Equal(t, tt.want, tt.unit.FromMetric(tt.metric, tt.decimals), "%d, %d decimals", tt.metric, tt.decimals)
	}
}

func TestToMetric(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"51.2": 1451, "1": 28, "0": 0, "15.40": 437} {
		got, err := units.Ounce.ToMetric(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "-1", "1e3", "1,5", ".5", "5.", "NaN", "9999999999999"} {
		_, err := units.Ounce.ToMetric(text)
		require.ErrorIs(t, err, units.ErrNotANumber, text)
	}
}

// TestThereAndBack: never lighter than it was, and never a step heavier.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	all := map[string]units.Unit{
		"ounce": units.Ounce, "pound": units.Pound, "kilogram": units.Kilogram, "inch": units.Inch, "centimetre": units.Centimetre,
	}
	for name, unit := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				v := rapid.Int64Range(1, 100_000).Draw(t, "metric")
				decimals := rapid.IntRange(0, 4).Draw(t, "decimals")
				got, err := unit.ToMetric(unit.FromMetric(v, decimals))
				if err != nil || got < v || got-v > unit.Step(decimals) {
					t.Fatalf("%d came back as %d (%v)", v, got, err)
				}
			})
		})
	}
}
