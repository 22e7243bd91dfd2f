// Command worker buys the labels: it works River's purchase jobs, sweeps expired keys and rings for
// intents whose job was lost. Run as many as you like.
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
			"SIGINT, finishes the calls it has begun, and exits.", &settings{}, args)
}
