package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"

	"waybill/internal/pgcluster"
)

// postgresCmd runs a command beside a private Postgres server.
type postgresCmd struct {
	Durable bool     `help:"Flush every commit to disk, as a production server does. Tests do not need it."`
	Command []string `arg:"" passthrough:"" help:"The command and its arguments, after \"--\"."`
}

// Help is shown by --help.
func (*postgresCmd) Help() string {
	return "If DATABASE_URL is already set, that server is used and none is started."
}

// Run starts the server, runs the command, and exits as the command did.
func (p *postgresCmd) Run(ctx context.Context) error {
	argv := p.Command
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return errors.New("a command is needed: dev postgres -- COMMAND ARGS…")
	}
	// From here on signals are the command's business: we must live to clean up after it.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	env := os.Environ()
	if os.Getenv("DATABASE_URL") == "" {
		cluster, err := pgcluster.Start(ctx, pgcluster.Config{Durable: p.Durable, Log: os.Stderr})
		if err != nil {
			return err
		}
		defer func() {
			if err := cluster.Close(); err != nil {
				fmt.Fprintf(os.Stderr, "dev: %v\n", err)
			}
		}()
		env = append(env, "DATABASE_URL="+cluster.URL("postgres"))
	}
	return runCommand(argv, env, signals)
}

// runCommand runs argv to its end and passes signals on to it.
func runCommand(argv, env []string, signals <-chan os.Signal) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // ended by the signals passed on, so that it can clean up
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if !sentByTerminal(s) {
				_ = cmd.Process.Signal(s) // an error means that it has ended
			}
		case err := <-ended:
			return exitAs(err)
		}
	}
}

// sentByTerminal is true for signals that a terminal's keys send to us and the command alike:
// passed on, the command would see them twice.
func sentByTerminal(s os.Signal) bool {
	return (s == os.Interrupt || s == syscall.SIGQUIT) && isatty.IsTerminal(os.Stdin.Fd())
}

// exitAs turns the end of a command into our own: its status, or 128 and its signal as shells do.
func exitAs(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError{status: 128 + int(status.Signal())}
	}
	return exitError{status: exit.ExitCode()}
}
