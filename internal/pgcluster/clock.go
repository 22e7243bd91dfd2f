package pgcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// SetClock makes the server's clock wrong by offset from now on, in every session within a second at
// most: 0 makes it right again. Nobody else's clock changes. The cluster must have been started with
// a Clock; a restart keeps the offset.
func (c *Cluster) SetClock(offset time.Duration) error {
	if !c.config.Clock {
		return errors.New("only a cluster with a Clock of its own can have it set")
	}
	// Renamed into place: a session that reads half an offset would end.
	next := c.clockFile() + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+.3f\n", offset.Seconds()), 0o644); err != nil {
		return fmt.Errorf("setting the cluster's clock: %w", err)
	}
	if err := os.Rename(next, c.clockFile()); err != nil {
		return fmt.Errorf("setting the cluster's clock: %w", err)
	}
	return nil
}

func (c *Cluster) clockFile() string { return filepath.Join(c.dir, "clock") }

// clockEnv is the environment of a server with a clock of its own: a library that stands between it
// and the system's. Durations are measured as before, and the environment of programs that libc's
// clock does not serve, like Go's, means nothing.
func (c *Cluster) clockEnv(ctx context.Context) ([]string, error) {
	if !c.config.Clock {
		return nil, nil
	}
	library, err := ensureFaketime(ctx, c.config.Log)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(c.clockFile()); err != nil {
		if err := c.SetClock(0); err != nil {
			return nil, err
		}
	}
	return []string{
		"LD_PRELOAD=" + library,
		"FAKETIME_TIMESTAMP_FILE=" + c.clockFile(),
		"FAKETIME_CACHE_DURATION=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1",
		// It would leave shared memory behind whenever the server is killed.
		"FAKETIME_DISABLE_SHM=1",
	}, nil
}

// ensureFaketime returns the path of libfaketime, after installing it if it is missing.
func ensureFaketime(ctx context.Context, log io.Writer) (string, error) {
	return ensure(ctx, faketimePackage, log, func() (string, bool) {
		for _, pattern := range []string{
			"/usr/lib/*/faketime/libfaketime.so.1", // Debian and its kin
			"/usr/lib*/faketime/libfaketime.so.1",  // others
		} {
			if matches, _ := filepath.Glob(pattern); len(matches) > 0 { // the only error is a malformed pattern
				return matches[0], true
			}
		}
		return "", false
	})
}
