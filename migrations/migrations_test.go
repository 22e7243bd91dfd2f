package migrations_test

import (
	"context"
	"net/url"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"waybill/internal/pgcluster"
	"waybill/internal/testdb"
	"waybill/migrations"
)

// files is a small set of migrations; each call gives a copy to alter.
func files() fstest.MapFS {
	return fstest.MapFS{
		"0001_create_parcels.sql": {Data: []byte(`CREATE TABLE parcels (parcel_id bigint PRIMARY KEY);`)},
		"0002_add_weight.sql":     {Data: []byte(`ALTER TABLE parcels ADD COLUMN weight_g bigint;`)},
	}
}

func count(t *testing.T, pool *pgxpool.Pool, sql string) int {
	t.Helper()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

func TestMigrate(t *testing.T) {
	t.Parallel()

	t.Run("MakesWhatCheckWants", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		require.NoError(t, migrations.Migrate(t.Context(), databaseURL))
		require.NoError(t, migrations.Check(t.Context(), pool))
	})

	t.Run("RepeatingItDoesNothing", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		applied := func() (when time.Time) {
			require.NoError(t, migrations.Migrate(t.Context(), databaseURL))
			err := pool.QueryRow(t.Context(),
				`SELECT max(applied_at) FROM schema_migrations`).Scan(&when)
			require.NoError(t, err)
			return when
		}
		first := applied()
		require.Equal(t, first, applied())
	})

	t.Run("ManyAtOnceTakeTurns", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		group, ctx := errgroup.WithContext(t.Context())
		for range 8 {
			group.Go(func() error { return migrations.Migrate(ctx, databaseURL) })
		}
		require.NoError(t, group.Wait())
		require.NoError(t, migrations.Check(t.Context(), pool))
	})

	t.Run("TakesTheServicesAddressThatSizesTheirPools", func(t *testing.T) {
		t.Parallel()
		address, err := url.Parse(testdb.Empty(t))
		require.NoError(t, err)
		query := address.Query()
		query.Set("pool_max_conns", "3")
		address.RawQuery = query.Encode()
		require.NoError(t, migrations.Migrate(t.Context(), address.String()))
	})

	t.Run("GoesOnWhereItStopped", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		broken := files()
		broken["0002_add_weight.sql"].Data = []byte(`
			ALTER TABLE parcels ADD COLUMN half_done bigint;
			ALTER TABLE nowhere ADD COLUMN weight_g bigint;`)
		err := migrations.MigrateFiles(t.Context(), databaseURL, broken)
		require.ErrorContains(t, err, "applying migration 0002_add_weight.sql")
		require.Equal(t, 1, count(t, pool, `SELECT max(version) FROM schema_migrations`))

		require.NoError(t, migrations.MigrateFiles(t.Context(), databaseURL, files()))
		require.Equal(t, 2, count(t, pool, `SELECT max(version) FROM schema_migrations`))
		require.Zero(t, count(t, pool,
			`SELECT count(*) FROM pg_attribute WHERE attname = 'half_done'`))
	})

	t.Run("RefusesAChangedFile", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		require.NoError(t, migrations.MigrateFiles(t.Context(), databaseURL, files()))
		changed := files()
		changed["0001_create_parcels.sql"].Data = []byte(`CREATE TABLE parcels (parcel_id uuid);`)
		changed["0003_more.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE more ();`)}

		err := migrations.MigrateFiles(t.Context(), databaseURL, changed)
		require.ErrorContains(t, err, "migration 0001_create_parcels.sql was changed after")
		require.Equal(t, 2, count(t, pool, `SELECT max(version) FROM schema_migrations`),
			"nothing was done")
		require.ErrorContains(t, migrations.CheckFiles(t.Context(), pool, changed), "was changed after")
	})

	t.Run("LeavesANewerSchemaAlone", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		newer := files()
		newer["0003_more.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE more ();`)}
		require.NoError(t, migrations.MigrateFiles(t.Context(), databaseURL, newer))
		require.NoError(t, migrations.MigrateFiles(t.Context(), databaseURL, files()))
		require.Equal(t, 3, count(t, pool, `SELECT max(version) FROM schema_migrations`))
	})

	t.Run("RefusesTwoFilesOfOneNumber", func(t *testing.T) {
		t.Parallel()
		twice := files()
		twice["0002_another.sql"] = &fstest.MapFile{Data: []byte(`SELECT 1;`)}
		err := migrations.MigrateFiles(t.Context(), "postgres://127.0.0.1:1/nowhere", twice)
		require.ErrorContains(t, err, "have the same number")
	})

	t.Run("RefusesABadName", func(t *testing.T) {
		t.Parallel()
		bad := fstest.MapFS{"3-Bad.sql": {Data: []byte(`SELECT 1;`)}}
		err := migrations.MigrateFiles(t.Context(), "postgres://127.0.0.1:1/nowhere", bad)
		require.ErrorContains(t, err, "migration 3-Bad.sql must be named like")
	})

	t.Run("WaitsForNoTableForEver", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		impatient := files()
		impatient["0003_show.sql"] = &fstest.MapFile{Data: []byte(`
			CREATE TABLE shown AS SELECT current_setting('lock_timeout') AS lock_timeout;`)}
		require.NoError(t, migrations.MigrateFiles(t.Context(), databaseURL, impatient))
		require.Equal(t, 1, count(t, pool,
			`SELECT count(*) FROM shown WHERE lock_timeout = '10s'`))
	})

	t.Run("StopsWaitingWhenItsContextEnds", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		holder, err := pgx.Connect(t.Context(), databaseURL)
		require.NoError(t, err)
		defer func() { _ = holder.Close(context.WithoutCancel(t.Context())) }()
		_, err = holder.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, int64(7_713_402_918_273))
		require.NoError(t, err)

		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- migrations.Migrate(ctx, databaseURL) }()
		for waiting := false; !waiting; {
			require.NoError(t, holder.QueryRow(t.Context(), `
				SELECT EXISTS (
					SELECT FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'
				)`).Scan(&waiting))
		}
		stop()
		err = <-ended
		require.ErrorContains(t, err, "waiting for other migrations to end")
		require.ErrorIs(t, err, context.Canceled)
	})
}

// TestMigrateThroughPooler: a session's lock means nothing behind a transaction-mode pooler.
func TestMigrateThroughPooler(t *testing.T) {
	t.Parallel()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Close()) })
	pooler, err := pgcluster.StartPgBouncer(t.Context(), cluster.URL("postgres"), nil, t.Output())
	require.NoError(t, err)
	t.Cleanup(pooler.Close)

	err = migrations.Migrate(t.Context(), pooler.URL("postgres"))
	require.ErrorContains(t, err, "needs a direct connection to Postgres")

	require.NoError(t, migrations.Migrate(t.Context(), cluster.URL("postgres")))
	config, err := pgxpool.ParseConfig(pooler.URL("postgres"))
	require.NoError(t, err)
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, migrations.Check(t.Context(), pool), "a service may check through one")
}

func TestCheck(t *testing.T) {
	t.Parallel()

	t.Run("EmptyIsRefused", func(t *testing.T) {
		t.Parallel()
		pool := testdb.Pool(t, testdb.Empty(t))
		err := migrations.Check(t.Context(), pool)
		require.EqualError(t, err, `the database has no schema yet: run "api migrate"`)
	})

	t.Run("OlderIsRefused", func(t *testing.T) {
		t.Parallel()
		databaseURL := testdb.Empty(t)
		pool := testdb.Pool(t, databaseURL)
		older := files()
		delete(older, "0002_add_weight.sql")
		require.NoError(t, migrations.MigrateFiles(t.Context(), databaseURL, older))
		err := migrations.CheckFiles(t.Context(), pool, files())
		require.EqualError(t, err, `the database is older than this binary `+
			`(it lacks 0002_add_weight.sql): run "api migrate"`)
	})

	t.Run("OlderRiverIsRefused", func(t *testing.T) {
		t.Parallel()
		pool := testdb.New(t)
		_, err := pool.Exec(t.Context(), `DELETE FROM river_migration WHERE version = 8`)
		require.NoError(t, err)
		err = migrations.Check(t.Context(), pool)
		require.EqualError(t, err, `the database's River schema is not version 8 `+
			`(unapplied migrations: [8]): run "api migrate"`)
	})

	t.Run("NewerPasses", func(t *testing.T) {
		t.Parallel()
		pool := testdb.New(t)
		_, err := pool.Exec(t.Context(), `
			INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, '9999_new.sql', 'x');
			INSERT INTO river_migration (line, version) VALUES ('main', 99);`)
		require.NoError(t, err)
		require.NoError(t, migrations.Check(t.Context(), pool))
	})

	t.Run("UnreachableIsNotTakenForEmpty", func(t *testing.T) {
		t.Parallel()
		pool, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/nowhere?connect_timeout=5")
		require.NoError(t, err)
		defer pool.Close()
		err = migrations.Check(t.Context(), pool)
		require.ErrorContains(t, err, "reading the applied migrations")
		require.NotContains(t, err.Error(), "api migrate")
	})
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	fingerprint, err := migrations.Fingerprint()
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{16}$`, fingerprint)
}
