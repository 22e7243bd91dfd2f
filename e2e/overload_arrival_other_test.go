//go:build overload && !linux

package e2e

import (
	"net"
	"time"
)

// arrivals reads a connection and notes when something was read last.
type arrivals struct {
	net.Conn

	last time.Time
}

func stampArrivals(c net.Conn) (*arrivals, error) { return &arrivals{Conn: c}, nil }

// Read implements [io.Reader].
func (a *arrivals) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	a.last = time.Now()
	return n, err
}
