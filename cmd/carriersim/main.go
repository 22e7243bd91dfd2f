// Command carriersim is a carrier in a box: it charges for labels, keeps a ledger of what it
// charged, fails as it is told, and prints invoices. It is for demonstrations and tests.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"waybill/carrier/sim/simserver"
	"waybill/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

const description = "A carrier in a box. It speaks the reference protocol, and the formats of five carriers " +
	"under /easypost/v2, /usps, /fedex, /shipengine/v1 and /easyship/2023-01."

// run is the program without its globals; it returns the exit status. A cancelled ctx asks it to stop.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	p := &command.Process{Ctx: ctx, Getenv: getenv, Stdout: stdout, Stderr: stderr, Now: time.Now}
	return command.Run(p, "carriersim", description, &settings{}, args)
}

// stopTimeout bounds the wait for answers under way; nothing hangs any more by then.
const stopTimeout = 5 * time.Second

// Run carries on until it is asked to stop, then finishes what was begun.
func (s settings) Run(p *command.Process) (err error) {
	log := zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(zapcore.AddSync(p.Stderr)), zap.InfoLevel,
	)).Named("carriersim")
	// The address comes first: started twice by mistake, the second must not touch the ledger.
	listener, err := new(net.ListenConfig).Listen(p.Ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", s.Addr, err)
	}
	carrier, err := simserver.Open(s.config(p.Now, log))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, carrier.Close()) }()

	server := &http.Server{
		Handler:           carrier,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          zap.NewStdLog(log),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	// Whoever started us may wait for this line, and reads the port from it if it asked for port 0.
	fmt.Fprintf(p.Stdout, "carriersim: listening on http://%s\n", listener.Addr())

	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-p.Ctx.Done():
	}
	carrier.Drain()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Ctx), stopTimeout)
	defer cancel()
	if server.Shutdown(ctx) == nil {
		return nil
	}
	// Left over are connections on which nothing was ever asked, which Shutdown gives five seconds to.
	return server.Close()
}
