package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
)

// straceSoftware is what breaks system calls, on Linux.
var straceSoftware = software{what: "strace", apt: "strace", dnf: "strace", apk: "strace", homebrew: "strace"}

// Inject restarts the server so that its system calls fail as what says, in strace's words:
// "fdatasync:error=EIO:when=30" or "fdatasync:delay_enter=200000". Empty makes it sound again. strace
// is installed first if it is missing and this process may.
func (c *Cluster) Inject(ctx context.Context, what string) error {
	if what != "" && !c.config.Durable {
		return errors.New("only a cluster that is Durable flushes anything that could fail")
	}
	c.mu.Lock()
	c.inject = what
	c.mu.Unlock()
	return c.Restart(ctx, Immediate)
}

// postgres is the command line of the server. Under strace the server is still our own child: strace
// watches from aside (-D), and ends with it.
func (c *Cluster) postgres(ctx context.Context) (path string, args []string, err error) {
	path = filepath.Join(c.bin, "postgres")
	args = []string{"-D", c.dataDir(), "-p", strconv.Itoa(c.port)}
	if c.inject == "" {
		return path, args, nil
	}
	strace, err := ensureStrace(ctx, c.config.Log)
	if err != nil {
		return "", nil, fmt.Errorf("finding what breaks system calls: %w", err)
	}
	return strace, append([]string{
		"-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=" + c.inject, path,
	}, args...), nil
}

func ensureStrace(ctx context.Context, log io.Writer) (string, error) {
	return ensure(ctx, straceSoftware, log, func() (string, bool) {
		path, err := exec.LookPath("strace")
		return path, err == nil
	})
}
