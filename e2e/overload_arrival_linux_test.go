//go:build overload

package e2e

import (
	"encoding/binary"
	"io"
	"net"
	"syscall"
	"time"
)

// arrivals reads a connection and notes when the kernel received what was read last (socket(7),
// SO_TIMESTAMPNS): that the load waits for a processor before it reads an answer is no time of the service's.
type arrivals struct {
	raw  syscall.RawConn
	oob  [64]byte
	last time.Time
}

func stampArrivals(c net.Conn) (*arrivals, error) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
	})
	if err == nil {
		err = failed
	}
	return &arrivals{raw: raw}, err
}

// Read implements [io.Reader].
func (a *arrivals) Read(p []byte) (int, error) {
	var n, oobn int
	var failed error
	err := a.raw.Read(func(fd uintptr) (done bool) {
		n, oobn, _, _, failed = syscall.Recvmsg(int(fd), p, a.oob[:], 0)
		return failed != syscall.EAGAIN && failed != syscall.EINTR
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	case n == 0:
		return 0, io.EOF
	}
	a.last = time.Now()
	messages, err := syscall.ParseSocketControlMessage(a.oob[:oobn])
	for _, m := range messages {
		if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == syscall.SCM_TIMESTAMPNS {
			a.last = time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
		}
	}
	return n, err
}
