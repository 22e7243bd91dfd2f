package testdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"waybill/migrations"
)

const (
	// templateLock is the advisory lock of whoever makes the template: packages' tests run as
	// processes of their own, side by side.
	templateLock = 5_120_984_406_631

	// objectInUse is Postgres' code for a template that somebody is connected to.
	objectInUse = "55006"

	// copyTries and copyPause outlast an autovacuum worker that visits the template.
	copyTries = 20
	copyPause = 100 * time.Millisecond
)

// templates remembers which servers are known to have the template.
var templates struct {
	sync.Mutex
	names map[string]string
}

// templateOf returns the name of the server's migrated template, making it if need be. The name
// holds the fingerprint of the migrations, so one made by other migrations is never used.
func templateOf(ctx context.Context, server string) (string, error) {
	templates.Lock()
	defer templates.Unlock()
	if name, ok := templates.names[server]; ok {
		return name, nil
	}
	fingerprint, err := migrations.Fingerprint()
	if err != nil {
		return "", err
	}
	name := "waybill_template_" + fingerprint
	if err := ensureTemplate(ctx, server, name); err != nil {
		return "", err
	}
	if templates.names == nil {
		templates.names = map[string]string{}
	}
	templates.names[server] = name
	return name, nil
}

func ensureTemplate(ctx context.Context, server, name string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connecting to the test server: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // and the lock ends with it
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(templateLock)); err != nil {
		return fmt.Errorf("waiting for the template database: %w", err)
	}
	// Marked as a template only once it is complete: what a killed run left is made anew.
	var complete bool
	err = conn.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)`,
		name).Scan(&complete)
	if err != nil {
		return fmt.Errorf("looking for the template database: %w", err)
	}
	if complete {
		return nil
	}
	return makeTemplate(ctx, conn, server, name)
}

func makeTemplate(ctx context.Context, conn *pgx.Conn, server, name string) error {
	databaseURL, err := replaceDatabase(server, name)
	if err != nil {
		return err
	}
	for _, sql := range []string{
		`DROP DATABASE IF EXISTS ` + quote(name) + ` WITH (FORCE)`,
		`CREATE DATABASE ` + quote(name) + ` TEMPLATE template0`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("making the template database: %w", err)
		}
	}
	if err := migrations.Migrate(ctx, databaseURL); err != nil {
		return fmt.Errorf("migrating the template database: %w", err)
	}
	// Nobody may connect any more: a template in use cannot be copied.
	_, err = conn.Exec(ctx, `ALTER DATABASE `+quote(name)+` ALLOW_CONNECTIONS false IS_TEMPLATE true`)
	if err != nil {
		return fmt.Errorf("closing the template database: %w", err)
	}
	return nil
}

// copyDatabase makes a database from a template.
func copyDatabase(ctx context.Context, server, template, name string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connecting to the test server: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	strategy, err := strategyOf(ctx, conn)
	if err != nil {
		return err
	}
	create := `CREATE DATABASE ` + quote(name) + ` TEMPLATE ` + quote(template) + strategy
	for range copyTries {
		_, err = conn.Exec(ctx, create)
		pgErr, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pgErr.Code != objectInUse {
			break
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("creating database %s: %w", name, err)
	}
	return nil
}

// strategyOf picks the faster way to copy a small database: as files where nothing is flushed
// (half the time of the other), through the log where everything is. Postgres 14 has no choice.
func strategyOf(ctx context.Context, conn *pgx.Conn) (string, error) {
	var asFiles bool
	err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version_num')::integer >= 150000
			AND current_setting('fsync') = 'off'`).Scan(&asFiles)
	if err != nil {
		return "", fmt.Errorf("asking how to copy a database: %w", err)
	}
	if asFiles {
		return ` STRATEGY FILE_COPY`, nil
	}
	return ``, nil
}

func pause(ctx context.Context) error {
	timer := time.NewTimer(copyPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
