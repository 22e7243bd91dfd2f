package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"waybill/caller"
)

// Run makes a key. Nothing but the key goes to standard output, so that scripts can take it.
func (c createKeyCommand) Run(p *process) error {
	return c.withKeys(p, func(ctx context.Context, keys *caller.Keys) error {
		scopes, err := caller.ParseScopes(c.Scopes)
		if err != nil {
			return err
		}
		key, err := keys.Create(ctx, c.Caller, scopes)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "API key %s for %s with %s. It is not shown again.\n", key.ID(), c.Caller, scopes)
		fmt.Fprintln(p.stdout, key.Reveal())
		return nil
	})
}

// Validate checks caller and scopes before the database is opened.
func (c createKeyCommand) Validate() error {
	if err := c.databaseSettings.Validate(); err != nil {
		return err
	}
	if c.Caller == "" || len(c.Scopes) == 0 {
		return nil // kong says which flag is missing
	}
	if err := caller.CheckName(c.Caller); err != nil {
		return err
	}
	_, err := caller.ParseScopes(c.Scopes)
	return err
}

// Run lists the keys as a table.
func (c listKeysCommand) Run(p *process) error {
	return c.withKeys(p, func(ctx context.Context, keys *caller.Keys) error {
		infos, err := keys.List(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "KEY ID\tCALLER\tSCOPES\tCREATED\tREVOKED")
		for _, info := range infos {
			revoked := "-"
			if info.RevokedAt != nil {
				revoked = info.RevokedAt.UTC().Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", info.ID, info.CallerID, info.Scopes,
				info.CreatedAt.UTC().Format(time.RFC3339), revoked)
		}
		return table.Flush()
	})
}

// Run revokes a key.
func (c revokeKeyCommand) Run(p *process) error {
	return c.withKeys(p, func(ctx context.Context, keys *caller.Keys) error {
		if err := keys.Revoke(ctx, c.KeyID); err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "API key %s is revoked.\n", c.KeyID)
		return nil
	})
}

func (s databaseSettings) withKeys(p *process, do func(context.Context, *caller.Keys) error) error {
	pool, err := s.open(p.ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	return do(p.ctx, caller.New(pool, p.now))
}

// open makes the pool; it connects when it is first used.
func (s databaseSettings) open(ctx context.Context) (*pgxpool.Pool, error) {
	cfg, err := s.poolConfig()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	return pool, nil
}
