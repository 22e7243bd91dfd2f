package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// link is one way between two programs, which trouble can be made on. The trouble is toxiproxy's, the
// proxy is not: that one's own locks can lock each other when trouble begins or ends while connections
// die, and here they die all the time.
type link struct {
	listen, upstream string

	mu       sync.Mutex
	listener net.Listener // nil while nobody is let in
	pumps    map[*pump]bool
	toxic    map[string]toxics.Toxic // by direction; absent: none
	passed   map[string]*atomic.Int64
	running  sync.WaitGroup
}

func init() { zerolog.SetGlobalLevel(zerolog.Disabled) } // Toxics write to a logger of the package's.

// newLink puts a proxy before an address.
func newLink(t *testing.T, upstream string) *link {
	t.Helper()
	l := &link{
		listen: stablePort(t), upstream: upstream, pumps: map[*pump]bool{}, toxic: map[string]toxics.Toxic{},
		passed: map[string]*atomic.Int64{},
	}
	for _, direction := range directions {
		l.passed[direction] = new(atomic.Int64)
	}
	require.NoError(t, l.open(t.Context()))
	t.Cleanup(func() {
		l.shut()
		l.running.Wait()
	})
	return l
}

// open lets connections in; repeating it does nothing.
func (l *link) open(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", l.listen)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", l.listen, err)
	}
	l.listener = listener
	l.running.Go(func() { l.accept(listener) })
	return nil
}

// shut refuses connections and cuts those there are.
func (l *link) shut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener == nil {
		return
	}
	_ = l.listener.Close()
	l.listener = nil
	for p := range l.pumps {
		p.cut()
	}
}

func (l *link) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return // It was shut.
		}
		l.running.Go(func() { l.connect(listener, near) })
	}
}

func (l *link) connect(listener net.Listener, near net.Conn) {
	far, err := new(net.Dialer).Dial("tcp", l.upstream)
	if err != nil {
		_ = near.Close()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	up, down := newPump(near, far, l.passed["upstream"]), newPump(far, near, l.passed["downstream"])
	for direction, p := range map[string]*pump{"upstream": up, "downstream": down} {
		l.pumps[p] = true
		p.direction = direction
		p.begin(l.toxic[direction])
		l.running.Go(func() {
			p.run()
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.pumps, p)
		})
	}
	if l.listener != listener { // It was shut meanwhile.
		up.cut()
	}
}

// set gives all connections, present and future, a toxic in one direction; nil ends it.
func (l *link) set(direction string, x toxics.Toxic) {
	l.mu.Lock()
	l.toxic[direction] = x
	var changing sync.WaitGroup
	for p := range l.pumps {
		if p.direction == direction {
			changing.Go(func() { p.change(x) })
		}
	}
	l.mu.Unlock()
	changing.Wait()
}

// trouble makes a toxic last until done, and says how much traffic met it.
func (l *link) trouble(x toxic, which int, done <-chan struct{}) (met int64) {
	before := l.passed[x.direction].Load()
	l.set(x.direction, x.degree(which))
	<-done
	met = l.passed[x.direction].Load() - before
	l.set(x.direction, nil)
	return met
}

// degree is how bad the trouble is; which chooses between two. What is delayed is delayed by less than
// the quiet period: a network that holds an order back for longer breaks what the carrier promises of
// its processing time.
func (x toxic) degree(which int) toxics.Toxic {
	n := int64(which)
	switch x.kind {
	case "latency":
		return &toxics.LatencyToxic{Latency: 60 + 200*n, Jitter: 50}
	case "reset_peer":
		return &toxics.ResetToxic{}
	case "timeout":
		return &toxics.TimeoutToxic{Timeout: 300 * n} // 0: a black hole until the trouble ends
	case "limit_data":
		return &toxics.LimitDataToxic{Bytes: 200 + 2000*n}
	case "slicer":
		return &toxics.SlicerToxic{AverageSize: 64, SizeVariation: 32, Delay: 200}
	case "bandwidth":
		return &toxics.BandwidthToxic{Rate: 2 + 20*n}
	default:
		panic("unknown kind of trouble " + x.kind)
	}
}

// pump moves data one way, through a toxic.
type pump struct {
	src, dst  net.Conn
	direction string
	passed    *atomic.Int64

	in   chan *stream.StreamChunk
	out  chan *stream.StreamChunk
	stub *toxics.ToxicStub

	mu      sync.Mutex // held while the toxic is changed
	current toxics.Toxic
}

// pumpBuffer is what a toxic that delays needs; changePatience is how long a connection that takes no
// data may keep a change waiting before it is cut.
const (
	pumpBuffer     = 1024
	changePatience = time.Second
)

func newPump(src, dst net.Conn, passed *atomic.Int64) *pump {
	p := &pump{
		src: src, dst: dst, passed: passed,
		in: make(chan *stream.StreamChunk, pumpBuffer), out: make(chan *stream.StreamChunk),
	}
	p.stub = toxics.NewToxicStub(p.in, p.out)
	return p
}

// begin starts a toxic on the stub, which nothing runs on.
func (p *pump) begin(x toxics.Toxic) {
	p.current = x
	if x == nil {
		x = new(toxics.NoopToxic)
	}
	if _, resets := x.(*toxics.ResetToxic); resets {
		for _, conn := range []net.Conn{p.src, p.dst} {
			_ = conn.(*net.TCPConn).SetLinger(0) // It may have ended.
		}
	}
	if stateful, ok := x.(toxics.StatefulToxic); ok {
		p.stub.State = stateful.NewState()
	}
	go p.stub.Run(&toxics.ToxicWrapper{Toxic: x, Toxicity: 1})
}

// change puts another toxic in the place of the present one.
func (p *pump) change(x toxics.Toxic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cut := time.AfterFunc(changePatience, p.cut)
	defer cut.Stop()
	if !p.stub.InterruptToxic() {
		return // The connection has ended.
	}
	if lossy, ok := p.current.(toxics.CleanupToxic); ok {
		lossy.Cleanup(p.stub)
		if p.stub.Closed() {
			return
		}
	}
	p.begin(x)
}

// run moves data until either side ends.
func (p *pump) run() {
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.Copy(p, p.src) // However it ended, it has.
		close(p.in)
	})
	broken := false
	for c := range p.out {
		if broken {
			continue // A toxic must never wait for a connection that is dead.
		}
		if _, err := io.Copy(p.dst, bytes.NewReader(c.Data)); err != nil {
			broken = true
			p.cut()
		}
	}
	p.cut()
	for range p.in {
	}
	reading.Wait()
}

// Write implements io.Writer for what was read.
func (p *pump) Write(b []byte) (int, error) {
	p.passed.Add(1)
	p.in <- &stream.StreamChunk{Data: bytes.Clone(b), Timestamp: time.Now()}
	return len(b), nil
}

func (p *pump) cut() {
	_ = p.src.Close() // Whoever comes first.
	_ = p.dst.Close()
}
