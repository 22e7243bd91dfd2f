package migrations_test

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/internal/pgcluster"
	"waybill/migrations"
)

var update = flag.Bool("update", false, "rewrite schema.sql")

// TestSchemaFile: schema.sql, which nobody runs, shows the tables as the migrations make them.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	got := dumpSchema(t)
	if *update {
		require.NoError(t, os.WriteFile("schema.sql", []byte(got), 0o644))
	}
	want, err := os.ReadFile("schema.sql")
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Fatalf("schema.sql is not what the migrations make: run `make db/schema`\n%s", diff)
	}
}

func dumpSchema(t *testing.T) string {
	t.Helper()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Close()) })
	databaseURL := cluster.URL("postgres")
	require.NoError(t, migrations.Migrate(t.Context(), databaseURL))

	args := []string{"--schema-only", "--no-owner", "--no-privileges", "--dbname=" + databaseURL}
	for _, table := range ourTables(t, databaseURL) {
		args = append(args, "--table=public."+table)
	}
	dump := exec.CommandContext(t.Context(), cluster.Program("pg_dump"), args...)
	dump.Stderr = t.Output()
	out, err := dump.Output()
	require.NoError(t, err)
	return "-- The tables as the migrations make them, for reading only: made by `make db/schema`.\n\n" +
		tidy(string(out))
}

func ourTables(t *testing.T, databaseURL string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	rows, err := conn.Query(t.Context(), `
		SELECT tablename
		FROM pg_tables
		WHERE schemaname = 'public' AND tablename NOT LIKE 'river\_%'
		ORDER BY tablename`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	return tables
}

var (
	// What differs between versions of pg_dump, or says nothing about the tables.
	noise     = regexp.MustCompile(`(?m)^(--.*|SET .*|SELECT pg_catalog\.set_config.*|\\.*)\n`)
	manyBlank = regexp.MustCompile(`\n{3,}`)
)

func tidy(dump string) string {
	dump = noise.ReplaceAllString(dump, "")
	return strings.TrimSpace(manyBlank.ReplaceAllString(dump, "\n\n")) + "\n"
}
