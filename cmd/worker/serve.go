package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"go.uber.org/zap"

	"waybill/carrier/catalog"
	"waybill/internal/command"
	"waybill/internal/service"
	"waybill/migrations"
	"waybill/outbox"
)

// stopMargin is what storing the last results may take once the last calls have ended.
const stopMargin = 5 * time.Second

// worker is the running service; its parts are listed in the order in which they start.
type worker struct {
	settings settings
	logger   *zap.Logger
	now      func() time.Time

	// River fetches and completes on connections of its own, so that a burst of purchases cannot
	// starve it, nor it them.
	pool, riverPool *pgxpool.Pool
	registry        *prometheus.Registry
	ready           *service.Readiness
	outbox          *outbox.Outbox
	accounts        map[string]outbox.Account
	gates           map[string]*gate
	longestLease    time.Duration
	river           *river.Client[pgx.Tx]
}

// Run serves until it is asked to stop.
func (s settings) Run(p *command.Process) (err error) {
	carriers, err := catalog.Load(s.Carriers, p.Getenv)
	if err != nil {
		return fmt.Errorf("WAYBILL_CARRIERS: %w", err)
	}
	logger, err := service.NewLogger(s.LogLevel, p.Stderr)
	if err != nil {
		return err
	}
	w := &worker{settings: s, logger: logger, now: p.Now, registry: prometheus.NewRegistry()}
	// What a call has bought must be stored even after the signal: only the loops end with it.
	alive := context.WithoutCancel(p.Ctx)
	if err := w.open(alive, carriers); err != nil {
		return errors.Join(err, w.close(alive))
	}
	return errors.Join(w.serve(p.Ctx, alive), w.close(alive))
}

// open makes all parts, checks what can be checked, and starts nothing that works.
func (w *worker) open(ctx context.Context, carriers *catalog.Catalog) (err error) {
	if w.pool, err = w.settings.Open(ctx); err != nil {
		return err
	}
	if w.riverPool, err = w.settings.Open(ctx); err != nil {
		return err
	}
	if err := migrations.Check(ctx, w.pool); err != nil {
		return fmt.Errorf("checking the database's schema: %w", err)
	}
	w.ready = service.NewReadiness(w.pool.Ping, w.now)
	service.RegisterProcess(w.registry, map[string]*pgxpool.Pool{"outbox": w.pool, "river": w.riverPool})
	leases := w.addAccounts(carriers)
	w.outbox, err = outbox.New(ctx, w.pool, outbox.Config{
		KeyTTL:  w.settings.KeyTTL,
		Lease:   w.settings.Lease,
		Leases:  leases,
		Logger:  w.logger.Named("outbox"),
		Metrics: outbox.NewMetrics(w.registry),
		Now:     w.now,
	})
	if err != nil {
		return err
	}
	buyer, err := w.outbox.NewBuyer(w.accounts)
	if err != nil {
		return err
	}
	fetcher, voider := w.outbox.NewFetcher(w.accounts), w.outbox.NewVoider(w.accounts)
	w.river, err = newRiver(w.riverPool, buyer, fetcher, voider, w.settingsForRiver())
	return err
}

// addAccounts makes an account of each configured carrier, and returns the leases that differ.
func (w *worker) addAccounts(carriers *catalog.Catalog) map[string]time.Duration {
	open := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "waybill_breaker_open",
		Help: "1 while calls to the carrier are kept back because it fails.",
	}, []string{"carrier"})
	w.registry.MustRegister(open)
	w.accounts = make(map[string]outbox.Account)
	w.gates = make(map[string]*gate)
	leases := make(map[string]time.Duration)
	w.longestLease = w.settings.Lease
	for _, name := range carriers.Names() {
		c, _ := carriers.Carrier(name)
		own := carriers.Settings(name)
		w.gates[name] = newGate(name, own.RatePerSecond, open.WithLabelValues(name), w.now)
		account := outbox.Account{
			Carrier: c, Timeout: w.settings.CarrierTimeout, Gate: w.gates[name],
			Share: shareOf(w.settings.MaxWorkers, len(carriers.Names())),
		}
		if own.Timeout > 0 {
			account.Timeout = own.Timeout
		}
		if own.Lease > 0 {
			leases[name] = own.Lease
			w.longestLease = max(w.longestLease, own.Lease)
		}
		w.accounts[name] = account
	}
	return leases
}

// serve works until the signal comes or the admin listener fails, and stops in reverse order.
func (w *worker) serve(ctx, alive context.Context) error {
	var open net.ListenConfig
	listener, err := open.Listen(ctx, "tcp", w.settings.AdminAddr)
	if err != nil {
		return fmt.Errorf("listening on WAYBILL_ADMIN_ADDR: %w", err)
	}
	admin := service.AdminServer(w.registry, w.health(), w.logger)
	failed := make(chan error, 1)
	go func() { failed <- admin.Serve(listener) }()

	// River must not see the signal itself: it would cut off calls that are under way.
	if err := w.river.Start(alive); err != nil {
		return errors.Join(fmt.Errorf("starting River: %w", err), admin.Close())
	}
	running := housekeeping(ctx, w.outbox, w.logger)
	w.logger.Info("working", zap.Stringer("admin_addr", listener.Addr()), zap.Int("max_workers", w.settings.MaxWorkers))

	select {
	case <-ctx.Done():
		w.logger.Info("stopping: finishing the calls under way")
	case err = <-failed:
		err = fmt.Errorf("serving the admin listener: %w", err)
	}
	w.ready.Stop()
	err = errors.Join(err, w.stop(alive))
	running.Wait()
	return errors.Join(err, admin.Close())
}

// stop ends fetching, lets the calls under way end, and stores their results.
func (w *worker) stop(alive context.Context) error {
	ctx, cancel := context.WithTimeout(alive, w.longestLease+stopMargin)
	defer cancel()
	if err := w.river.Stop(ctx); err != nil {
		return fmt.Errorf("stopping River with calls under way; their intents will be taken over: %w", err)
	}
	return nil
}

// close ends what open has made; it may be incomplete.
func (w *worker) close(alive context.Context) (err error) {
	ctx, cancel := context.WithTimeout(alive, stopMargin)
	defer cancel()
	if w.outbox != nil {
		err = w.outbox.Close(ctx)
	}
	for _, pool := range []*pgxpool.Pool{w.riverPool, w.pool} {
		if pool != nil {
			pool.Close()
		}
	}
	return err
}
