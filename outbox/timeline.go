package outbox

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// maxEvents bounds a timeline; an intent that has more events shows its last ones.
const maxEvents = 200

// Event is something that became known of an intent: what a call or a look-up came to, or what somebody
// decided. It holds no words of the carrier's, nor of the one who decided.
type Event struct {
	At          time.Time
	Kind        string // buy, find, void, settle
	Outcome     string
	Reason      string
	CarrierCode string
}

// Timeline returns the events of one of the caller's intents, oldest first; none of another caller's. A
// purchase that was answered at once leaves none but the label.
func (o *Outbox) Timeline(ctx context.Context, callerID string, id uuid.UUID) ([]Event, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	rows, err := o.db.Query(ctx, `
		SELECT e.recorded_at, e.kind, e.outcome, e.reason, e.carrier_code
		FROM (
			SELECT c.call_id, c.recorded_at, c.kind, c.outcome, c.reason, c.carrier_code
			FROM label_intents AS i
			JOIN carrier_calls AS c ON c.intent_id = i.intent_id
			WHERE i.caller_id = $1 AND i.intent_id = $2
			ORDER BY c.call_id DESC
			LIMIT $3
		) AS e
		ORDER BY e.call_id`, callerID, id, maxEvents)
	if err != nil {
		return nil, readError("timeline", err)
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
	return events, readError("timeline", err)
}
