package migrations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/rivermigrate"
)

// undefinedTable is Postgres' code for a table that is not there.
const undefinedTable = "42P01"

// Check fails if the schema is not the one this binary needs, and says what to run. It changes
// nothing, and works through a pooler.
//
// A schema newer than the binary passes: while new binaries roll out, old ones restart beside
// them. So a migration must leave the tables fit for the binary before it.
func Check(ctx context.Context, pool *pgxpool.Pool) error {
	return check(ctx, pool, embedded)
}

func check(ctx context.Context, pool *pgxpool.Pool, files fs.FS) error {
	wanted, err := load(files)
	if err != nil {
		return err
	}
	applied, err := readLedger(ctx, pool)
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok && pgErr.Code == undefinedTable {
		return errors.New("the database has no schema yet: run \"api migrate\"")
	}
	if err != nil {
		return err
	}
	if err := refuseChanged(wanted, applied); err != nil {
		return err
	}
	var missing []string
	for _, f := range wanted {
		if _, done := applied[f.version]; !done {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the database is older than this binary (it lacks %s): run \"api migrate\"",
			strings.Join(missing, ", "))
	}
	return checkRiver(ctx, pool)
}

// checkRiver is the same for River's own tables.
func checkRiver(ctx context.Context, pool *pgxpool.Pool) error {
	migrator, err := riverMigrator(pool)
	if err != nil {
		return err
	}
	opts := &rivermigrate.ValidateOpts{TargetVersion: riverVersion}
	result, err := migrator.Validate(ctx, opts)
	if err != nil {
		return fmt.Errorf("checking River's schema: %w", err)
	}
	if !result.OK {
		return fmt.Errorf("the database's River schema is not version %d (%s): run \"api migrate\"",
			riverVersion, strings.ToLower(strings.Join(result.Messages, "; ")))
	}
	return nil
}
