package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"

	"waybill/outbox"
)

// Housekeeping runs in every worker, each task in a loop of its own, whether or not there is traffic.
const (
	// ringEvery bounds how long an expired lease or a lost job goes unnoticed.
	ringEvery = 2 * time.Second

	// sweepEvery is how often expired keys are looked for; while there are more, there is no pause.
	sweepEvery = 5 * time.Second

	// gaugeEvery is how old the gauges of intents may be. An intent in doubt must show within a minute.
	gaugeEvery = 5 * time.Second
)

// housekeeping keeps running until ctx ends.
func housekeeping(ctx context.Context, o *outbox.Outbox, logger *zap.Logger) *sync.WaitGroup {
	var running sync.WaitGroup
	loop := func(name string, every time.Duration, task func(context.Context) error) {
		running.Go(func() { repeat(ctx, logger.With(zap.String("task", name)), every, task) })
	}
	loop("ring", ringEvery, func(ctx context.Context) error {
		n, err := o.Ring(ctx)
		if n > 0 {
			logger.Info("rang for intents without a live job", zap.Int("jobs", n))
		}
		return err
	})
	loop("sweep", sweepEvery, func(ctx context.Context) error { return sweepAll(ctx, o) })
	loop("gauge", gaugeEvery, o.Gauge)
	return &running
}

func sweepAll(ctx context.Context, o *outbox.Outbox) error {
	for ctx.Err() == nil {
		n, err := o.SweepKeys(ctx)
		if err != nil || n < outbox.SweepBatch {
			return err
		}
	}
	return nil
}

// repeat runs a task again and again, with some jitter: workers that start together should not
// come at the same moments ever after.
func repeat(ctx context.Context, logger *zap.Logger, every time.Duration, task func(context.Context) error) {
	for {
		if err := task(ctx); err != nil && ctx.Err() == nil {
			logger.Warn("housekeeping will be tried again", zap.Error(err))
		}
		jitter := time.Duration(rand.Int64N(int64(every / 4))) //nolint:gosec // Not a secret.
		select {
		case <-ctx.Done():
			return
		case <-time.After(every - every/8 + jitter):
		}
	}
}
