package service

import (
	"context"
	"net/http"
	"net/http/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// Limits of the admin listener: it serves operators and scrapers, on a private address.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
)

// AdminServer is what operators reach: metrics, health and profiles. health answers /healthz and
// /readyz.
func AdminServer(registry *prometheus.Registry, health http.Handler, logger *zap.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/", health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          zap.NewStdLog(logger.Named("http")),
	}
}

const (
	// readyTimeout is how long the check may take.
	readyTimeout = 2 * time.Second

	// readyFor is how long an answer counts: anybody may ask, as often as they like.
	readyFor = time.Second
)

// Readiness knows whether a process can serve. Make it with NewReadiness.
type Readiness struct {
	check func(context.Context) error
	now   func() time.Time

	stopping atomic.Bool

	mu      sync.Mutex
	checked time.Time
	result  error
}

// NewReadiness asks check, at most once a second.
func NewReadiness(check func(context.Context) error, now func() time.Time) *Readiness {
	return &Readiness{check: check, now: now}
}

// Stop makes every later answer a no, so that nobody sends more work here.
func (r *Readiness) Stop() { r.stopping.Store(true) }

// Stopping is true once Stop was called.
func (r *Readiness) Stopping() bool { return r.stopping.Load() }

// Err is nil if the process can serve.
func (r *Readiness) Err(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now().Sub(r.checked) >= readyFor {
		// Whoever asked hangs up at will; the answer is for all.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
		defer cancel()
		r.result = r.check(ctx)
		r.checked = r.now()
	}
	return r.result
}
