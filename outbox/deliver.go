package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"go.uber.org/zap"

	"waybill/carrier"
	"waybill/internal/fault"
	"waybill/internal/groupcommit"
)

// deliverBoughtFor is how long a label that was bought is offered to a database that is away, or to
// an intent that another attempt holds, before only the carrier knows of it.
const deliverBoughtFor = 10 * time.Minute

// deliver stores the conclusion. A label that was bought is offered for as long as it takes: while
// the database is away, and while another attempt holds the intent.
func (a *attempt) deliver(ctx context.Context, concl conclusion) error {
	labelID, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("making a label id: %w", err)
	}
	item := completeItem{
		lease:      a.lease,
		order:      a.order,
		conclusion: concl,
		account:    a.account.Carrier.Account(),
		began:      a.before.now,
		boughtAt:   a.before.now.Add(a.outbox.cfg.Now().Sub(a.told)), // never later than by the database's clock
		labelID:    labelID,
	}
	patience := a.deadline.Sub(a.outbox.cfg.Now())
	if concl.state == Purchased {
		patience = max(patience, deliverBoughtFor)
	}
	result, err := a.offer(ctx, item, patience)
	if err != nil && isDataError(err) && concl.state == Purchased {
		// The label cannot be stored as it is (its id belongs to another intent, say). It was
		// bought all the same, and a person must know.
		item.conclusion = unstorable(concl, err)
		result, err = a.offer(ctx, item, patience)
	}
	if err != nil {
		return fmt.Errorf("completing label intent %s: %w", a.lease.intentID, err)
	}
	if err := fault.Point(ctx, "complete", "before_follow_up"); err != nil {
		return err
	}
	return a.followUp(item.conclusion, result)
}

// errHeld makes offer try again while another attempt holds an intent whose label we have.
var errHeld = errors.New("the intent is held by another attempt")

func (a *attempt) offer(ctx context.Context, item completeItem, patience time.Duration) (completion, error) {
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(5*time.Second),
		backoff.WithMaxElapsedTime(max(patience, time.Millisecond)),
	)
	var result completion
	err := backoff.Retry(func() (err error) {
		result, err = a.outbox.completing.Do(ctx, item)
		switch {
		case err == nil:
		case errors.Is(err, groupcommit.ErrClosed), isDataError(err):
			return backoff.Permanent(err)
		case item.conclusion.state == Purchased, errors.Is(err, ErrUnavailable):
			return err // what was bought is not let go, whatever ails the database
		default:
			return backoff.Permanent(err)
		}
		switch {
		case result == lostLease && item.conclusion.state == Purchased:
			return errHeld
		default:
			return nil
		}
	}, backoff.WithContext(pause, ctx))
	if errors.Is(err, errHeld) {
		err = nil
	}
	return result, err
}

// followUp tells River how the job goes on.
func (a *attempt) followUp(concl conclusion, result completion) error {
	if result != stored {
		a.outbox.cfg.Metrics.lostLeases.Inc()
		a.logger.Warn("lease was lost; only evidence was written",
			zap.String("state", string(concl.state)), zap.String("result", string(result)))
		return nil
	}
	if concl.state == Purchased {
		a.outbox.cfg.Metrics.intentToLabel.Observe(a.before.now.
			Add(a.outbox.cfg.Now().Sub(a.began)).Sub(a.order.createdAt).Seconds())
	}
	switch concl.follow {
	case stop:
		return nil
	case later:
		return river.JobSnooze(concl.delay)
	case retry:
		return fmt.Errorf("label intent %s: %s", a.lease.intentID, concl.reason)
	default:
		return fmt.Errorf("label intent %s: unknown follow-up %q", a.lease.intentID, concl.follow)
	}
}

// unstorable is the conclusion when a label was bought that our tables refuse.
func unstorable(concl conclusion, err error) conclusion {
	var pg *pgconn.PgError
	code := "refused"
	if errors.As(err, &pg) {
		code = cmp.Or(pg.ConstraintName, pg.Code)
	}
	return conclusion{
		state: InDoubt, settledBy: SettledByPerson, reason: boughtOtherwise, follow: stop,
		evidence: []evidence{{
			kind: "buy", outcome: string(carrier.Bought), reason: boughtOtherwise, code: code, label: concl.label,
		}},
	}
}
