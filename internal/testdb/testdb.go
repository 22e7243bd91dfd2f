// Package testdb gives every test a fresh, migrated database on a real Postgres server.
//
// The first test of a server's life migrates a template; each test then gets a copy of it, which
// costs a fraction of migrating, and is dropped when the test ends. Tests therefore share nothing
// and run in parallel. The server is the one that WAYBILL_TEST_DATABASE_URL or DATABASE_URL names:
// `make test` starts one. Only tests import this package.
package testdb

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

const (
	// poolSize is small: many tests run at once on one server.
	poolSize = 10

	// cleanupTimeout bounds what happens after a test, when its own context is over.
	cleanupTimeout = 30 * time.Second
)

// New returns a pool on a fresh, migrated database. Both are gone when the test ends.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return Pool(t, URL(t))
}

// URL returns the connection string of a fresh, migrated database, dropped when the test ends
// whoever is still connected to it.
func URL(t testing.TB) string {
	t.Helper()
	server := serverURL(t)
	template, err := templateOf(t.Context(), server)
	require.NoError(t, err)
	return create(t, server, template)
}

// Empty returns the connection string of a fresh database without any tables.
func Empty(t testing.TB) string {
	t.Helper()
	return create(t, serverURL(t), "template0")
}

// Pool returns a small pool on databaseURL, closed when the test ends. A test that leaks a
// connection fails.
func Pool(t testing.TB, databaseURL string) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(databaseURL)
	require.NoError(t, err)
	config.MaxConns = poolSize
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			pool.Close()
		}()
		select {
		case <-closed:
		case <-time.After(cleanupTimeout):
			t.Errorf("the test ended, but %d of its database connections are still in use",
				pool.Stat().AcquiredConns())
		}
	})
	return pool
}

// serverURL is the server that tests use.
func serverURL(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"WAYBILL_TEST_DATABASE_URL", "DATABASE_URL"} {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	require.FailNow(t, "this test needs a Postgres server: run `make test`, "+
		"or `go run ./cmd/dev postgres -- go test ./...` for some packages only")
	return ""
}

// create makes a database from a template and drops it when the test ends.
func create(t testing.TB, server, template string) string {
	t.Helper()
	name := "waybill_test_" + strings.ToLower(rand.Text())
	require.NoError(t, copyDatabase(t.Context(), server, template, name))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanupTimeout)
		defer cancel()
		if err := drop(ctx, server, name); err != nil {
			t.Errorf("%v", err)
		}
	})
	return withDatabase(t, server, name)
}

// withDatabase is server's connection string for another of its databases.
func withDatabase(t testing.TB, server, database string) string {
	t.Helper()
	moved, err := replaceDatabase(server, database)
	require.NoError(t, err)
	return moved
}

func replaceDatabase(server, database string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		return "", fmt.Errorf("the test server's address must be a URL (postgres://…)")
	}
	u.Path = "/" + database
	return u.String(), nil
}

// drop removes a database and whoever is connected to it.
func drop(ctx context.Context, server, name string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connecting to drop database %s: %w", name, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, `DROP DATABASE IF EXISTS `+quote(name)+` WITH (FORCE)`); err != nil {
		return fmt.Errorf("dropping database %s: %w", name, err)
	}
	return nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
