package main

import (
	"fmt"

	"waybill/migrations"
)

// Run brings the schema up to date.
func (c migrateCommand) Run(p *process) error {
	if err := migrations.Migrate(p.ctx, c.DatabaseURL); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	fmt.Fprintln(p.stderr, "The database is up to date.")
	return nil
}
