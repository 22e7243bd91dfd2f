package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
)

// Queue is River's queue of the jobs of one carrier: those that the shared queue's workers have moved
// aside, because the carrier had its share of them already, and those that fetch its documents.
func Queue(carrierName string) string {
	if !queueName.MatchString(carrierName) {
		return SharedQueue
	}
	return SharedQueue + "-" + carrierName
}

// queueName is what River allows of a queue's name; a job that it refuses takes its whole batch along.
var queueName = regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`)

// SharedQueue is the queue of all purchases.
const SharedQueue = "labels"

// maxJobAttempts is out of reach: the intent's own counters decide when to give up, and a job that
// River discards is rung again anyway.
const maxJobAttempts = 10_000

// BuyLabel is the doorbell of an intent: it says that there is something to do, never what. The
// intent's row is the queue of record, so a job that is lost, repeated or late does no harm.
type BuyLabel struct {
	IntentID uuid.UUID `json:"intent_id" river:"unique"`

	// Carrier lets a worker leave the job alone while the carrier wants to be left alone.
	Carrier string `json:"carrier"`
}

// Kind names the job in River's table.
func (BuyLabel) Kind() string { return "buy_label" }

// InsertOpts allows one live job for an intent; inserting another changes nothing.
func (BuyLabel) InsertOpts() river.InsertOpts { return oneLiveJob(SharedQueue) }

// oneLiveJob allows one job of the same unique args that may still run.
func oneLiveJob(queue string) river.InsertOpts {
	return river.InsertOpts{
		Queue:       queue,
		MaxAttempts: maxJobAttempts,
		UniqueOpts: river.UniqueOpts{
			ByArgs: true,
			ByState: []rivertype.JobState{
				rivertype.JobStateAvailable,
				rivertype.JobStatePending,
				rivertype.JobStateRetryable,
				rivertype.JobStateRunning,
				rivertype.JobStateScheduled,
			},
		},
	}
}

// notifyNever is longer than any process lives. River notifies of an insert once in a fetch's cooldown,
// and of a process's first in any case. Nobody listens, and NOTIFY takes a lock that all committers
// share.
const notifyNever = 100 * 365 * 24 * time.Hour

// insertOnlyRiver is a client that never elects, fetches or listens.
func insertOnlyRiver(db *pgxpool.Pool, logger *zap.Logger) (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(db), &river.Config{
		Logger:            RiverLogger(logger),
		Hooks:             []rivertype.Hook{&databaseClock{}},
		FetchCooldown:     notifyNever,
		FetchPollInterval: notifyNever, // never shorter than the cooldown
	})
}

// databaseClock has the database date the jobs that are inserted. River would take the inserter's clock, and a
// worker leaves alone what is dated later than the database's: an API whose clock is ahead by a minute
// would have every label bought a minute late.
type databaseClock struct{ river.HookDefaults }

// InsertBegin implements [rivertype.HookInsertBegin]. River's statement reads the zero time as now().
func (*databaseClock) InsertBegin(_ context.Context, params *rivertype.JobInsertParams) error {
	if params.State == rivertype.JobStateAvailable {
		params.ScheduledAt = new(time.Time)
	}
	return nil
}

// RiverLogger lets River, which logs through slog, write into the service's log.
func RiverLogger(logger *zap.Logger) *slog.Logger {
	return slog.New(zapslog.NewHandler(logger.Core(), zapslog.WithName("river")))
}

// ring inserts a job for each intent in the caller's transaction: intent and job commit together.
func (o *Outbox) ring(ctx context.Context, tx pgx.Tx, jobs []BuyLabel) error {
	return insertJobs(ctx, tx, o.river, jobs)
}

func insertJobs[T river.JobArgs](ctx context.Context, tx pgx.Tx, client *river.Client[pgx.Tx], jobs []T) error {
	if len(jobs) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, job := range jobs {
		params[i] = river.InsertManyParams{Args: job}
	}
	if _, err := client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("inserting %d jobs: %w", len(jobs), err)
	}
	return nil
}
