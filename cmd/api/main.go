// Command api is the HTTP side of Waybill: it authenticates, decodes, validates, hands the request to
// outbox in one call, and writes the answer. It also migrates the database and makes API keys. It
// calls no carrier and holds no SQL.
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

const description = "Waybill's API buys shipping labels exactly once. Start with: api migrate, " +
	"api keys create --caller NAME --scopes labels:write,labels:read, api serve."

// run is the program without its globals; it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	p := &command.Process{Ctx: ctx, Getenv: getenv, Stdout: stdout, Stderr: stderr, Now: time.Now}
	return command.Run(p, "api", description, &commands{}, args)
}
