package migrations_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
	"waybill/migrations"
)

// TestMigrateBesidePrograms: a file that alters two tables meets a transaction that takes them the other way round.
// Postgres ends the migration; it is tried again.
func TestMigrateBesidePrograms(t *testing.T) {
	t.Parallel()
	databaseURL := testdb.Empty(t)
	pool := testdb.Pool(t, databaseURL)
	require.NoError(t, migrations.MigrateFiles(t.Context(), databaseURL, files()))
	_, err := pool.Exec(t.Context(), `CREATE TABLE labels ()`)
	require.NoError(t, err)
	both := files()
	both["0003_both.sql"] = &fstest.MapFile{Data: []byte(`
		ALTER TABLE parcels ADD COLUMN seen boolean;
		SELECT pg_advisory_xact_lock(1); -- the test holds it here
		ALTER TABLE labels ADD COLUMN seen boolean;`)}
	waits := func(what string) {
		t.Helper()
		require.Eventually(t, func() bool {
			return count(t, pool, `SELECT count(*) FROM pg_locks
				WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
					AND `+what) == 1
		}, 30*time.Second, 5*time.Millisecond, what)
	}
	connect := func() *pgx.Conn {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), databaseURL)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		return conn
	}
	holder, program := connect(), connect()
	_, err = holder.Exec(t.Context(), `SELECT pg_advisory_lock(1)`)
	require.NoError(t, err)
	tx, err := program.Begin(t.Context())
	require.NoError(t, err)
	// It looks for deadlocks when the migration has long found it.
	_, err = tx.Exec(t.Context(), `SET LOCAL deadlock_timeout = '1h'; LOCK TABLE labels IN ROW EXCLUSIVE MODE`)
	require.NoError(t, err)

	migrated := make(chan error, 1)
	go func() { migrated <- migrations.MigrateFiles(t.Context(), databaseURL, both) }()
	waits(`locktype = 'advisory' AND objid = 1`)
	ended := make(chan error, 1)
	go func() {
		_, err := tx.Exec(t.Context(), `LOCK TABLE parcels IN ROW EXCLUSIVE MODE`)
		if err == nil {
			err = tx.Commit(t.Context())
		}
		ended <- err
	}()
	waits(`locktype = 'relation'`)
	_, err = holder.Exec(t.Context(), `SELECT pg_advisory_unlock(1)`)
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.NoError(t, <-migrated)
	require.Equal(t, 3, count(t, pool, `SELECT max(version) FROM schema_migrations`))
}
