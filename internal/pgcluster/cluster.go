// Package pgcluster runs a private Postgres cluster on this machine: for tests, for the demo, for
// trying things out. It finds the server's programs by itself, and installs them where it may.
//
// A cluster listens on a free loopback port and a socket of its own, trusts whoever can reach
// them, and keeps everything in one temporary folder. It is gone when it is closed, and also when
// the process that started it dies, however it dies. One that was given a folder stays there,
// stopped, and goes on where it was. It is no place for data that anybody would miss.
package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// superuser owns every cluster.
const superuser = "postgres"

// minMemory is the free memory that a cluster may use as its disk: several times what the whole
// test suite was seen to fill.
const minMemory = 4 << 30

// Config says what kind of cluster to start. The zero value is a fast one for tests.
type Config struct {
	// Durable makes commits survive a crash of the machine, at the price of a flush each. Without
	// it they survive a crash of Postgres only: enough for tests, which cannot crash the machine.
	Durable bool

	// Settings are further server settings, as postgresql.conf names them; they win over ours.
	Settings map[string]string

	// Clock gives the server a clock of its own, which SetClock makes wrong. It takes libfaketime,
	// which is installed where that is possible.
	Clock bool

	// Dir is the folder of a cluster to keep: made if it is missing, started again if it is there.
	// Nothing else may be in it. Empty makes a temporary one.
	Dir string

	// Replicated makes a cluster that others can be copied from and can follow; see [Cluster.Copy].
	Replicated bool

	// Log gets a line when something slow happens, like an installation; nil means nobody.
	Log io.Writer

	// source is the cluster that this one begins as a copy of, and follows if it is a standby.
	source  *Cluster
	standby bool
}

// Cluster is one running (or stopped) Postgres cluster. Its methods are safe for concurrent use.
type Cluster struct {
	config Config
	bin    string // the folder of the server's programs
	dir    string // everything of the cluster: data, socket, log
	port   int
	user   *identity
	lock   *os.File // of a cluster that is kept: only one starter at a time
	guard  *guard

	// mu guards the server process, which is nil while the cluster is stopped.
	mu     sync.Mutex
	server *server
	closed bool
	inject string // which of its system calls fail
}

// Start makes a new cluster, starts it, and returns when it takes connections. The caller closes
// it. If no server is installed and this process may not install one, the error says the command
// that does.
func Start(ctx context.Context, config Config) (_ *Cluster, err error) {
	if config.Log == nil {
		config.Log = io.Discard
	}
	bin, err := ensureServer(ctx, config.Log)
	if err != nil {
		return nil, err
	}
	user, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := config.makeDir()
	if err != nil {
		return nil, fmt.Errorf("making the cluster's folder: %w", err)
	}
	c := &Cluster{config: config, bin: bin, dir: dir, user: user}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.lock, err = c.lockDir(); err != nil {
		return nil, err
	}
	if err := user.own(dir); err != nil {
		return nil, err
	}
	if c.guard, err = startGuard(dir, c.kept()); err != nil {
		return nil, err
	}
	if err := c.initialise(ctx); err != nil {
		return nil, err
	}
	if err := c.startOnFreePort(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// makeDir makes the cluster's folder, or finds the one that was kept.
func (c Config) makeDir() (string, error) {
	if c.Dir == "" {
		return os.MkdirTemp(parentDir(c.Durable), "waybill-pg-")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// lockDir makes sure that nobody else starts a kept cluster: two would make its data folder at once.
func (c *Cluster) lockDir() (*os.File, error) {
	if !c.kept() {
		return nil, nil //nolint:nilnil // nobody else knows a temporary folder
	}
	lock, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the cluster's lock: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("the cluster in %s is in use by another process (%w): stop that first", c.dir, err)
	}
	return lock, nil
}

// kept is true for a cluster that outlives its closing.
func (c *Cluster) kept() bool { return c.config.Dir != "" }

// parentDir is where a cluster's folder is made. In memory, if nothing is to be kept and there is
// room: copying a database, which every test does, takes 8 ms there instead of 90.
func parentDir(durable bool) string {
	const memory = "/dev/shm"
	if free, err := freeBytes(memory); !durable && err == nil && free >= minMemory {
		return memory
	}
	return os.TempDir()
}

// URL is the connection string of a database of the cluster. It stays the same over restarts.
func (c *Cluster) URL(database string) string { return loopbackURL(c.port, database) }

func loopbackURL(port int, database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(superuser),
		Host:     "127.0.0.1:" + strconv.Itoa(port),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is the loopback port that the cluster listens on.
func (c *Cluster) Port() int { return c.port }

// Dir is the cluster's folder; the server's log is "log" in it.
func (c *Cluster) Dir() string { return c.dir }

// Program is the path of one of Postgres' own programs, of the server's version, e.g. "pg_dump".
func (c *Cluster) Program(name string) string { return filepath.Join(c.bin, name) }

// Close stops the server at once and removes everything; a cluster that is kept is stopped with care
// and stays. Repeating it does nothing.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.kept() {
		c.server.stop(Fast)
		c.server = nil
		c.guard.dismiss()
		_ = c.lock.Close() // nothing was written to it
		return nil
	}
	c.server.stop(Immediate)
	c.server = nil
	err := os.RemoveAll(c.dir)
	if err != nil {
		err = fmt.Errorf("removing the cluster's folder %s: %w", c.dir, err)
	}
	c.guard.dismiss()
	return err
}

func (c *Cluster) dataDir() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) logFile() string { return filepath.Join(c.dir, "log") }
