package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

// server is one run of the postgres program. All methods do nothing on a nil one.
type server struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended
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

// startOnFreePort starts the server for the first time. The caller holds mu.
func (c *Cluster) startOnFreePort(ctx context.Context) error {
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
	cmd := c.user.command(context.WithoutCancel(ctx), filepath.Join(c.bin, "postgres"),
		"-D", c.dataDir(), "-p", strconv.Itoa(c.port))
	cmd.Dir = c.dir
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting postgres: %w", err)
	}
	s := &server{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = cmd.Wait() // why it ended stands in its log
	}()
	if err := c.awaitReady(ctx, s); err != nil {
		s.kill()
		return c.explain(err, begin)
	}
	c.server = s
	return nil
}

// awaitReady returns when the server takes connections, or an error when it has ended.
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
			return errors.New("postgres ended while it was starting")
		case <-ctx.Done():
			return fmt.Errorf("waiting for postgres to take connections: %w", err)
		case <-tick.C:
		}
	}
}

// ping connects once. That it is our server that answers is sure: had another one the port, ours
// would have ended.
func (c *Cluster) ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	return conn.Close(ctx)
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
