//go:build faultinject

package crash

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/outbox"
)

// settleWithin is L8: how long after the last fault everything has settled.
const settleWithin = 60 * time.Second

// end is how the tables say that the story ended.
type end struct {
	ID        uuid.UUID
	State     string
	Reference string
	Leased    bool
	Labels    int
	Label     string // the carrier's id
	Cents     int64
	Final     bool // finished_at is set
}

// requireLaws holds the story's end, and all that its client heard on the way, against the laws of
// docs/lifecycle.md, and our books against the carrier's.
func (s *story) requireLaws() {
	r := s.require()
	r.Equal(1, s.count(`SELECT count(*) FROM label_intents WHERE caller_id LIKE $1 || '%'`, s.caller),
		"L1, L6: one intent was ordered, and one there is")
	r.Zero(s.count(`SELECT count(*) FROM idempotency_keys WHERE caller_id LIKE $1 || '%'`, s.caller),
		"L6: a refusal kept a key")
	e := s.end()
	r.Contains([]string{"purchased", "rejected", "failed"}, e.State, "L1")
	r.True(e.Final, "L1")
	s.requireLedger(e)
	s.requireAnswers(e)
	r.Zero(s.count(`SELECT count(*) FROM river_job WHERE state NOT IN ('completed', 'cancelled', 'discarded')`),
		"L1: a job is left over")
}

func (s *story) end() end {
	rows, err := s.db.Query(ctx, `
		SELECT
			i.intent_id, i.state, i.reference, k.lease_token IS NOT NULL,
			(SELECT count(*) FROM labels AS l WHERE l.intent_id = i.intent_id),
			coalesce((SELECT max(l.carrier_label_id) FROM labels AS l WHERE l.intent_id = i.intent_id), ''),
			coalesce((SELECT sum(l.cost_cents) FROM labels AS l WHERE l.intent_id = i.intent_id), 0)::bigint,
			i.finished_at IS NOT NULL
		FROM label_intents AS i
		LEFT JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		WHERE i.caller_id = $1`, s.caller)
	s.require().NoError(err)
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[end])
	s.require().NoError(err)
	return e
}

func (s *story) requireLedger(e end) {
	r := s.require()
	sold, calls := s.witness.ledger()
	var charged int64
	for reference, labels := range sold {
		r.Equal(e.Reference, reference, "L3: a charge that we do not know of")
		r.Len(labels, 1, "L2: charged twice")
		r.Equal(labels[0].ID, e.Label, "L3: a charge without its label")
		charged += labels[0].Cost.Cents
	}
	r.Equal(charged, e.Cents, "L9: the sum in our labels is the sum in the ledger")
	r.Equal(e.State == "purchased", e.Labels == 1, "L1: purchased, and only that, is a label")
	r.False(e.Leased, "L1: a lease is left over")
	r.Equal(e.Labels, s.count(`
		SELECT count(*) FROM labels AS l JOIN label_documents AS d USING (label_id)
		WHERE l.intent_id = $1 AND l.document_state = 'stored'`, e.ID), "L1: a label cannot be printed")
	r.Equal(e.Labels, s.count(`
		SELECT count(*) FROM labels
		WHERE intent_id = $1 AND held AND note = $2 AND void_state = 'voided' AND revision = $3`,
		e.ID, theNote, outbox.FirstRevision+3),
		"L5: a change of the label, or its void, was lost or made twice")
	r.Equal(e.Labels, s.witness.voided(), "L5: the carrier and we disagree on what is void")
	if s.class == string(carrier.Blind) {
		r.LessOrEqual(calls, max(1+s.deferred, s.tryAgain+1), "L2: a blind carrier was called again after an unknown")
	}
}

// requireAnswers: what was said once, stays true.
func (s *story) requireAnswers(e end) {
	r := s.require()
	s.mu.Lock()
	defer s.mu.Unlock()
	var final *outbox.Answer
	for _, h := range s.heard {
		a := h.answer
		if h.to == otherCaller {
			r.Equal(outbox.ParcelLabelled, a.Kind, "L7")
			r.Equal(uuid.Nil, a.IntentID, "L7: another caller is told of the intent")
			continue
		}
		r.Equal(e.ID, a.IntentID, "L5: %s was answered with another intent", h.to)
		switch a.Kind {
		case outbox.Accepted, outbox.InProgress, outbox.Doubtful:
			r.Equal(theOrder, h.to, "L6")
		case outbox.KeyReused:
			r.Equal(otherBody, h.to, "L6: %s is refused", h.to)
		case outbox.Final:
			r.NotEqual(otherBody, h.to, "L6: another body got the answer")
			if final == nil {
				final = &a
			}
			r.Equal(final.Status, a.Status, "L4")
			r.Equal(string(final.Body), string(a.Body), "L4: two answers to one key")
			r.Equal(e.State == "purchased", a.Status == 201, "L5: %s", e.State)
		default:
			r.Fail("an answer that cannot be", "%s: %s", h.to, a.Kind)
		}
	}
	r.NotNil(final, "L4: the client never got the answer")
}
