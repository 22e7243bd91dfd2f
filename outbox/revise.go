package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"waybill/internal/fault"
)

// ErrRevised means that the label is not, or no longer, what the writer had read.
var ErrRevised = errors.New("label is at another revision")

// Change is what a caller may change about a label after it was bought: absolute values, so that
// repeating a change ends in the same state. What is nil stays as it is.
type Change struct {
	Held            *bool
	Note            *string
	CustomReference *string

	// WeightG is in grams, above zero.
	WeightG *int64

	// Void asks the carrier to void the label, once: it is none of the caller's to take back, and what
	// the carrier has refused stays refused. Where the carrier has not said for days what became of it, it
	// is asked again.
	Void bool
}

// Condition names the revisions of a label of which a change may be made; none allows none.
type Condition []int64

// Revise changes one of the caller's labels, in one transaction under the label's row lock, and
// returns it as it then is; on no condition, if when is nil. A change raises the label's revision by
// one; one that finds the label as it would leave it changes nothing. So a repeat whose first answer was
// lost succeeds, although the revision it was made for is gone, as long as nobody has changed the same
// since.
//
// The errors are ErrNotFound, also for another caller's label; ErrRevised, with the label as it stands,
// and nothing changed; and ErrUnavailable, after which the change may or may not have been made.
func (o *Outbox) Revise(
	ctx context.Context, callerID string, id uuid.UUID, change Change, when Condition,
) (Label, error) {
	r := revising{river: o.river, callerID: callerID, id: id, change: change, when: when}
	// A client that hangs up must not cut a COMMIT off: it may be waiting for a standby.
	err := o.inTx(context.WithoutCancel(ctx), "revise", r.run)
	switch {
	case err != nil:
		return Label{}, fmt.Errorf("revising label %s: %w", id, err)
	case r.err != nil:
		return r.label, r.err
	default:
		return r.label, fault.Point(ctx, "revise", "before_answer")
	}
}

// revising is one change under way.
type revising struct {
	river    *river.Client[pgx.Tx]
	callerID string
	id       uuid.UUID
	change   Change
	when     Condition

	// written is true once a run of the transaction has written and come as far as its COMMIT, perhaps.
	written bool

	// label and err are what the last run found.
	label Label
	err   error
}

func (r *revising) run(ctx context.Context, tx pgx.Tx) error {
	r.err = nil
	l := Label{}
	err := tx.QueryRow(ctx, `
		SELECT `+currentColumns+` FROM labels AS l
		WHERE l.caller_id = $1 AND l.label_id = $2
		-- Of two writers that have read the same revision, the second sees what the first made of it.
		FOR NO KEY UPDATE`, r.callerID, r.id).Scan(l.currentTargets()...)
	r.label = l
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		r.err = ErrNotFound
		return nil
	case err != nil:
		return fmt.Errorf("locking the label: %w", err)
	}
	if err := fault.Point(ctx, "revise", "label_locked"); err != nil {
		return err
	}
	wanted := r.change.of(l)
	due := wanted != l
	switch {
	case !r.allows(l.Revision, due) && r.written:
		// It may have been ours that somebody has changed since.
		r.err = fmt.Errorf("%w: changed again before it was known what became of this change", ErrUnavailable)
		return nil
	case !r.allows(l.Revision, due):
		r.err = ErrRevised
		return nil
	case !due:
		return nil
	}
	wanted.Revision++
	tag, err := tx.Exec(ctx, `
		UPDATE labels
		SET held = $3, note = $4, custom_reference = $5, weight_g = $6, revision = $7,
			void_state = $8, void_code = $9, void_message = $10,
			void_requested_at = CASE WHEN $8 = void_state THEN void_requested_at ELSE now() END
		WHERE label_id = $1 AND revision = $2`,
		r.id, l.Revision, wanted.Held, wanted.Note, wanted.CustomReference, nonZero(wanted.WeightG), wanted.Revision,
		wanted.VoidState, wanted.VoidCode, wanted.VoidMessage)
	if err != nil {
		return fmt.Errorf("writing the label: %w", err)
	}
	if err := exactly("revising a label", 1)(tag); err != nil {
		return err
	}
	r.written, r.label = true, wanted
	if wanted.VoidState == l.VoidState {
		return nil
	}
	// The job and what it is for commit together.
	return insertJobs(ctx, tx, r.river, []VoidLabel{{LabelID: r.id, Carrier: l.Carrier}})
}

// allows tells whether the label may be changed, or left, at the revision it is at. One that is as it
// is wanted has had the change made since a revision before (RFC 9110, section 13.1.1); a revision that
// never was is no reason to say so.
func (r *revising) allows(revision int64, due bool) bool {
	if r.when == nil || slices.Contains(r.when, revision) {
		return true
	}
	return !due && slices.ContainsFunc(r.when, func(n int64) bool { return n > 0 && n < revision })
}

// of is the label with the change made.
func (c Change) of(l Label) Label {
	set(&l.Held, c.Held)
	set(&l.Note, c.Note)
	set(&l.CustomReference, c.CustomReference)
	set(&l.WeightG, c.WeightG)
	if c.Void && (l.VoidState == VoidNone || l.VoidState == VoidInDoubt) {
		l.VoidState, l.VoidCode, l.VoidMessage = VoidRequested, "", ""
	}
	return l
}

func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}
