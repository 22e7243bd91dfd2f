package outbox

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
)

// evidence is one row of carrier_calls: what a call said, or why an intent stands where it stands.
type evidence struct {
	kind    string // buy, find, void, settle
	outcome string
	reason  Reason
	code    string
	message string
	label   *carrier.Label
	actor   string
}

// evidenceRows are rows for carrier_calls.
type evidenceRows struct {
	ids                                       []uuid.UUID
	tokens                                    []*uuid.UUID
	kinds, outcomes, reasons, codes, messages []string
	labelIDs, trackingNos, currencies, actors []*string
	costs                                     []*int64
}

func (r *evidenceRows) add(l lease, ev evidence) {
	r.ids = append(r.ids, l.intentID)
	r.tokens = append(r.tokens, nonZero(l.token))
	r.kinds = append(r.kinds, ev.kind)
	r.outcomes = append(r.outcomes, ev.outcome)
	r.reasons = append(r.reasons, string(ev.reason))
	r.codes = append(r.codes, carrier.Sanitise(ev.code))
	r.messages = append(r.messages, carrier.Sanitise(ev.message))
	r.actors = append(r.actors, nonZero(carrier.Sanitise(ev.actor)))
	var label carrier.Label
	if ev.label != nil {
		label = *ev.label
	}
	r.labelIDs = append(r.labelIDs, nonZero(carrier.Sanitise(label.ID)))
	r.trackingNos = append(r.trackingNos, nonZero(carrier.Sanitise(label.TrackingNo)))
	r.currencies = append(r.currencies, nonZero(carrier.Sanitise(label.Cost.Currency)))
	if label.Cost.Currency == "" {
		r.costs = append(r.costs, nil) // of a label whose price could not be read
	} else {
		r.costs = append(r.costs, &label.Cost.Cents)
	}
}

// nonZero is NULL for the zero value.
func nonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (r *evidenceRows) queue(batch *pgx.Batch) {
	if len(r.ids) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO carrier_calls (
			intent_id, lease_token, kind, outcome, reason, carrier_code, carrier_message,
			carrier_label_id, tracking_no, cost_cents, currency, actor
		)
		SELECT * FROM unnest(
			$1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
			$8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[]
		)`,
		r.ids, r.tokens, r.kinds, r.outcomes, r.reasons, r.codes, r.messages,
		r.labelIDs, r.trackingNos, r.costs, r.currencies, r.actors,
	).Exec(exactly("recording evidence", len(r.ids)))
}
