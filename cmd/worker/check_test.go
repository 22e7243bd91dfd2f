package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// carriersFile writes a carriers.yaml of one sim for each name and address.
func carriersFile(t *testing.T, addresses map[string]string, more string) string {
	t.Helper()
	text := "default_carrier: sim\ncarriers:\n"
	for name, address := range addresses {
		text += fmt.Sprintf("  - {name: %s, kind: sim, base_url: %q, account: SIM-1, currency: USD, class: keyed%s}\n", name, address, more)
	}
	path := filepath.Join(t.TempDir(), "carriers.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestCarriersCheck(t *testing.T) {
	t.Parallel()
	sim, err := simserver.Open(simserver.Config{
		LedgerPath: filepath.Join(t.TempDir(), "ledger.jsonl"), Secret: "s3cret", Now: time.Now,
	})
	require.NoError(t, err)
	server := httptest.NewServer(sim)
	broken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(func() {
		server.Close()
		broken.Close()
		require.NoError(t, sim.Close())
	})
	check := func(secret string, addresses map[string]string) (int, string) {
		var out, log bytes.Buffer
		path := carriersFile(t, addresses, ", secret_env: SIM_SECRET")
		code := run(t.Context(), []string{"carriers", "check", "--carriers", path}, func(name string) string {
			return map[string]string{"SIM_SECRET": secret}[name]
		}, &out, &log)
		require.NotContains(t, out.String()+log.String(), secret)
		return code, out.String()
	}

	code, out := check("s3cret", map[string]string{"sim": server.URL})
	require.Zero(t, code)
	require.Regexp(t, `sim +SIM-1 +same key again +ok`, out)

	code, out = check("wr0ng", map[string]string{"sim": server.URL})
	require.Equal(t, 1, code)
	require.Regexp(t, `sim +SIM-1 +same key again +the carrier answered with status 401`, out)

	code, out = check("s3cret", map[string]string{"sim": server.URL, "other": broken.URL})
	require.Equal(t, 1, code)
	require.Regexp(t, `other .*status 404`, out)
	require.Regexp(t, `sim .*ok`, out, "one that fails does not end the check")
	require.Empty(t, sim.Entries(), "nothing is bought")
}
