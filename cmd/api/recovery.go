package main

import (
	"fmt"
	"time"

	"waybill/internal/command"
	"waybill/internal/service"
	"waybill/outbox"
)

// recoveryCommands frame the time after a restore from a backup: see docs/operating.md.
type recoveryCommands struct {
	Begin beginRecoveryCommand `cmd:"" help:"Say that the database was restored from a backup, before any worker starts on it. Calls that were lost are reckoned with from then on."`
	End   endRecoveryCommand   `cmd:"" help:"Say that all the carrier has charged since the backup is adopted or known. Orders from then on are new ones."`
}

type beginRecoveryCommand struct {
	service.Database `embed:""`

	LostSince time.Time `name:"lost-since" required:"" placeholder:"TIME" help:"The moment up to which the backup goes, e.g. 2026-03-01T02:00:00Z. If in doubt, an earlier one."`
	Actor     string    `required:"" placeholder:"NAME" help:"Who says so."`
	Why       string    `required:"" placeholder:"TEXT" help:"Why, e.g. 'disk of db1 lost, backup of two o'clock'."`
}

type endRecoveryCommand struct {
	service.Database `embed:""`

	Actor string `required:"" placeholder:"NAME" help:"Who decides."`
	Why   string `required:"" placeholder:"TEXT" help:"From what, e.g. 'carrier list of March 1st reconciled, nothing unexplained'."`
}

// Run begins the recovery. Repeating it is refused and changes nothing.
func (c beginRecoveryCommand) Run(p *command.Process) error {
	return withOutbox(p, c.Database, func(box *outbox.Outbox) error {
		err := box.BeginRecovery(p.Ctx, outbox.Recovery{LostSince: c.LostSince, Actor: c.Actor, Why: c.Why})
		if err == nil {
			fmt.Fprintf(p.Stderr, "Recovery has begun: what happened after %s may be lost. Workers may start.\n",
				c.LostSince.UTC().Format(time.RFC3339))
		}
		return err
	})
}

// Run ends the recovery.
func (c endRecoveryCommand) Run(p *command.Process) error {
	return withOutbox(p, c.Database, func(box *outbox.Outbox) error {
		waiting, err := box.EndRecovery(p.Ctx, c.Actor, c.Why)
		if err == nil {
			fmt.Fprintf(p.Stderr, "Recovery has ended. Intents in doubt that wait for a person: %d.\n", waiting)
		}
		return err
	})
}
