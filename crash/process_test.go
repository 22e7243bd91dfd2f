//go:build faultinject

package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"waybill/internal/fault"
	"waybill/outbox"
)

// errGrave is what the dead hear, once nobody listens to them any more.
var errGrave = errors.New("this process is dead")

// process is a process of the service, played by goroutines. When it dies, its connections are cut
// without a goodbye and none of its goroutines goes on: each stops at the next point, connection or
// carrier that it reaches, until the story is over and they may go.
type process struct {
	name    string
	ctx     context.Context //nolint:containedctx // It is the process's own, as main's is.
	stop    context.CancelFunc
	db      *pgxpool.Pool
	box     *outbox.Outbox
	buyer   *outbox.Buyer
	fetcher *outbox.Fetcher
	voider  *outbox.Voider

	died, asleep, awake, buried chan struct{}
	once                        sync.Once

	// cut is the COMMIT whose connection is cut next.
	cut atomic.Pointer[cut]

	mu    sync.Mutex
	conns map[*conn]struct{}
	seen  []string
}

// cut cuts a connection at a COMMIT: before it is sent, or after it was carried out and before
// anybody has read so.
type cut struct{ carriedOut bool }

// start starts a process that will be broken as told.
func (w *world) start(faults ...breakage) *process {
	w.started++
	p := &process{
		name: fmt.Sprintf("%s-%d", w.caller, w.started),
		died: make(chan struct{}), asleep: make(chan struct{}),
		awake: make(chan struct{}), buried: make(chan struct{}),
		conns: map[*conn]struct{}{},
	}
	in := p.injector(faults)
	p.ctx, p.stop = context.WithCancel(fault.With(ctx, in))
	cfg, err := pgxpool.ParseConfig(w.url)
	require.NoError(w.t, err)
	cfg.MaxConns = 6
	cfg.ConnConfig.RuntimeParams["application_name"] = p.name
	cfg.ConnConfig.DialFunc = p.dial
	p.db, err = pgxpool.NewWithConfig(p.ctx, cfg)
	require.NoError(w.t, err)
	p.box, err = outbox.New(p.ctx, p.db, outbox.Config{
		Lease:    lease,
		Flushers: 1,
		Queue:    16,
		Patience: w.patience,
		Policy:   outbox.Policy{MinSpacing: time.Second},
		Logger:   w.logger.With(zap.String("process", p.name)),
		Metrics:  outbox.NewMetrics(prometheus.NewRegistry()),
		Now:      w.now,
	})
	require.NoError(w.t, err)
	accounts := map[string]outbox.Account{"sim": {Carrier: w.witness.lineOf(p), Timeout: timeout}}
	p.buyer, err = p.box.NewBuyer(accounts)
	require.NoError(w.t, err)
	p.fetcher, p.voider = p.box.NewFetcher(accounts), p.box.NewVoider(accounts)
	w.processes = append(w.processes, p)
	return p
}

// breakage is a fault of the process, or a cut of its connection.
type breakage struct {
	fault.Fault

	cut *cut
}

func (p *process) injector(breakages []breakage) *fault.Injector {
	var faults []fault.Fault
	cuts := map[string]*breakage{}
	for i, b := range breakages {
		if b.cut == nil {
			faults = append(faults, b.Fault)
		} else {
			cuts[b.Point] = &breakages[i]
		}
	}
	in := fault.New(faults...)
	in.Kill = p.die
	in.Pause = p.sleep
	in.Seen = func(point string) {
		if p.grave() {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.seen = append(p.seen, point)
		if b := cuts[point]; b != nil {
			if b.Hit--; b.Hit == 0 {
				p.cut.Store(b.cut)
			}
		}
	}
	return in
}

// points are those that the process has reached.
func (p *process) points() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

// die kills the process; only the buried return from it.
func (p *process) die() error {
	p.once.Do(func() {
		close(p.died)
		p.mu.Lock()
		defer p.mu.Unlock()
		for c := range p.conns {
			_ = c.Conn.Close() // The kernel does it for the dead.
		}
	})
	p.grave()
	return errGrave
}

// grave holds a goroutine of a dead process until the story is over; the living it lets pass.
func (p *process) grave() bool {
	select {
	case <-p.died:
		<-p.buried
		return true
	default:
		return false
	}
}

// sleep stops the process until somebody wakes it.
func (p *process) sleep() error {
	close(p.asleep)
	<-p.awake
	return nil
}

// end ends the process, however it fared, and all its goroutines.
func (p *process) end() error {
	select {
	case <-p.died:
		p.stop()
	default:
	}
	select {
	case <-p.awake:
	default:
		close(p.awake)
	}
	close(p.buried)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 5*time.Second)
	defer cancel()
	err := p.box.Close(ctx)
	p.stop()
	p.db.Close()
	return err
}

func (p *process) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if p.grave() {
		return nil, errGrave
	}
	raw, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, proc: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = struct{}{}
	return c, nil
}

// conn is a connection to the database. The dead neither read nor write.
type conn struct {
	net.Conn

	proc *process
	lost atomic.Bool
}

func (c *conn) Write(b []byte) (int, error) {
	if c.proc.grave() {
		return 0, errGrave
	}
	if bytes.Contains(b, []byte("commit\x00")) {
		if cut := c.proc.cut.Swap(nil); cut != nil {
			if !cut.carriedOut {
				return 0, errors.Join(net.ErrClosed, c.Conn.Close())
			}
			c.lost.Store(true)
		}
	}
	n, err := c.Conn.Write(b)
	if err != nil && c.proc.grave() {
		return n, errGrave
	}
	return n, err
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.proc.grave() {
		return 0, errGrave
	}
	if err == nil && c.lost.Load() { // The answer to COMMIT is here, and lost.
		return 0, errors.Join(net.ErrClosed, c.Conn.Close())
	}
	return n, err
}

func (c *conn) Close() error {
	c.proc.mu.Lock()
	delete(c.proc.conns, c)
	c.proc.mu.Unlock()
	return c.Conn.Close()
}
