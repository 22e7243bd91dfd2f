package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"waybill/internal/pgcluster"
)

// database is what our services store in.
type database struct {
	url string

	// log is the server's log, if the server is ours.
	log string

	// close gives back what was made.
	close func(context.Context) error
}

// demoDatabase makes a database that nobody else uses: on the server that DATABASE_URL names, else on
// a server of its own that flushes every commit, as a production server does.
func demoDatabase(ctx context.Context, log io.Writer) (*database, error) {
	server := os.Getenv("DATABASE_URL")
	if server == "" {
		return clusterDatabase(ctx, pgcluster.Config{Durable: true, Log: log})
	}
	name := "waybill_demo_" + strings.ToLower(rand.Text()[:8])
	own, err := replaceDatabase(server, name)
	if err != nil {
		return nil, err
	}
	quoted := pgx.Identifier{name}.Sanitize()
	if err := execute(ctx, server, `CREATE DATABASE `+quoted); err != nil {
		return nil, fmt.Errorf("making database %s on the server of DATABASE_URL: %w", name, err)
	}
	return &database{url: own, close: func(ctx context.Context) error {
		if err := execute(ctx, server, `DROP DATABASE `+quoted+` WITH (FORCE)`); err != nil {
			return fmt.Errorf("dropping database %s: %w", name, err)
		}
		return nil
	}}, nil
}

// keptDatabase is the same at every start: the one that DATABASE_URL names, else one whose server
// keeps it in dir.
func keptDatabase(ctx context.Context, dir string, log io.Writer) (*database, error) {
	if given := os.Getenv("DATABASE_URL"); given != "" {
		return &database{url: given, close: func(context.Context) error { return nil }}, nil
	}
	return clusterDatabase(ctx, pgcluster.Config{Durable: true, Dir: dir, Log: log})
}

func clusterDatabase(ctx context.Context, config pgcluster.Config) (*database, error) {
	cluster, err := pgcluster.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	return &database{
		url:   cluster.URL("postgres"),
		log:   filepath.Join(cluster.Dir(), "log"),
		close: func(context.Context) error { return cluster.Close() },
	}, nil
}

func execute(ctx context.Context, server, sql string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// count runs a query that counts.
func (d *database) count(ctx context.Context, sql string) (n int, err error) {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, sql).Scan(&n)
	return n, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// replaceDatabase names another database of the same server.
func replaceDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		// Without the cause, which would show the password.
		return "", errors.New("DATABASE_URL must be a URL, postgres://USER:PASSWORD@HOST/NAME")
	}
	u.Path = "/" + name
	return u.String(), nil
}
