package outbox

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// ErrVersionConflict means that a label cannot be ordered yet in the version that is asked for: the one
// before it was not ordered by the caller, or what became of it is not known.
var ErrVersionConflict = errors.New("the label version before has no end yet")

// MayOrder tells whether the caller may order a parcel's label in this version. The first one is always
// free; a later one is a reprint, and two versions under way, or in doubt, could both be bought for one box.
// An end is never taken back, so what may be ordered now may be ordered later. The errors are
// ErrVersionConflict and ErrUnavailable.
func (o *Outbox) MayOrder(ctx context.Context, callerID string, p Parcel) error {
	if p.LabelVersion <= 1 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	var ended bool
	err := o.db.QueryRow(ctx, `
		SELECT finished_at IS NOT NULL FROM label_intents
		WHERE order_id = $1 AND parcel_no = $2 AND label_version = $3 AND caller_id = $4`,
		p.OrderID, p.ParcelNo, p.LabelVersion-1, callerID).Scan(&ended)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && !ended:
		return ErrVersionConflict
	default:
		return readError("label version", err)
	}
}
