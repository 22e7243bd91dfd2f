//go:build postgresfaults

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
	"waybill/migrations"
)

// startDurable starts a Postgres that flushes, in a folder of its own if one is given.
func startDurable(t *testing.T, config pgcluster.Config) *pgcluster.Cluster {
	t.Helper()
	config.Durable, config.Log = true, t.Output()
	c, err := pgcluster.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), c.URL("postgres")))
	return c
}

// logOf is what the server has logged.
func logOf(t *testing.T, c *pgcluster.Cluster) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir(), "log"))
	require.NoError(t, err)
	return string(text)
}

// breakUnderLoad submits orders, breaks the database once some labels are bought, mends it, and holds
// the truth against the ledger.
func breakUnderLoad(t *testing.T, c *pgcluster.Cluster, fail, mend func()) {
	t.Helper()
	const orders, before = 300, 60
	charges := make(chan struct{}, 2*orders)
	carrier := startCarrier(t, simserver.Faults{Mode: simserver.Lookup, LatencyMS: 10, LatencySpreadMS: 40},
		hooks{charged: func(simserver.Entry) { charges <- struct{}{} }})
	s := newStack(t, carrier, settings{
		class: simserver.Lookup, processing: time.Second, database: c.URL("postgres"),
		lease: 4 * time.Second, timeout: time.Second,
	})
	s.startAll()
	accepted := make(chan error, 1)
	go func() { accepted <- s.submitAll(1, orders+1) }()
	for range before {
		<-charges
	}
	fail()
	mend()
	require.NoError(t, <-accepted)
	s.db.Reset()
	require.Empty(t, s.lost())
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
	require.Len(t, carrier.charges(), orders)
}

// TestFlushFails: a flush that fails makes Postgres stop and recover; what was acknowledged is there.
func TestFlushFails(t *testing.T) {
	t.Parallel()
	c := startDurable(t, pgcluster.Config{})
	breakUnderLoad(t, c,
		func() { require.NoError(t, c.Inject(t.Context(), "fdatasync:error=EIO:when=5")) },
		func() {
			eventually(t, time.Minute, "Postgres panics at a flush", func() bool {
				return strings.Contains(logOf(t, c), "PANIC")
			})
			require.NoError(t, c.Inject(t.Context(), ""))
		})
}

// TestFlushIsSlow: with five commits a second, everything takes its time and nothing is lost.
func TestFlushIsSlow(t *testing.T) {
	t.Parallel()
	c := startDurable(t, pgcluster.Config{})
	breakUnderLoad(t, c,
		func() { require.NoError(t, c.Inject(t.Context(), "fdatasync:delay_enter=200000")) },
		func() {})
}

// TestDiskFull needs a disk of its own that can be filled, and root to mount it: without, it is
// another test, whose name says so.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Run("NotTestedWithoutRoot", func(t *testing.T) { t.Parallel() })
		return
	}
	t.Run("OnASmallDisk", func(t *testing.T) {
		t.Parallel()
		disk := t.TempDir()
		require.NoError(t, syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=160m,mode=755"))
		t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
		for dir := filepath.Dir(disk); dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
			if strings.HasPrefix(filepath.Base(dir), "TestDiskFull") {
				require.NoError(t, os.Chmod(dir, 0o755)) // the server's user must pass
			}
		}
		c := startDurable(t, pgcluster.Config{
			Dir: filepath.Join(disk, "postgres"),
			Settings: map[string]string{
				"max_wal_size": "32MB", "min_wal_size": "32MB", "wal_recycle": "off", "wal_init_zero": "on",
			},
		})
		ballast := filepath.Join(disk, "ballast")
		breakUnderLoad(t, c, func() {
			fill(t, ballast)
			// A new segment of the log is what there is no room for.
			conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
			if err == nil {
				_, _ = conn.Exec(t.Context(), `SELECT pg_switch_wal()`)
				_ = conn.Close(t.Context())
			}
			// Its log is on the same disk, and full: that it is down says it all.
			eventually(t, time.Minute, "Postgres ends for want of room", func() bool {
				conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
				if err == nil {
					_ = conn.Close(t.Context())
				}
				return errors.Is(err, syscall.ECONNREFUSED)
			})
		}, func() {
			require.NoError(t, os.Remove(ballast))
			require.NoError(t, c.Restart(t.Context(), pgcluster.Immediate))
		})
	})
}

// fill writes until there is no room.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
}
