package main

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"waybill/internal/command"
	"waybill/internal/service"
	"waybill/outbox"
)

// withOutbox runs one operator's action on a database, by a process that ends with it.
func withOutbox(p *command.Process, db service.Database, do func(*outbox.Outbox) error) error {
	alive := context.WithoutCancel(p.Ctx)
	pool, err := db.Open(p.Ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	logger, err := service.NewLogger("warn", p.Stderr)
	if err != nil {
		return err
	}
	box, err := outbox.New(alive, pool, outbox.Config{
		Logger: logger, Metrics: outbox.NewMetrics(prometheus.NewRegistry()), Now: p.Now,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(box), box.Close(alive))
}
