package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The ledger is the table schema_migrations: which files were applied, and what was in them.

// makeLedger creates the ledger where there is none. The caller holds the lock: IF NOT EXISTS alone
// is not safe against another session doing the same.
func makeLedger(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		CREATE TABLE IF NOT EXISTS schema_migrations (
			version    integer PRIMARY KEY,
			name       text NOT NULL,
			sha256     text NOT NULL,
			applied_at timestamptz NOT NULL DEFAULT now()
		)`)
	if err != nil {
		return fmt.Errorf("creating the table of applied migrations: %w", err)
	}
	return nil
}

// querier is what reading needs of a connection or a pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// readLedger returns the hash of every applied file by its number.
func readLedger(ctx context.Context, q querier) (map[int]string, error) {
	rows, err := q.Query(ctx, `SELECT version, sha256 FROM schema_migrations`)
	if err != nil {
		return nil, fmt.Errorf("reading the applied migrations: %w", err)
	}
	applied := map[int]string{}
	var version int
	var hash string
	_, err = pgx.ForEachRow(rows, []any{&version, &hash}, func() error {
		applied[version] = hash
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the applied migrations: %w", err)
	}
	return applied, nil
}

// record notes that f was applied, in the transaction that applied it.
func record(ctx context.Context, tx pgx.Tx, f file) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO schema_migrations (version, name, sha256)
		VALUES ($1, $2, $3)`,
		f.version, f.name, f.hash)
	if err != nil {
		return fmt.Errorf("recording migration %s: %w", f.name, err)
	}
	return nil
}

// refuseChanged fails if a file was edited after it was applied here: the database would have a
// schema that no binary knows.
func refuseChanged(wanted []file, applied map[int]string) error {
	for _, f := range wanted {
		if hash, done := applied[f.version]; done && hash != f.hash {
			return fmt.Errorf("migration %s was changed after it was applied to this database: "+
				"put it back as it was and write the change as a new file "+
				"(or drop the database, if it holds nothing worth keeping)", f.name)
		}
	}
	return nil
}
