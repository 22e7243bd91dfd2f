package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"waybill/caller"
	"waybill/carrier/catalog"
	"waybill/internal/command"
	"waybill/internal/service"
	"waybill/migrations"
	"waybill/outbox"
)

// Run serves until it is asked to stop. What lives as long as the process hangs on a context that
// the signal does not end; parts stop in reverse order.
func (c serveCommand) Run(p *command.Process) (err error) {
	carriers, err := catalog.Load(c.Carriers, p.Getenv)
	if err != nil {
		return fmt.Errorf("WAYBILL_CARRIERS: %w", err)
	}
	logger, err := service.NewLogger(c.LogLevel, p.Stderr)
	if err != nil {
		return err
	}
	alive := context.WithoutCancel(p.Ctx)
	pool, err := c.Open(p.Ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrations.Check(p.Ctx, pool); err != nil {
		return fmt.Errorf("checking the database's schema: %w", err)
	}
	registry := prometheus.NewRegistry()
	service.RegisterProcess(registry, map[string]*pgxpool.Pool{"api": pool})
	box, err := outbox.New(alive, pool, outbox.Config{
		Listen:     !c.ThroughPooler(),
		AcceptWait: c.AcceptWait,
		Logger:     logger.Named("outbox"),
		Metrics:    outbox.NewMetrics(registry),
		Now:        p.Now,
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
		keys:        caller.New(pool, p.Now),
		carriers:    carriers,
		limits:      newLimiter(c.CallerRate, p.Now),
		waiting:     newPlaces(c.MaxWaiting),
		ready:       service.NewReadiness(func(ctx context.Context) error { return migrations.Check(ctx, pool) }, p.Now),
		metrics:     newMetrics(registry),
		logger:      logger,
		refusals:    newRefusalLogger(logger),
		now:         p.Now,
		bodyTimeout: bodyTimeout,
		stopping:    p.Ctx,
	}
	return c.listen(p, a, registry)
}

// listen serves both listeners until the process is asked to stop or one of them fails.
func (c serveCommand) listen(p *command.Process, a *api, registry *prometheus.Registry) error {
	var open net.ListenConfig
	apiListener, err := open.Listen(p.Ctx, "tcp", c.APIAddr)
	if err != nil {
		return fmt.Errorf("listening on WAYBILL_API_ADDR: %w", err)
	}
	adminListener, err := open.Listen(p.Ctx, "tcp", c.AdminAddr)
	if err != nil {
		return errors.Join(fmt.Errorf("listening on WAYBILL_ADMIN_ADDR: %w", err), apiListener.Close())
	}
	main, admin := a.mainServer(), service.AdminServer(registry, a.newMux(a.healthRoutes()), a.logger)
	failed := make(chan error, 2)
	go func() { failed <- main.Serve(apiListener) }()
	go func() { failed <- admin.Serve(adminListener) }()
	a.logger.Info("listening",
		zap.Stringer("api_addr", apiListener.Addr()), zap.Stringer("admin_addr", adminListener.Addr()))
	select {
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	case <-p.Ctx.Done():
		a.logger.Info("stopping")
	}
	return errors.Join(err, a.shutdown(p, main, admin))
}

// shutdown lets requests end: those that wait are woken by a.stopping, the rest are short. The admin
// listener goes last, because it says why nobody else answers.
func (a *api) shutdown(p *command.Process, main, admin *http.Server) error {
	a.ready.Stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Ctx), stopTimeout)
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
		// Of a request that is refused net/http reads the body before it answers.
		ReadTimeout:    headerTimeout + bodyTimeout,
		WriteTimeout:   answerTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       zap.NewStdLog(a.logger.Named("http")),
	}
}
