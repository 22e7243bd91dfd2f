package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"waybill/caller"
	"waybill/internal/command"
	"waybill/internal/service"
)

// Run makes a key. Nothing but the key goes to standard output, so that scripts can take it.
func (c createKeyCommand) Run(p *command.Process) error {
	return withKeys(p, c.Database, func(ctx context.Context, keys *caller.Keys) error {
		scopes, err := caller.ParseScopes(c.Scopes)
		if err != nil {
			return err
		}
		key, err := keys.Create(ctx, c.Caller, scopes)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.Stderr, "API key %s for %s with %s. It is not shown again.\n", key.ID(), c.Caller, scopes)
		fmt.Fprintln(p.Stdout, key.Reveal())
		return nil
	})
}

// Validate checks caller and scopes before the database is opened.
func (c createKeyCommand) Validate() error {
	if err := c.Database.Validate(); err != nil {
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
func (c listKeysCommand) Run(p *command.Process) error {
	return withKeys(p, c.Database, func(ctx context.Context, keys *caller.Keys) error {
		infos, err := keys.List(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
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
func (c revokeKeyCommand) Run(p *command.Process) error {
	return withKeys(p, c.Database, func(ctx context.Context, keys *caller.Keys) error {
		if err := keys.Revoke(ctx, c.KeyID); err != nil {
			return err
		}
		fmt.Fprintf(p.Stderr, "API key %s is revoked.\n", c.KeyID)
		return nil
	})
}

func withKeys(p *command.Process, db service.Database, do func(context.Context, *caller.Keys) error) error {
	pool, err := db.Open(p.Ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	return do(p.Ctx, caller.New(pool, p.Now))
}
