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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Exit statuses.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// run is the program without its globals. A cancelled ctx asks it to stop.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	s, help, err := parse(args, getenv, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "carriersim: %v\nSee carriersim --help.\n", err)
		return exitUsage
	}
	if help {
		return exitOK
	}
	if err := serve(ctx, s, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "carriersim: %v\n", err)
		return exitError
	}
	return exitOK
}

// stopTimeout bounds the wait for answers under way; nothing hangs any more by then.
const stopTimeout = 5 * time.Second

// serve carries on until ctx ends, then finishes what was begun.
func serve(ctx context.Context, s settings, stdout, stderr io.Writer) (err error) {
	log := zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(zapcore.AddSync(stderr)), zap.InfoLevel,
	)).Named("carriersim")
	// The address comes first: started twice by mistake, the second must not touch the ledger.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", s.Addr, err)
	}
	carrier, err := simserver.Open(s.config(log))
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
	fmt.Fprintf(stdout, "carriersim: listening on http://%s\n", listener.Addr())

	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	carrier.Drain()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}
