package pgcluster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxSocketPath is the longest path of a Unix socket that every system takes.
const maxSocketPath = 100

// initialise makes the data folder, unless it is there already, and writes the settings.
func (c *Cluster) initialise(ctx context.Context) error {
	complete := filepath.Join(c.dir, "complete")
	if _, err := os.Stat(complete); err != nil {
		// What an interrupted start has left is no cluster.
		if err := os.RemoveAll(c.dataDir()); err != nil {
			return fmt.Errorf("removing half a cluster: %w", err)
		}
		fill := c.initdb
		if c.config.source != nil {
			fill = c.copyData
		}
		if err := fill(ctx); err != nil {
			return err
		}
		if err := os.WriteFile(complete, nil, 0o600); err != nil {
			return fmt.Errorf("marking the cluster as complete: %w", err)
		}
	}
	conf := filepath.Join(c.dataDir(), "postgresql.auto.conf")
	if err := os.WriteFile(conf, []byte(c.settings()), 0o600); err != nil {
		return fmt.Errorf("writing the cluster's settings: %w", err)
	}
	return nil
}

func (c *Cluster) initdb(ctx context.Context) error {
	args := []string{
		"--pgdata=" + c.dataDir(),
		"--username=" + superuser,
		"--auth=trust",
		"--encoding=UTF8",
		// The one locale that every machine has, and that sorts alike everywhere.
		"--locale=C",
		"--no-instructions",
	}
	if !c.config.Durable {
		args = append(args, "--no-sync")
	}
	cmd := c.user.command(ctx, filepath.Join(c.bin, "initdb"), args...)
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running initdb: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// settings renders the server's settings, the port apart: it is known only when one is found.
func (c *Cluster) settings() string {
	settings := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": c.dir,
		"max_connections":         "300",
		"max_wal_senders":         "0",
		"wal_level":               "minimal",
		// Shared memory as files in the data folder: a killed server then leaves nothing in
		// /dev/shm, which is small in containers.
		"dynamic_shared_memory_type": "mmap",
		"timezone":                   "UTC",
		"log_timezone":               "UTC",
		"log_line_prefix":            "%m [%p] %d ",
	}
	if len(c.dir)+len("/.s.PGSQL.65535.lock") > maxSocketPath {
		settings["unix_socket_directories"] = ""
	}
	if c.config.Replicated {
		settings["wal_level"] = "replica"
		settings["max_wal_senders"] = "10"
	}
	if c.config.standby {
		settings["primary_conninfo"] = c.config.source.conninfo() + " application_name=" + StandbyName
	}
	if !c.config.Durable {
		// synchronous_commit stays on: with it off, commits would be lost when a test kills the
		// server. Without fsync it costs next to nothing.
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
		// The folder may be in memory: the log must not grow to its usual gigabyte.
		settings["max_wal_size"] = "256MB"
	}
	maps.Copy(settings, c.config.Settings)

	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := strings.ReplaceAll(settings[name], "'", "''")
		fmt.Fprintf(&text, "%s = '%s'\n", name, value)
	}
	return text.String()
}
