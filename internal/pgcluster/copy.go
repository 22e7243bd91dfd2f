package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// StandbyName is what a standby calls itself: the name for its primary's synchronous_standby_names.
const StandbyName = "standby"

// promoteSeconds is how long a standby may take to become a primary.
const promoteSeconds = 60

// Copy makes a cluster of its own from what this one holds now: a backup, restored. It is not told
// of anything that happens here afterwards. The cluster must be Replicated.
func (c *Cluster) Copy(ctx context.Context) (*Cluster, error) {
	return c.copyAs(ctx, false)
}

// Standby makes a copy that follows this cluster, under the name [StandbyName], until it is
// promoted. The cluster must be Replicated.
func (c *Cluster) Standby(ctx context.Context) (*Cluster, error) {
	return c.copyAs(ctx, true)
}

func (c *Cluster) copyAs(ctx context.Context, standby bool) (*Cluster, error) {
	if !c.config.Replicated {
		return nil, errors.New("only a cluster that is Replicated can be copied")
	}
	config := c.config
	config.Dir, config.source, config.standby = "", c, standby
	return Start(ctx, config)
}

// Promote makes a standby the primary of a history of its own, and returns when it takes writes.
func (c *Cluster) Promote(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connecting to the standby: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var promoted bool
	if err := conn.QueryRow(ctx, `SELECT pg_promote(true, $1)`, promoteSeconds).Scan(&promoted); err != nil {
		return fmt.Errorf("promoting the standby: %w", err)
	}
	if !promoted {
		return fmt.Errorf("promoting the standby: it is none after %d seconds", promoteSeconds)
	}
	return nil
}

// conninfo is how another server reaches this one.
func (c *Cluster) conninfo() string {
	return fmt.Sprintf("host=127.0.0.1 port=%d user=%s sslmode=disable", c.port, superuser)
}

// copyData fills the data folder from the source, and marks it as a standby's if it is one.
func (c *Cluster) copyData(ctx context.Context) error {
	cmd := c.user.command(ctx, c.Program("pg_basebackup"), "--dbname="+c.config.source.conninfo(),
		"--pgdata="+c.dataDir(), "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running pg_basebackup: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if !c.config.standby {
		return nil
	}
	signal := filepath.Join(c.dataDir(), "standby.signal")
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		return fmt.Errorf("marking the copy as a standby: %w", err)
	}
	return c.user.own(signal)
}
