package testdb_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
	"waybill/migrations"
)

func TestNew(t *testing.T) {
	t.Parallel()

	t.Run("IsMigrated", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, migrations.Check(t.Context(), testdb.New(t)))
	})

	t.Run("SharesNothing", func(t *testing.T) {
		t.Parallel()
		one, two := testdb.New(t), testdb.New(t)
		_, err := one.Exec(t.Context(), `INSERT INTO callers (caller_id) VALUES ('fulfilment')`)
		require.NoError(t, err)
		var count int
		require.NoError(t, two.QueryRow(t.Context(), `SELECT count(*) FROM callers`).Scan(&count))
		require.Zero(t, count)
	})

	t.Run("IsGoneAfterTheTest", func(t *testing.T) {
		t.Parallel()
		other := testdb.New(t)
		var name string
		t.Run("Test", func(t *testing.T) { //nolint:paralleltest // its parent looks at what it left
			pool := testdb.New(t)
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name))
		})
		require.False(t, exists(t, other, name))
	})

	t.Run("IsDroppedThoughSomebodyIsStillConnected", func(t *testing.T) {
		t.Parallel()
		other := testdb.New(t)
		var name string
		var connected *pgxpool.Pool
		t.Run("Test", func(t *testing.T) { //nolint:paralleltest // its parent looks at what it left
			pool, err := pgxpool.New(t.Context(), testdb.URL(t))
			require.NoError(t, err)
			connected = pool
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name))
		})
		defer connected.Close()
		require.False(t, exists(t, other, name))
	})
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	pool := testdb.Pool(t, testdb.Empty(t))
	var tables int
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables))
	require.Zero(t, tables)
}

func exists(t *testing.T, pool *pgxpool.Pool, database string) bool {
	t.Helper()
	var found bool
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, database).Scan(&found))
	return found
}

// BenchmarkFresh is the price of a fresh database: made, and dropped.
func BenchmarkFresh(b *testing.B) {
	testdb.URL(b) // the template is made once
	for b.Loop() {
		require.NoError(b, testdb.MakeAndDrop(b))
	}
}
