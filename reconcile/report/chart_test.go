package report

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBarsStayInTheirChart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-1e18, 1e18), 1, 12).Draw(t, "values")
		bars := make([]bar, len(values))
		for i, v := range values {
			bars[i].value = v
		}
		for _, b := range lay(bars) {
			require.GreaterOrEqual(t, b.X, 0)
			require.LessOrEqual(t, b.X+b.W, chartWidth)
			require.Equal(t, b.value != 0, b.W > 0, "what is not nothing can be seen")
			require.Equal(t, bars[0].Zero, b.Zero, "one scale")
		}
	})
}

func TestStripsAreFull(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 1, 10).Draw(t, "values")
		var whole int64
		segments := make([]segment, len(values))
		for i, v := range values {
			segments[i].value = v
			whole += v
		}
		x := 0
		for _, s := range stack(segments) {
			require.Equal(t, x, s.X, "side by side")
			require.Equal(t, s.value != 0, s.W > 0, "what is not nothing can be seen")
			x += s.W
		}
		if whole > 0 {
			require.Equal(t, chartWidth, x)
		}
	})
}
