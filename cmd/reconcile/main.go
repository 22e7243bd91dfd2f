// Command reconcile compares carriers' invoices with what was bought, and what was bought with our
// own records of it. It reads files and one snapshot of the database, writes a report, remembers what it
// read and found, and says by its exit status whether somebody has to look. It calls no carrier, and
// changes an intent only where it is told to settle what an invoice proves.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // Time zones work in an image that has none.

	"waybill/internal/command"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	cancel()
	os.Exit(status)
}

// Exit statuses. A night's job acts on them, so they are part of the contract.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2
	exitInput    = 3
	exitInternal = 4
)

// failure is an error that knows its exit status; any other error is internal.
type failure struct {
	status int
	err    error
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

func usageError(err error) error { return &failure{status: exitUsage, err: err} }

func inputError(err error) error { return &failure{status: exitInput, err: err} }

// run is the program without its globals; it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	var c commands
	process := &command.Process{Ctx: ctx, Getenv: getenv, Stdout: stdout, Stderr: stderr}
	switch command.Run(process, "reconcile", description, &c, args) {
	case command.OK:
		return c.status()
	case command.Usage:
		return exitUsage
	default:
		// What other commands call an error is "findings" here: the failure knows better.
		return cmp.Or(c.status(), exitInternal)
	}
}

const description = "Compares carriers' invoices with the labels that Waybill bought, every night."

// Run does one reconciliation and remembers its exit status, of which there are more here than
// other commands have.
func (c *runCommand) Run(p *command.Process) error {
	status, err := c.reconcile(p.Ctx, p.Stdout, p.Stderr)
	if err != nil {
		status = statusOf(err)
	}
	c.status = status
	return err
}

// statusOf is the exit status of an error.
func statusOf(err error) int {
	var known *failure
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &known):
		return known.status
	default:
		return exitInternal
	}
}

// status is the exit status of whichever command ran.
func (c *commands) status() int {
	f := c.Findings
	return cmp.Or(c.Run.status, f.List.status, f.Show.status, f.Ack.status, f.Dispute.status, f.Credit.status, f.Accept.status,
		f.Reopen.status)
}
