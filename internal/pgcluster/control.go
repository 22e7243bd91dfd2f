package pgcluster

import (
	"context"
	"errors"
)

// Stop stops the server and returns when it has ended. Stopping a stopped cluster does nothing.
func (c *Cluster) Stop(mode StopMode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.stop(mode)
	c.server = nil
}

// Kill ends the server's main process with SIGKILL. Its sessions notice and end on their own, each
// at its next wait; [Cluster.Restart] waits for them. For everything to end at this instant, stop
// with [Immediate].
func (c *Cluster) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.kill()
	c.server = nil
}

// Restart stops the server if it runs and starts it again on the same port.
func (c *Cluster) Restart(ctx context.Context, mode StopMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errors.New("the cluster is closed")
	}
	c.server.stop(mode)
	c.server = nil
	return c.startAgain(ctx)
}
