package main

import (
	"fmt"

	"waybill/internal/command"
	"waybill/migrations"
)

// Run brings the schema up to date.
func (c migrateCommand) Run(p *command.Process) error {
	if err := migrations.Migrate(p.Ctx, c.DatabaseURL); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	fmt.Fprintln(p.Stderr, "The database is up to date.")
	return nil
}
