// Package outbox is the life of a label intent: accept, claim, call, settle, replay, sweep.
//
// Each business event is a method that opens and commits exactly one transaction, batched with its
// like through internal/groupcommit. The package promises that an accepted intent is bought once and
// that its answer stays true; it never holds a transaction across a call to a carrier, and it knows
// no carrier by name.
//
// Two rules carry the safety, and every transaction in here keeps them:
//
//   - Whoever changes an intent holds the row lock of its idempotency key. The key's lease token
//     says who may conclude an attempt.
//   - A purchase call is counted as open, and committed, before it is sent, and is closed only by an
//     outcome that is known. Open calls are what "in doubt" means.
package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"go.uber.org/zap"

	"waybill/internal/groupcommit"
)

// Errors that a caller may act on. Everything else is internal.
var (
	// ErrOverloaded: more comes than is committed. Nothing was stored; the same request may come again.
	ErrOverloaded = errors.New("outbox is overloaded")

	// ErrUnavailable: the database is away, or the outcome of a commit could not be learned in
	// time. Repeating with the same key tells the truth.
	ErrUnavailable = errors.New("outbox is unavailable")

	// ErrNotFound: no such row, or another caller's.
	ErrNotFound = errors.New("not found")

	// ErrNoDocument: the label is there and has no document, because it was settled by hand, or its
	// carrier showed it without. It is an ErrNotFound.
	ErrNoDocument = fmt.Errorf("%w: the label has no document", ErrNotFound)
)

// Config of an Outbox. Zero values take the defaults; Now, Logger and Metrics are required.
type Config struct {
	// KeyTTL is how long a completed idempotency key is kept; default 24 h.
	KeyTTL time.Duration

	// Lease is how long one attempt may act on an intent unless Leases says otherwise;
	// default 30 s.
	Lease time.Duration

	// Leases holds the lease of carriers that need another one, by carrier name.
	Leases map[string]time.Duration

	// Patience bounds how long an event is tried again while the database is away or a commit's
	// outcome is unknown; default 2 s.
	Patience time.Duration

	// Listen is false where the connection cannot hold a session (a transaction pooler): results
	// are then found by polling alone.
	Listen bool

	// Poll is how often waiting requests are looked up without a notification; default 1 s.
	Poll time.Duration

	// MaxBatch, Queue and Flushers size the group commits; see groupcommit.Config.
	MaxBatch, Queue, Flushers int

	// AcceptWait is how long a submission may probably take to be committed; more than that many are
	// refused with ErrOverloaded. Default 100 ms.
	AcceptWait time.Duration

	Policy  Policy
	Logger  *zap.Logger
	Metrics *Metrics
	Now     func() time.Time
}

func (c Config) withDefaults() Config {
	c.KeyTTL = cmp.Or(c.KeyTTL, 24*time.Hour)
	c.Lease = cmp.Or(c.Lease, 30*time.Second)
	c.Patience = cmp.Or(c.Patience, 2*time.Second)
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.MaxBatch = cmp.Or(c.MaxBatch, 256)
	c.Queue = cmp.Or(c.Queue, 8192)
	c.Flushers = cmp.Or(c.Flushers, 2)
	c.AcceptWait = cmp.Or(c.AcceptWait, 100*time.Millisecond)
	c.Policy = c.Policy.withDefaults()
	return c
}

// Outbox owns the intents of one database. Make it with New, end it with Close.
type Outbox struct {
	db    *pgxpool.Pool
	river *river.Client[pgx.Tx]
	cfg   Config

	admission  *admission
	accepting  *groupcommit.Batcher[acceptItem, Answer]
	claiming   *groupcommit.Batcher[claimItem, claimed]
	completing *groupcommit.Batcher[completeItem, completion]
	answering  *groupcommit.Batcher[uuid.UUID, Answer]
	hub        *hub
}

// New starts an Outbox on a migrated database. Transactions run on ctx, so it must outlive the
// signal to stop.
func New(ctx context.Context, db *pgxpool.Pool, cfg Config) (*Outbox, error) {
	cfg = cfg.withDefaults()
	if cfg.Now == nil || cfg.Logger == nil || cfg.Metrics == nil {
		return nil, errors.New("outbox: Config.Now, Logger and Metrics are required")
	}
	inserter, err := insertOnlyRiver(db, cfg.Logger)
	if err != nil {
		return nil, fmt.Errorf("making the job inserter: %w", err)
	}
	o := &Outbox{db: db, river: inserter, cfg: cfg}
	o.admission = newAdmission(cfg.AcceptWait, cfg.Flushers, cfg.Queue+cfg.Flushers*cfg.MaxBatch)
	o.accepting = groupcommit.New(ctx, o.batch("accept"), o.acceptAdmitted)
	o.claiming = groupcommit.New(ctx, o.batch("claim"), o.claimAll)
	completing := o.batch("complete")
	completing.MaxWeight = maxDocumentBytes
	o.completing = groupcommit.NewWeighed(ctx, completing, documentBytes, o.completeAll)
	o.answering = groupcommit.New(ctx, o.batch("answer"), o.answerAll)
	o.hub = newHub(ctx, o)
	cfg.Metrics.watchAdmission(o.admission)
	cfg.Metrics.watchQueues(map[string]func() int{
		"accept":   o.accepting.Depth,
		"claim":    o.claiming.Depth,
		"complete": o.completing.Depth,
		"answer":   o.answering.Depth,
	})
	return o, nil
}

// Close carries out everything that was taken and stops. Callers still waiting get their answer.
func (o *Outbox) Close(ctx context.Context) error {
	o.hub.close()
	return errors.Join(
		o.accepting.Close(ctx),
		o.claiming.Close(ctx),
		o.completing.Close(ctx),
		o.answering.Close(ctx),
	)
}

func (o *Outbox) batch(step string) groupcommit.Config {
	return groupcommit.Config{
		MaxBatch: o.cfg.MaxBatch,
		Queue:    o.cfg.Queue,
		Flushers: o.cfg.Flushers,
		Splits:   isPermanent,
		Observe:  func(n int) { o.cfg.Metrics.batchSize.WithLabelValues(step).Observe(float64(n)) },
	}
}
