package pgcluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/pgcluster"
)

// TestCopy: a backup knows what was there when it was made; a standby goes on hearing, and takes over.
func TestCopy(t *testing.T) {
	t.Parallel()
	primary := start(t, pgcluster.Config{Replicated: true})
	exec(t, primary.URL("postgres"), `CREATE TABLE words AS SELECT 'before'::text AS word`)
	backup, err := primary.Copy(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, backup.Close()) })
	standby, err := primary.Standby(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, standby.Close()) })

	exec(t, primary.URL("postgres"), `INSERT INTO words VALUES ('after')`)
	const all = `SELECT string_agg(word, ' ' ORDER BY word) FROM words`
	require.Equal(t, "before", query(t, backup.URL("postgres"), all))
	require.Eventually(t, func() bool {
		return query(t, standby.URL("postgres"), all) == "after before"
	}, 30*time.Second, 10*time.Millisecond)

	primary.Stop(pgcluster.Immediate)
	require.NoError(t, standby.Promote(t.Context()))
	exec(t, standby.URL("postgres"), `INSERT INTO words VALUES ('then')`)
	require.Equal(t, "after before then", query(t, standby.URL("postgres"), all))
}

func TestCopyNeedsAReplicatedCluster(t *testing.T) {
	t.Parallel()
	cluster := start(t, pgcluster.Config{})
	_, err := cluster.Copy(t.Context())
	require.ErrorContains(t, err, "Replicated")
}
