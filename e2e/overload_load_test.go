//go:build overload

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// shot is one request of a load: when it was meant to be sent, and what came of it.
type shot struct {
	// meant is when the plan had it sent, counted from the load's beginning; took is from there to when
	// the answer had arrived, 0 without one. Whatever delays the sending, a busy machine or a service that answers slowly, is
	// part of what a caller would have waited.
	meant, took time.Duration

	// late is how much of that passed before it was sent: the load itself waited for a processor.
	late time.Duration

	source     int
	status     int // 0 if there was no answer
	retryAfter bool
}

// source is a caller that sends at a constant rate.
type source struct {
	key       string // its API key
	perSecond float64
}

// loader sends orders by connections that it keeps. It is small because it shares its processors with
// what it measures: one goroutine a connection, no client, no request objects.
type loader struct {
	addr  string // of the API
	order atomic.Int64
}

// The limits of a load.
const (
	// maxConns is how many connections it opens at most; a shot that finds none free waits, and its
	// time runs.
	maxConns = 1500

	// shotTimeout is when an answer is no longer waited for.
	shotTimeout = 20 * time.Second
)

// newLoader makes a load for an API; its first order is the one after the given number.
func newLoader(api string, after int64) (*loader, error) {
	u, err := url.Parse(api)
	if err != nil {
		return nil, err
	}
	l := &loader{addr: u.Host}
	l.order.Store(after)
	return l, nil
}

// conn is one connection and what was sent by it.
type conn struct {
	net.Conn

	arrived *arrivals
	reader  *bufio.Reader // of arrived
	buffer  []byte
	shots   []shot
}

func (l *loader) dial() (*conn, error) {
	c := &conn{}
	return c, c.connect(l.addr)
}

func (c *conn) connect(addr string) error {
	dialed, err := net.DialTimeout("tcp", addr, shotTimeout) //nolint:noctx // It has a limit.
	if err != nil {
		return fmt.Errorf("reaching the API: %w", err)
	}
	c.Conn = dialed
	if c.arrived, err = stampArrivals(dialed); err != nil {
		return fmt.Errorf("having arrivals stamped: %w", err)
	}
	c.reader = bufio.NewReader(c.arrived)
	return nil
}

// fire sends one new order and notes what came of it.
func (l *loader) fire(c *conn, began time.Time, s shot, key string) {
	s.late = time.Since(began) - s.meant
	s.status, s.retryAfter = c.exchange(key, l.order.Add(1))
	if s.status != 0 { // By the wall clock, which is the one that stamps arrivals.
		s.took = time.Duration(c.arrived.last.UnixNano()-began.UnixNano()) - s.meant
	}
	c.shots = append(c.shots, s)
	if s.status == 0 {
		_ = c.Close() // Whatever has become of it.
		_ = c.connect(l.addr)
	}
}

// exchange sends one order and reads the whole answer; the status is 0 if there was none.
func (c *conn) exchange(key string, order int64) (status int, retryAfter bool) {
	o := orderOf(int(order))
	c.buffer = fmt.Appendf(c.buffer[:0], "POST /v1/labels HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer %s\r\n"+
		"Idempotency-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		key, o.key, len(o.body), o.body)
	_ = c.SetDeadline(time.Now().Add(shotTimeout)) // A broken connection says so in a moment.
	if _, err := c.Write(c.buffer); err != nil {
		return 0, false
	}
	status, retryAfter, err := c.read()
	if err != nil {
		return 0, false
	}
	return status, retryAfter
}

var errNotHTTP = errors.New("the answer is not HTTP/1.1 with a length")

// read reads a whole answer. net/http would do, at three times the cost.
func (c *conn) read() (status int, retryAfter bool, err error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, false, err
	}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, false, errNotHTTP
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, false, errNotHTTP
	}
	length := -1
	for {
		if line, err = c.reader.ReadSlice('\n'); err != nil {
			return 0, false, err
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(": "))
		if len(name) == 0 {
			break
		}
		switch string(name) {
		case "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, false, errNotHTTP
			}
		case "Retry-After":
			seconds, err := strconv.Atoi(string(value))
			retryAfter = err == nil && seconds > 0
		}
	}
	if length < 0 {
		return 0, false, errNotHTTP
	}
	_, err = c.reader.Discard(length)
	return status, retryAfter, err
}

// closed is a load in a closed loop: so many clients, each sending its next order when the last one is
// answered. What it gets done is what the service can do.
func (l *loader) closed(ctx context.Context, duration time.Duration, clients int, key string) ([]shot, error) {
	conns := make([]*conn, clients)
	for i := range conns {
		var err error
		if conns[i], err = l.dial(); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	var running sync.WaitGroup
	for _, c := range conns {
		running.Go(func() {
			for ctx.Err() == nil && time.Since(began) < duration {
				l.fire(c, began, shot{meant: time.Since(began)}, key)
			}
		})
	}
	running.Wait()
	return collect(conns), ctx.Err()
}

// stand is where idle connections wait; the last one used is the first one taken.
type stand struct {
	mu    sync.Mutex
	idle  []*conn
	conns []*conn
	work  map[*conn]chan shot
	busy  sync.WaitGroup
	back  chan struct{} // holds a token if one came back that nobody has looked for
}

// open is a load in an open loop: every source sends at its rate, whether or not anything is answered.
// It returns when everything is.
func (l *loader) open(ctx context.Context, duration time.Duration, sources ...source) ([]shot, error) {
	st := &stand{work: map[*conn]chan shot{}, back: make(chan struct{}, 1)}
	defer st.dismiss()
	due := make([]time.Duration, len(sources))
	for i := range due {
		due[i] = time.Duration(i) * time.Second / 4000 // Callers do not march in step.
	}
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	began := time.Now()
	for slices.Min(due) < duration {
		now := min(time.Since(began), duration)
		for i, s := range sources {
			for ; due[i] <= now; due[i] += time.Duration(float64(time.Second) / s.perSecond) {
				c, err := l.take(ctx, st, began, sources)
				if err != nil {
					return nil, err
				}
				st.busy.Add(1)
				st.work[c] <- shot{meant: due[i], source: i}
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
	st.busy.Wait()
	return collect(st.conns), nil
}

// take finds an idle connection, or opens one; when there are too many it waits.
func (l *loader) take(ctx context.Context, st *stand, began time.Time, sources []source) (*conn, error) {
	for ctx.Err() == nil {
		if c := st.pop(); c != nil {
			return c, nil
		}
		if len(st.conns) == maxConns {
			select {
			case <-st.back:
			case <-ctx.Done():
			}
			continue
		}
		c, err := l.dial()
		if err != nil {
			return nil, err
		}
		work := make(chan shot, 1)
		st.conns, st.work[c] = append(st.conns, c), work
		go func() {
			for s := range work {
				l.fire(c, began, s, sources[s.source].key)
				st.push(c)
			}
		}()
		return c, nil
	}
	return nil, ctx.Err()
}

func (st *stand) pop() *conn {
	st.mu.Lock()
	defer st.mu.Unlock()
	n := len(st.idle)
	if n == 0 {
		return nil
	}
	c := st.idle[n-1]
	st.idle = st.idle[:n-1]
	return c
}

func (st *stand) push(c *conn) {
	st.mu.Lock()
	st.idle = append(st.idle, c)
	st.mu.Unlock()
	select {
	case st.back <- struct{}{}:
	default:
	}
	st.busy.Done()
}

// dismiss ends the connections' goroutines.
func (st *stand) dismiss() {
	for _, work := range st.work {
		close(work)
	}
}

// collect closes the connections and returns all shots, in the order in which they were meant.
func collect(conns []*conn) []shot {
	var all []shot
	for _, c := range conns {
		_ = c.Close() // Nothing is under way on it.
		all = append(all, c.shots...)
	}
	slices.SortFunc(all, func(a, b shot) int { return int(a.meant - b.meant) })
	return all
}
