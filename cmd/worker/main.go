// Command worker buys the labels: it works River's purchase jobs, fetches documents that come later,
// sweeps expired keys and rings for intents whose job was lost. Run as many as you like. It also tries
// the carriers' credentials.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"waybill/internal/command"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	cancel()
	os.Exit(code)
}

// run is the program without its globals; it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	p := &command.Process{Ctx: ctx, Getenv: getenv, Stdout: stdout, Stderr: stderr, Now: time.Now}
	return command.Run(p, "worker",
		"Waybill's worker calls the carriers, exactly once for each intent. It runs until SIGTERM or "+
			"SIGINT, finishes the calls it has begun, and exits. Its settings: worker work --help.", &commands{}, args)
}

// commands is the command line: without a command it works.
type commands struct {
	Work     settings `cmd:"" default:"withargs" help:"Buy labels until SIGTERM or SIGINT (what worker does if told nothing else)."`
	Carriers struct {
		Check checkCarriers `cmd:"" help:"Try the credentials of every carrier, and buy nothing. Ends with 1 if one fails."`
	} `cmd:"" help:"The carriers of carriers.yaml."`
}
