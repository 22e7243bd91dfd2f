package migrations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// lockID is the advisory lock that one migrating process holds, and the others wait for: River's
// migrator takes none of its own. The number means nothing; it only must never change.
const lockID = 7_713_402_918_273

// lockTimeout is how long a migration's statement waits for a table. A statement that waits for a
// busy table makes everybody behind it wait too, so it gives up, leaves nothing, and is run again.
const lockTimeout = "10s"

// unlockTimeout bounds the farewell to a server that may be gone.
const unlockTimeout = 5 * time.Second

// Migrate brings the schema of the database at databaseURL to what this binary needs: River's
// migrations first, then each of our files in a transaction of its own.
//
// Repeating it does nothing, and any number of processes may run it at once: they take turns. A
// schema newer than this binary is left as it is. A file that was applied and has changed since
// is refused before anything is done.
//
// It holds a session-level lock, so databaseURL must reach the server itself: behind PgBouncer's
// transaction mode the lock would stay behind on somebody else's connection. The address of a
// pooler is refused.
func Migrate(ctx context.Context, databaseURL string) error {
	return migrate(ctx, databaseURL, embedded)
}

func migrate(ctx context.Context, databaseURL string, files fs.FS) error {
	wanted, err := load(files)
	if err != nil {
		return err
	}
	// Read as a pool's address, because the services' may size their pools: a server refuses a session
	// with parameters it does not know.
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return fmt.Errorf("reading the database URL: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return fmt.Errorf("connecting to migrate: %w", err)
	}
	defer func() {
		// The lock ends with the session, so closing is unlocking, however this function ends.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if err := takeTurn(ctx, conn); err != nil {
		return err
	}
	if err := makeLedger(ctx, conn); err != nil {
		return err
	}
	applied, err := readLedger(ctx, conn)
	if err != nil {
		return err
	}
	if err := refuseChanged(wanted, applied); err != nil {
		return err
	}
	if err := migrateRiver(ctx, databaseURL); err != nil {
		return err
	}
	for _, f := range wanted {
		if _, done := applied[f.version]; done {
			continue
		}
		if err := apply(ctx, conn, f); err != nil {
			return err
		}
	}
	return nil
}

// takeTurn waits until no other process migrates this database.
func takeTurn(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		return fmt.Errorf("asking for the server process: %w", err)
	}
	if pid != conn.PgConn().PID() {
		return errors.New("migrating needs a direct connection to Postgres, " +
			"and this address leads to a connection pooler: give the server's own address")
	}
	// A role's or database's own time limits are meant for queries, not for waiting one's turn.
	if _, err := conn.Exec(ctx, `
		SET statement_timeout = 0;
		SET lock_timeout = 0;
		SET idle_session_timeout = 0;`); err != nil {
		return fmt.Errorf("lifting the session's time limits: %w", err)
	}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(lockID)); err != nil {
		return fmt.Errorf("waiting for other migrations to end: %w", err)
	}
	return nil
}

// migrateRiver runs River's own migrations, which need a pool of their own; the caller's lock keeps
// others out meanwhile.
func migrateRiver(ctx context.Context, databaseURL string) error {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return fmt.Errorf("reading the database URL: %w", err)
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting for River's migrations: %w", err)
	}
	defer pool.Close()
	migrator, err := riverMigrator(pool)
	if err != nil {
		return err
	}
	opts := &rivermigrate.MigrateOpts{TargetVersion: riverVersion}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, opts); err != nil {
		return fmt.Errorf("applying River's migrations: %w", err)
	}
	return nil
}

func riverMigrator(pool *pgxpool.Pool) (*rivermigrate.Migrator[pgx.Tx], error) {
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{
		// Without one it would write to standard output; what matters comes back as an error.
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, fmt.Errorf("making River's migrator: %w", err)
	}
	return migrator, nil
}

// applyTries is how often a file is tried that deadlocks with programs at work. A file that alters several
// tables takes their locks one after the other, and no order suits everybody.
const applyTries = 5

// Postgres' codes for somebody in the way.
const (
	deadlockDetected = "40P01"
	lockNotAvailable = "55P03"
)

// apply runs one file and records it, both or neither. A deadlock has left nothing, and is tried again.
func apply(ctx context.Context, conn *pgx.Conn, f file) error {
	for try := 1; ; try++ {
		err := applyOnce(ctx, conn, f)
		pgErr, ok := errors.AsType[*pgconn.PgError](err)
		switch {
		case !ok, pgErr.Code != deadlockDetected && pgErr.Code != lockNotAvailable:
			return err
		case pgErr.Code == lockNotAvailable, try == applyTries:
			return fmt.Errorf("%w: others were in the way, and nothing of it is applied: "+
				"run \"api migrate\" again when there is less to do", err)
		}
	}
}

func applyOnce(ctx context.Context, conn *pgx.Conn, f file) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("beginning migration %s: %w", f.name, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()

	if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '`+lockTimeout+`'`); err != nil {
		return fmt.Errorf("limiting the lock waits of migration %s: %w", f.name, err)
	}
	if _, err := tx.Exec(ctx, f.sql); err != nil {
		return fmt.Errorf("applying migration %s: %w", f.name, err)
	}
	if err := record(ctx, tx, f); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing migration %s: %w", f.name, err)
	}
	return nil
}
