package carrierhttp

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/labels" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(front.Close)
	c, err := New(front.URL)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	probe := func(segment string) error {
		req, err := c.Request(t.Context(), http.MethodGet, segment)
		require.NoError(t, err)
		return c.Probe(req)
	}
	require.NoError(t, probe("labels"))
	require.EqualError(t, probe("secrets"), "the carrier answered with status 403")
	front.Close()
	require.ErrorContains(t, probe("labels"), "asking the carrier: ")
}
