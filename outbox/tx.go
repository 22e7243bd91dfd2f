package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"waybill/internal/durable"
	"waybill/internal/fault"
)

// begin opens a transaction that can only plan index look-ups and cannot hang. A batch joins a few
// hundred rows with tables of millions; on tables without statistics the planner would rather scan
// them whole, and a wrong plan costs every caller of the batch a hundred times its due. A scan that
// cannot be avoided counts as so dear by that, even of an empty table, that Postgres would compile the
// query: for seconds, to run it for microseconds. So it must not.
const begin = `BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL jit = off;
SET LOCAL statement_timeout = '5s';
SET LOCAL idle_in_transaction_session_timeout = '5s'`

const (
	// tryTimeout bounds one try of one transaction up to its COMMIT: a half-open connection must not
	// stall a flusher.
	tryTimeout = 6 * time.Second

	// commitTimeout bounds the COMMIT, which may wait for a synchronous standby. Whoever gives a
	// commit up makes Postgres go on without the standby, and every try leaves that much more which
	// a failover would lose: so not before it must be supposed that nobody will ever answer.
	commitTimeout = 30 * time.Second
)

// errUnproved is a commit that happened, but perhaps not on every server that it was to wait for.
var errUnproved = errors.New("committed without the standby")

// inTx runs fn in one transaction, again and again while the database is away, the transaction was
// chosen as a deadlock's victim, or the outcome of its COMMIT is unknown. fn must therefore be
// idempotent: run again after a commit that succeeded, it finds its own rows and reports the same.
// That is how an unknown COMMIT is re-read before anyone decides: the locks that fn takes wait for a
// commit still under way, and the commit of the run that read them proves that they are wherever a
// commit must be (package durable). When patience runs out the error wraps ErrUnavailable. event names
// what the transaction is for, to break it there.
func (o *Outbox) inTx(ctx context.Context, event string, fn func(context.Context, pgx.Tx) error) error {
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(20*time.Millisecond),
		backoff.WithMaxInterval(500*time.Millisecond),
		backoff.WithMaxElapsedTime(o.cfg.Patience),
	)
	err := backoff.Retry(func() error {
		err := o.tryTx(ctx, event, fn)
		if err != nil && !isTransient(err) {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(pause, ctx))
	if err != nil && isTransient(err) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

func (o *Outbox) tryTx(ctx context.Context, event string, fn func(context.Context, pgx.Tx) error) error {
	trying, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	if err := fault.Point(ctx, event, "before_begin"); err != nil {
		return err
	}
	tx, err := o.db.BeginTx(trying, pgx.TxOptions{BeginQuery: begin, CommitQuery: durable.Commit})
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	defer rollback(ctx, tx)
	if err := fn(trying, tx); err != nil {
		return err
	}
	if err := fault.Point(ctx, event, "before_commit"); err != nil {
		return err
	}
	if err := commit(ctx, tx); err != nil {
		return err
	}
	return fault.Point(ctx, event, "after_commit")
}

// commit succeeds only if all that the transaction wrote and read is where a commit must be.
func commit(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	warnings := durable.Watch(tx.Conn()) // taken first: the commit gives the connection back
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	if warnings.Came() {
		return fmt.Errorf("committing: %w", errUnproved)
	}
	return nil
}

// rollback ends a transaction that did not commit, also when its context has ended; after a commit
// it does nothing.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// A rollback that cannot be sent is not news: the connection is closed and the server rolls back.
	_ = tx.Rollback(ctx)
}

// isPermanent tells an error that comes again with the same items: a batch that has one is split, so
// that only the item at fault keeps it.
func isPermanent(err error) bool { return !errors.Is(err, ErrUnavailable) }

// errBroken marks what must not happen; running again would not cure it.
var errBroken = errors.New("broken invariant")

// exactly makes a row count other than the expected one an error, so that the transaction rolls back:
// a state change that moves no row, or too many, is a broken invariant and not a success.
func exactly(what string, n int) func(pgconn.CommandTag) error {
	return func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != int64(n) {
			return fmt.Errorf("%w: %s: %d rows moved, expected %d", errBroken, what, tag.RowsAffected(), n)
		}
		return nil
	}
}

// unfinished is the guard of every change to an intent i that is found by its id. It says the same as
// state IN ('pending', 'in_doubt'), by a constraint, but not in the words of the index over those
// states: a planner that trusts a young table's statistics reads that index, and with it the whole
// backlog, once for each batch.
const unfinished = `i.finished_at IS NULL`
