package e2e

import (
	"flag"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/pgcluster"
)

// allPooled puts a pooler into every stack; see make pgbouncer.
var allPooled = flag.Bool("pooler", false, "run all programs behind PgBouncer in transaction mode")

// unpooled are the tests that a pooler cannot be put into, and why.
var unpooled = map[string]string{
	"TestChaos": "its programs reach Postgres by links of their own, which are its subject",
}

// leaveOutUnpooled takes the tests of unpooled out of the run, and says so.
func leaveOutUnpooled() error {
	skip := flag.Lookup("test.skip").Value.String()
	var patterns []string
	if skip != "" {
		patterns = append(patterns, skip)
	}
	for _, name := range slices.Sorted(maps.Keys(unpooled)) {
		fmt.Printf("left out behind a pooler: %s: %s\n", name, unpooled[name])
		patterns = append(patterns, "^"+regexp.QuoteMeta(name)+"$")
	}
	return flag.Set("test.skip", strings.Join(patterns, "|"))
}

// startPooler starts a PgBouncer of the stack's own in front of the database, and returns the way
// through it.
func startPooler(t *testing.T, databaseURL string) string {
	t.Helper()
	bouncer, err := pgcluster.StartPgBouncer(t.Context(), databaseURL, map[string]string{
		// Fewer sessions than connections, so that sessions are shared from the first transaction on.
		"default_pool_size": "4",
		// As docs/operating.md says: without it an outage lasts for 15 s more.
		"server_login_retry": "1",
	}, t.Output())
	require.NoError(t, err)
	t.Cleanup(bouncer.Close)
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	return bouncer.URL(strings.TrimPrefix(u.Path, "/"))
}
