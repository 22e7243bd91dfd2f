package carrierhttp

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSegmentsStayInTheirPlace: whatever an id holds, it is one step of the path.
func TestSegmentsStayInTheirPlace(t *testing.T) {
	t.Parallel()
	c, err := New("https://carrier.test/v2/")
	require.NoError(t, err)
	for segment, want := range map[string]string{
		"shp_1":  "https://carrier.test/v2/labels/shp_1/void",
		"..":     "https://carrier.test/v2/labels/%2E./void",
		".":      "https://carrier.test/v2/labels/%2E/void",
		"a/../b": "https://carrier.test/v2/labels/a%2F..%2Fb/void",
		"a?b#c":  "https://carrier.test/v2/labels/a%3Fb%23c/void",
		"50%":    "https://carrier.test/v2/labels/50%25/void",
	} {
		req, err := c.Request(t.Context(), http.MethodGet, "labels", segment, "void")
		require.NoError(t, err)
		require.Equal(t, want, req.URL.String())
	}
}
