package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"waybill/outbox"
)

// riverSettings are what River is told about our attempts.
type riverSettings struct {
	config     river.Config
	maxWorkers int // for each carrier
	carriers   []string
}

// settingsForRiver derives River's clocks from the longest lease: River's own time-outs and rescue are
// a backstop, never what decides. Polling is short because nothing notifies: a NOTIFY per insert is
// a lock that all committers share, and a lost one costs a second.
func (w *worker) settingsForRiver() riverSettings {
	longest := w.longestLease
	return riverSettings{
		maxWorkers: w.settings.MaxWorkers,
		carriers:   slices.Sorted(maps.Keys(w.accounts)),
		config: river.Config{
			Logger:               outbox.RiverLogger(w.logger),
			JobTimeout:           longest,
			JobStuckThreshold:    longest,
			RescueStuckJobsAfter: 2 * longest,
			// Completed jobs say nothing that the intents do not say better, and a small table is a
			// fast one.
			CompletedJobRetentionPeriod: 5 * time.Minute,
			CancelledJobRetentionPeriod: 24 * time.Hour,
			DiscardedJobRetentionPeriod: 7 * 24 * time.Hour,
			PollOnly:                    true,
			// The indexes that migrations/0003 leaves.
			ReindexerIndexNames: []string{
				"river_job_pkey",
				"river_job_prioritized_fetching_index",
				"river_job_state_and_finalized_at_index",
				"river_job_unique_idx",
			},
		},
	}
}

const (
	fetchCooldown = 20 * time.Millisecond
	fetchPoll     = 25 * time.Millisecond

	// asidePoll is how often a carrier's own queue is looked into: what is there has waited already.
	asidePoll = 100 * time.Millisecond
)

func newRiver(
	pool *pgxpool.Pool, buyer *outbox.Buyer, fetcher *outbox.Fetcher, voider *outbox.Voider, s riverSettings,
) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	err := errors.Join(
		river.AddWorkerSafely(workers, buyer),
		river.AddWorkerSafely(workers, fetcher),
		river.AddWorkerSafely(workers, voider),
	)
	if err != nil {
		return nil, fmt.Errorf("registering the workers: %w", err)
	}
	// A new name for every process: a restart must not be taken for the process that died. Short,
	// because it is written with every fetched job.
	id, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("naming the worker: %w", err)
	}
	cfg := s.config
	cfg.ID = "worker-" + id.String()[:8]
	cfg.Workers = workers
	cfg.Queues = s.queues()
	client, err := river.NewClient(riverpgxv5.New(pool), &cfg)
	if err != nil {
		return nil, fmt.Errorf("making the River client: %w", err)
	}
	return client, nil
}

// queues are the shared one, and one for each carrier with the workers that its share is short of.
func (s riverSettings) queues() map[string]river.QueueConfig {
	share := shareOf(s.maxWorkers, len(s.carriers))
	queues := map[string]river.QueueConfig{outbox.SharedQueue: {
		MaxWorkers:        max(s.maxWorkers, share*len(s.carriers)),
		FetchCooldown:     fetchCooldown,
		FetchPollInterval: fetchPoll,
	}}
	for _, name := range s.carriers {
		queues[outbox.Queue(name)] = river.QueueConfig{
			MaxWorkers:        max(1, s.maxWorkers-share, s.maxWorkers/10), // documents want some in any case
			FetchCooldown:     asidePoll,
			FetchPollInterval: asidePoll,
		}
	}
	return queues
}

// shareOf is how many workers of the shared queue each carrier may have: together they never need more
// than there are.
func shareOf(maxWorkers, carriers int) int { return max(1, maxWorkers/max(1, carriers)) }
