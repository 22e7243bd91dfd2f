package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"waybill/caller"
	"waybill/carrier/catalog"
	"waybill/migrations"
	"waybill/outbox"
)

// Run serves until it is asked to stop. What lives as long as the process hangs on a context that
// the signal does not end; parts stop in reverse order.
func (c serveCommand) Run(p *process) (err error) {
	carriers, err := catalog.Load(c.Carriers, p.getenv)
	if err != nil {
		return fmt.Errorf("WAYBILL_CARRIERS: %w", err)
	}
	logger := newLogger(c.level(), p)
	alive := context.WithoutCancel(p.ctx)
	pool, err := c.open(alive)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrations.Check(p.ctx, pool); err != nil {
		return fmt.Errorf("checking the database's schema: %w", err)
	}
	registry := prometheus.NewRegistry()
	registerProcess(registry, pool)
	box, err := outbox.New(alive, pool, outbox.Config{
		Listen:  !c.throughPooler(),
		Logger:  logger.Named("outbox"),
		Metrics: outbox.NewMetrics(registry),
		Now:     p.now,
	})
	if err != nil {
		return fmt.Errorf("starting the outbox: %w", err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(alive, stopTimeout)
		defer cancel()
		err = errors.Join(err, box.Close(closing))
	}()
	a := &api{
		outbox:      box,
		keys:        caller.New(pool, p.now),
		carriers:    carriers,
		limits:      newLimiter(c.CallerRate, p.now),
		ready:       newReadiness(pool, p),
		metrics:     newMetrics(registry),
		logger:      logger,
		now:         p.now,
		bodyTimeout: bodyTimeout,
		stopping:    p.ctx,
	}
	return c.listen(p, a, registry)
}

func newReadiness(pool *pgxpool.Pool, p *process) *readiness {
	return &readiness{
		check: func(ctx context.Context) error { return migrations.Check(ctx, pool) },
		now:   p.now,
	}
}

// newLogger writes JSON lines to standard error.
func newLogger(level zapcore.Level, p *process) *zap.Logger {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	return zap.New(zapcore.NewCore(
		zapcore.NewJSONEncoder(encoding), zapcore.Lock(zapcore.AddSync(p.stderr)), level))
}

// listen serves both listeners until the process is asked to stop or one of them fails.
func (c serveCommand) listen(p *process, a *api, registry *prometheus.Registry) error {
	var open net.ListenConfig
	apiListener, err := open.Listen(p.ctx, "tcp", c.APIAddr)
	if err != nil {
		return fmt.Errorf("listening on WAYBILL_API_ADDR: %w", err)
	}
	adminListener, err := open.Listen(p.ctx, "tcp", c.AdminAddr)
	if err != nil {
		return errors.Join(fmt.Errorf("listening on WAYBILL_ADMIN_ADDR: %w", err), apiListener.Close())
	}
	main, admin := a.mainServer(), a.adminServer(registry)
	failed := make(chan error, 2)
	go func() { failed <- main.Serve(apiListener) }()
	go func() { failed <- admin.Serve(adminListener) }()
	a.logger.Info("listening",
		zap.Stringer("api_addr", apiListener.Addr()), zap.Stringer("admin_addr", adminListener.Addr()))
	select {
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	case <-p.ctx.Done():
		a.logger.Info("stopping")
	}
	return errors.Join(err, a.shutdown(p, main, admin))
}

// shutdown lets requests end: those that wait are woken by a.stopping, the rest are short. The admin
// listener goes last, because it says why nobody else answers.
func (a *api) shutdown(p *process, main, admin *http.Server) error {
	a.ready.stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), stopTimeout)
	defer cancel()
	if err := main.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("ending the last requests: %w", err), main.Close(), admin.Close())
	}
	return admin.Close()
}

// mainServer is what callers reach.
func (a *api) mainServer() *http.Server {
	return &http.Server{
		Handler:           a.newMux(a.routes()),
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          zap.NewStdLog(a.logger.Named("http")),
	}
}

// adminServer is what operators reach.
func (a *api) adminServer(registry *prometheus.Registry) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/", a.newMux(a.healthRoutes()))
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
		ErrorLog:          zap.NewStdLog(a.logger.Named("http")),
	}
}
