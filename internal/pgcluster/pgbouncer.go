package pgcluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bouncer is a PgBouncer in transaction mode in front of a cluster.
type Bouncer struct {
	process *server
	port    int
}

// StartPgBouncer puts a PgBouncer in transaction mode in front of the cluster, and returns when it
// takes connections. It is installed first if it is missing and this process may; else the error
// says the command that does. Settings are further ones of pgbouncer.ini's main section; they win.
// It ends when it is closed, and with the cluster's guard.
func (c *Cluster) StartPgBouncer(ctx context.Context, settings map[string]string) (*Bouncer, error) {
	path, err := ensurePgBouncer(ctx, c.config.Log)
	if err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	config, err := c.writePgBouncerConfig(port, settings)
	if err != nil {
		return nil, err
	}
	cmd := c.user.command(context.WithoutCancel(ctx), path, config)
	cmd.Dir = c.dir
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting pgbouncer: %w", err)
	}
	b := &Bouncer{process: watch(cmd), port: port}
	pidfile := filepath.Join(c.dir, fmt.Sprintf("pgbouncer-%d.pid", port))
	if err := os.WriteFile(pidfile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		b.Close()
		return nil, fmt.Errorf("noting pgbouncer's process for the guard: %w", err)
	}
	if err := c.awaitReady(ctx, b.process, b.URL("postgres")); err != nil {
		b.Close()
		said, _ := os.ReadFile(config + ".log")
		return nil, fmt.Errorf("starting pgbouncer: %w: %s", err, tail(string(said)))
	}
	return b, nil
}

// URL is the connection string of one of the cluster's databases, by way of the pooler.
func (b *Bouncer) URL(database string) string { return loopbackURL(b.port, database) }

// Close ends the pooler and all connections through it. Repeating it does nothing.
func (b *Bouncer) Close() { b.process.kill() }

// writePgBouncerConfig writes pgbouncer.ini and the list of users, readable by the server's user.
func (c *Cluster) writePgBouncerConfig(port int, extra map[string]string) (string, error) {
	path := filepath.Join(c.dir, fmt.Sprintf("pgbouncer-%d.ini", port))
	settings := map[string]string{
		"listen_addr":       "127.0.0.1",
		"listen_port":       strconv.Itoa(port),
		"unix_socket_dir":   "",
		"auth_type":         "trust",
		"auth_file":         path + ".users",
		"logfile":           path + ".log",
		"pool_mode":         "transaction",
		"default_pool_size": "5",
		"max_client_conn":   "200",
	}
	maps.Copy(settings, extra)

	var text strings.Builder
	fmt.Fprintf(&text, "[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\n", c.port)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s = %s\n", name, settings[name])
	}
	users := fmt.Sprintf("%q \"\"\n", superuser)
	for name, content := range map[string]string{path: text.String(), path + ".users": users} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			return "", fmt.Errorf("writing pgbouncer's configuration: %w", err)
		}
		if err := c.user.own(name); err != nil {
			return "", err
		}
	}
	return path, nil
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
