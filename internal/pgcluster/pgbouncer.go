package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bouncer is a PgBouncer in transaction mode in front of a server.
type Bouncer struct {
	process *server
	guard   *guard
	dir     string
	port    int
}

// StartPgBouncer puts a PgBouncer in transaction mode in front of the server that a connection string
// names, and returns when it leads there. It is installed first if it is missing and this process may;
// else the error says the command that does. Settings are further ones of pgbouncer.ini's main
// section; they win. It is gone when it is closed, and when the process that started it dies.
func StartPgBouncer(
	ctx context.Context, databaseURL string, settings map[string]string, log io.Writer,
) (_ *Bouncer, err error) {
	path, err := ensurePgBouncer(ctx, log)
	if err != nil {
		return nil, err
	}
	user, err := unprivileged()
	if err != nil {
		return nil, err
	}
	b := &Bouncer{}
	defer func() {
		if err != nil {
			b.Close()
			err = fmt.Errorf("starting pgbouncer: %w", err)
		}
	}()
	if b.dir, err = os.MkdirTemp("", "waybill-pgbouncer-"); err != nil {
		return nil, err
	}
	if err := user.own(b.dir); err != nil {
		return nil, err
	}
	if b.guard, err = startGuard(b.dir, false); err != nil {
		return nil, err
	}
	if b.port, err = freePort(ctx); err != nil {
		return nil, err
	}
	config, err := b.writeConfig(databaseURL, user, settings)
	if err != nil {
		return nil, err
	}
	cmd := user.command(context.WithoutCancel(ctx), path, config)
	cmd.Dir = b.dir
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b.process = watch(cmd)
	pid := []byte(strconv.Itoa(cmd.Process.Pid))
	if err := os.WriteFile(filepath.Join(b.dir, "pgbouncer.pid"), pid, 0o600); err != nil {
		return nil, fmt.Errorf("noting its process for the guard: %w", err)
	}
	if err := b.awaitReady(ctx, databaseURL); err != nil {
		said, _ := os.ReadFile(config + ".log")
		return nil, fmt.Errorf("%w: %s", err, tail(string(said)))
	}
	return b, nil
}

// URL is the connection string of one of the server's databases, by way of the pooler.
func (b *Bouncer) URL(database string) string { return loopbackURL(b.port, database) }

// Close ends the pooler and all connections through it. Repeating it does nothing.
func (b *Bouncer) Close() {
	b.process.kill()
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // what stays is a few lines in a temporary folder
	}
	b.guard.dismiss()
}

// writeConfig writes pgbouncer.ini, readable by the pooler's user alone.
func (b *Bouncer) writeConfig(databaseURL string, user *identity, extra map[string]string) (string, error) {
	to, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return "", fmt.Errorf("reading the server's address: %w", err)
	}
	server := fmt.Sprintf("host=%s port=%d user=%s", to.Host, to.Port, to.User)
	if to.Password != "" {
		server += " password='" + strings.ReplaceAll(to.Password, "'", "''") + "'"
	}
	path := filepath.Join(b.dir, "pgbouncer.ini")
	settings := map[string]string{
		"listen_addr":     "127.0.0.1",
		"listen_port":     strconv.Itoa(b.port),
		"unix_socket_dir": "",
		// Whoever reaches the loopback port is let in, as the server's user.
		"auth_type":         "any",
		"logfile":           path + ".log",
		"pool_mode":         "transaction",
		"default_pool_size": "5",
		"max_client_conn":   "200",
	}
	maps.Copy(settings, extra)

	var text strings.Builder
	fmt.Fprintf(&text, "[databases]\n* = %s\n[pgbouncer]\n", server)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s = %s\n", name, settings[name])
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return "", fmt.Errorf("writing its configuration: %w", err)
	}
	return path, user.own(path)
}

// awaitReady returns when the pooler leads to the server, and to no other: another program may have
// taken the port at the last moment.
func (b *Bouncer) awaitReady(ctx context.Context, databaseURL string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	direct, err := startedAt(ctx, databaseURL)
	if err != nil {
		return err
	}
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return err
	}
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		pooled, err := startedAt(ctx, b.URL(config.Database))
		switch {
		case err == nil && pooled.Equal(direct):
			return nil
		case err == nil:
			return errors.New("another server answers on its port")
		}
		select {
		case <-b.process.done:
			return errors.New("it ended while it was starting")
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for it to take connections: %w", err)
		}
	}
}

// startedAt tells one server from another, and may be asked by anybody.
func startedAt(ctx context.Context, databaseURL string) (at time.Time, err error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return at, fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	err = conn.QueryRow(ctx, `SELECT pg_postmaster_start_time()`,
		pgx.QueryExecModeExec).Scan(&at) // a pooler may take no prepared statement
	return at, err
}

func ensurePgBouncer(ctx context.Context, log io.Writer) (string, error) {
	return ensure(ctx, pgbouncerPackage, log, func() (string, bool) {
		// Debian puts it where the PATH of a plain user does not lead.
		for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
			if path, err := exec.LookPath(name); err == nil {
				return path, true
			}
		}
		return "", false
	})
}
