package pgcluster_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/internal/pgcluster"
)

func start(t *testing.T, config pgcluster.Config) *pgcluster.Cluster {
	t.Helper()
	config.Log = t.Output()
	cluster, err := pgcluster.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Close()) })
	return cluster
}

func exec(t *testing.T, databaseURL, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

func query(t *testing.T, databaseURL, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	var answer string
	err = conn.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&answer)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	return answer
}

func TestStart(t *testing.T) {
	t.Parallel()

	t.Run("TakesConnectionsOnLoopbackOnly", func(t *testing.T) {
		t.Parallel()
		cluster := start(t, pgcluster.Config{})
		require.Equal(t, "127.0.0.1", query(t, cluster.URL("postgres"), `SHOW listen_addresses`))
		require.Equal(t, "300", query(t, cluster.URL("postgres"), `SHOW max_connections`))
	})

	t.Run("FastKeepsCommitsOverACrashOfPostgres", func(t *testing.T) {
		t.Parallel()
		cluster := start(t, pgcluster.Config{})
		require.Equal(t, "off", query(t, cluster.URL("postgres"), `SHOW fsync`))
		require.Equal(t, "on", query(t, cluster.URL("postgres"), `SHOW synchronous_commit`))
	})

	t.Run("DurableFlushes", func(t *testing.T) {
		t.Parallel()
		cluster := start(t, pgcluster.Config{Durable: true})
		require.Equal(t, "on", query(t, cluster.URL("postgres"), `SHOW fsync`))
		require.Equal(t, "on", query(t, cluster.URL("postgres"), `SHOW full_page_writes`))
	})

	t.Run("SettingsWin", func(t *testing.T) {
		t.Parallel()
		cluster := start(t, pgcluster.Config{Settings: map[string]string{
			"max_connections": "20", "cluster_name": "it's mine",
		}})
		require.Equal(t, "20", query(t, cluster.URL("postgres"), `SHOW max_connections`))
		require.Equal(t, "it's mine", query(t, cluster.URL("postgres"), `SHOW cluster_name`))
	})

	t.Run("ABadSettingIsToldInTheServersWords", func(t *testing.T) {
		t.Parallel()
		_, err := pgcluster.Start(t.Context(), pgcluster.Config{
			Settings: map[string]string{"max_connections": "many"},
		})
		require.ErrorContains(t, err, `invalid value for parameter "max_connections": "many"`)
	})

	t.Run("ManyAtOnce", func(t *testing.T) {
		t.Parallel()
		var starting sync.WaitGroup
		clusters := make([]*pgcluster.Cluster, 3)
		errs := make([]error, len(clusters))
		for i := range clusters {
			starting.Go(func() {
				clusters[i], errs[i] = pgcluster.Start(t.Context(), pgcluster.Config{})
			})
		}
		starting.Wait()
		require.NoError(t, errors.Join(errs...))
		ports := map[int]bool{}
		for _, cluster := range clusters {
			ports[cluster.Port()] = true
			require.NoError(t, cluster.Close())
		}
		require.Len(t, ports, len(clusters))
	})

	t.Run("ACancelledStartLeavesNothing", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := pgcluster.Start(ctx, pgcluster.Config{})
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{})
	require.NoError(t, err)
	require.NoError(t, cluster.Close())
	require.NoError(t, cluster.Close(), "repeating it does nothing")

	_, err = os.Stat(cluster.Dir())
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = pgx.Connect(t.Context(), cluster.URL("postgres"))
	require.Error(t, err)
	require.Error(t, cluster.Restart(t.Context(), pgcluster.Fast))
}

// TestDir: a cluster that was given a folder goes on where it was, and has one owner at a time.
func TestDir(t *testing.T) {
	t.Parallel()
	dir := keptDir(t)
	first, err := pgcluster.Start(t.Context(), pgcluster.Config{Dir: dir})
	require.NoError(t, err)
	exec(t, first.URL("postgres"), `CREATE TABLE kept AS SELECT 'still here'::text AS word`)

	_, err = pgcluster.Start(t.Context(), pgcluster.Config{Dir: dir})
	require.ErrorContains(t, err, "in use by another process")
	require.Equal(t, "still here", query(t, first.URL("postgres"), `SELECT word FROM kept`), "the loser does no harm")
	require.NoError(t, first.Close())

	again := start(t, pgcluster.Config{Dir: dir})
	require.Equal(t, "still here", query(t, again.URL("postgres"), `SELECT word FROM kept`))
	require.NoError(t, again.Close())

	// An interrupted start: initdb did not come to its end.
	require.NoError(t, os.Remove(filepath.Join(dir, "complete")))
	anew := start(t, pgcluster.Config{Dir: dir})
	require.Equal(t, "0", query(t, anew.URL("postgres"),
		`SELECT count(*)::text FROM pg_tables WHERE tablename = 'kept'`))
}

// keptDir is a folder that the server's user can reach: a test's own folder is closed to others.
func keptDir(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "waybill-kept-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	require.NoError(t, os.Chmod(parent, 0o755))
	return filepath.Join(parent, "cluster")
}

// TestRestart: whatever ended the server, what was committed is there again at the same address.
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *pgcluster.Cluster){
		"Running":   func(*testing.T, *pgcluster.Cluster) {},
		"Fast":      func(_ *testing.T, c *pgcluster.Cluster) { c.Stop(pgcluster.Fast) },
		"Immediate": func(_ *testing.T, c *pgcluster.Cluster) { c.Stop(pgcluster.Immediate) },
		"Killed":    func(_ *testing.T, c *pgcluster.Cluster) { c.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := start(t, pgcluster.Config{})
			before := cluster.URL("postgres")
			exec(t, before, `CREATE TABLE kept AS SELECT 'still here'::text AS word`)
			bystander, err := pgx.Connect(t.Context(), before)
			require.NoError(t, err)
			defer func() { _ = bystander.Close(context.WithoutCancel(t.Context())) }()

			end(t, cluster)
			require.NoError(t, cluster.Restart(t.Context(), pgcluster.Fast))

			require.Equal(t, before, cluster.URL("postgres"))
			require.Equal(t, "still here", query(t, before, `SELECT word FROM kept`))
			require.Error(t, bystander.Ping(t.Context()), "its session ended with the server")
		})
	}
}

func TestStartPgBouncer(t *testing.T) {
	t.Parallel()
	cluster := start(t, pgcluster.Config{})
	pooler, err := pgcluster.StartPgBouncer(t.Context(), cluster.URL("postgres"),
		map[string]string{"default_pool_size": "1"}, t.Output())
	require.NoError(t, err)

	require.Equal(t, "1", query(t, pooler.URL("postgres"), `SELECT 1::text`))
	require.NotEqual(t, cluster.URL("postgres"), pooler.URL("postgres"))
	pooler.Close()
	pooler.Close()
	_, err = pgx.Connect(t.Context(), pooler.URL("postgres"))
	require.Error(t, err)
}
