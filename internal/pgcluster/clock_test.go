package pgcluster

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestClock: the server's clock is wrong by what was asked for, in sessions that were there before
// and over a restart, and nothing else of it changes.
func TestClock(t *testing.T) {
	t.Parallel()
	c, err := Start(t.Context(), Config{Log: t.Output(), Clock: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	connect := func() *pgx.Conn {
		conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		return conn
	}
	off := func(conn *pgx.Conn) time.Duration {
		var now time.Time
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT clock_timestamp()`).Scan(&now))
		return time.Until(now)
	}
	await := func(conn *pgx.Conn, want time.Duration) {
		t.Helper()
		require.Eventually(t, func() bool { return (off(conn) - want).Abs() < 5*time.Second },
			10*time.Second, 50*time.Millisecond, "the clock is off by %s", want)
	}
	first := connect()
	await(first, 0)
	require.NoError(t, c.SetClock(90*time.Second))
	await(first, 90*time.Second)
	require.NoError(t, c.SetClock(-time.Hour))
	await(first, -time.Hour)
	require.NoError(t, c.Restart(t.Context(), Immediate))
	second := connect()
	require.InDelta(t, -time.Hour, off(second), float64(5*time.Second))
	require.NoError(t, c.SetClock(0))
	await(second, 0)
}
