package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// StopMode is how a server is asked to stop.
type StopMode string

// The ways to stop, from the kindest.
const (
	// Fast ends all sessions, rolls back what they were at, and writes everything out.
	Fast StopMode = "fast"

	// Immediate ends everything at once, as a crash would: the next start recovers from the log.
	Immediate StopMode = "immediate"
)

const (
	// startTimeout covers a start that recovers after a crash on a busy machine.
	startTimeout = 60 * time.Second

	// stopTimeout is when a server that does not stop is killed.
	stopTimeout = 20 * time.Second

	// readyPoll is how often a starting server is tried.
	readyPoll = 20 * time.Millisecond

	// maxPorts is how many ports are tried: between finding a free one and Postgres taking it,
	// somebody else may.
	maxPorts = 5
)

// errRetry marks a start that failed for a reason that passes: a port just taken, the last
// server's processes not gone yet.
var errRetry = errors.New("start can be tried again")

// server is one run of a server program. All methods do nothing on a nil one.
type server struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended
}

// watch takes charge of a program that was started.
func watch(cmd *exec.Cmd) *server {
	s := &server{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = cmd.Wait() // why it ended stands in its log
	}()
	return s
}

func (s *server) stop(mode StopMode) {
	if s == nil {
		return
	}
	signal := syscall.SIGINT
	if mode == Immediate {
		signal = syscall.SIGQUIT
	}
	_ = s.cmd.Process.Signal(signal) // an error means that it has ended
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-s.done:
	case <-timer.C:
		s.kill()
	}
}

func (s *server) kill() {
	if s == nil {
		return
	}
	_ = s.cmd.Process.Kill() // an error means that it has ended
	<-s.done
}

// startOnFreePort starts the server for the first time.
func (c *Cluster) startOnFreePort(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for range maxPorts {
		if c.port, err = freePort(ctx); err != nil {
			return err
		}
		if err = c.start(ctx); !errors.Is(err, errRetry) {
			return err
		}
	}
	return err
}

// startAgain starts a stopped server on its old port, and waits for what its predecessor left to
// go away: after a kill its children need a moment to notice. The caller holds mu.
func (c *Cluster) startAgain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := c.start(ctx)
		if !errors.Is(err, errRetry) || ctx.Err() != nil {
			return err
		}
	}
}

// start runs the server and returns when it takes connections. The caller holds mu.
func (c *Cluster) start(ctx context.Context) error {
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the cluster's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	begin, err := log.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("opening the cluster's log: %w", err)
	}
	// Not bound to ctx: it ends when it is stopped, not when its starter's request is over.
	path, args, err := c.postgres(ctx)
	if err != nil {
		return err
	}
	cmd := c.user.command(context.WithoutCancel(ctx), path, args...)
	cmd.Dir = c.dir
	clock, err := c.clockEnv(ctx)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, clock...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting postgres: %w", err)
	}
	s := watch(cmd)
	if err := c.awaitReady(ctx, s); err != nil {
		s.kill()
		return c.explain(fmt.Errorf("starting postgres: %w", err), begin)
	}
	c.server = s
	return nil
}

// awaitReady returns when connections reach this cluster by way of s, or an error when s has ended.
func (c *Cluster) awaitReady(ctx context.Context, s *server) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		err := c.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return errors.New("it ended while it was starting")
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for it to take connections: %w", err)
		}
	}
}

// ping connects once, and makes sure that it is this cluster that answers: another program may
// have taken the port at the last moment.
func (c *Cluster) ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var dir string
	err = conn.QueryRow(ctx, `SELECT current_setting('data_directory')`).Scan(&dir)
	if err != nil {
		return fmt.Errorf("asking which cluster answers: %w", err)
	}
	if dir != c.dataDir() {
		return fmt.Errorf("another cluster answers, the one in %s", dir)
	}
	return nil
}

// explain adds what the server logged since begin, and whether another try may help.
func (c *Cluster) explain(err error, begin int64) error {
	text, readErr := os.ReadFile(c.logFile())
	if readErr != nil {
		return err
	}
	said := strings.TrimSpace(string(text[min(begin, int64(len(text))):]))
	passing := strings.Contains(said, "Is another postmaster already running on port") ||
		strings.Contains(said, "is still in use") ||
		strings.Contains(said, "Address already in use")
	if passing {
		return fmt.Errorf("%w: %w: %s", errRetry, err, said)
	}
	return fmt.Errorf("%w: %s", err, said)
}

func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("finding a free port: %v is no TCP address", l.Addr())
	}
	return addr.Port, nil
}
