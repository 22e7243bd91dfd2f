// Command dev is for working on Waybill: it starts what the service needs on this machine, and
// leaves nothing behind. One file per subcommand.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Demo     demoCmd     `cmd:"" help:"Show, in half a minute, that a label is bought once although everything around it fails."`
	Postgres postgresCmd `cmd:"" help:"Run a command with a private Postgres server at DATABASE_URL."`
	Run      runCmd      `cmd:"" help:"Keep the service up in the foreground, with lines to paste, until Ctrl-C."`
	Tools    toolsCmd    `cmd:"" help:"Install the servers that tests need, if they are missing."`
}

// exitError is an error that only says how to exit: what went wrong was already told.
type exitError struct{ status int }

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

func main() {
	os.Exit(run(context.Background(), os.Args[1:]))
}

// run runs one subcommand and returns the exit status.
func run(ctx context.Context, args []string) int {
	var c cli
	parser := kong.Must(&c,
		kong.Name("dev"),
		kong.Description("Tools for working on Waybill."),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	command, err := parser.Parse(args)
	parser.FatalIfErrorf(err)
	err = command.Run()
	if exit, ok := errors.AsType[exitError](err); ok {
		return exit.status
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "dev: %v\n", err)
		return 1
	}
	return 0
}
