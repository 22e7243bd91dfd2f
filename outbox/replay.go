package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// AnswerKind says what a key, or a parcel, stands for.
type AnswerKind string

// The kinds of answer.
const (
	// Accepted: this submission became a new intent.
	Accepted AnswerKind = "accepted"

	// InProgress: same key, same body, not final yet.
	InProgress AnswerKind = "in_progress"

	// Doubtful: same key, same body, and the intent is in doubt.
	Doubtful AnswerKind = "in_doubt"

	// Final: the saved answer.
	Final AnswerKind = "final"

	// KeyReused: the key was used with another body.
	KeyReused AnswerKind = "key_reused"

	// ParcelLabelled: another key already names the parcel.
	ParcelLabelled AnswerKind = "parcel_labelled"

	// NoSuchKey is Lookup's answer for a key that names nothing.
	NoSuchKey AnswerKind = "no_such_key"
)

// Answer is what a submission is told.
type Answer struct {
	Kind AnswerKind

	// IntentID is uuid.Nil where it must not be told: the intent belongs to another caller.
	IntentID uuid.UUID

	// Status and Body are the saved answer, byte for byte; for Final only.
	Status int
	Body   []byte

	// LabelID names the label of a Final answer with status 201.
	LabelID uuid.UUID

	// Late is true for a Final answer whose key had been purged: it was made again from the
	// intent and the label.
	Late bool

	// OtherKey is true if the answer is that of an intent ordered under another key of the same
	// caller, with the same body.
	OtherKey bool

	// mismatch is true if a key led to another caller's intent, which must never happen.
	mismatch bool

	// left is true if the intent is in doubt and left to a person: waiting longer is no use.
	left bool
}

// question asks what a key stands for, and if it is unknown, what the parcel stands for.
type question struct {
	slot
	parcel Parcel
}

// standing is what the tables say of one question.
type standing struct {
	intentID    uuid.UUID
	owner       slot
	requestHash []byte
	state       State
	settledBy   Settler
	labelID     uuid.UUID
	byParcel    bool
	keyPresent  bool
	status      int
	body        []byte

	// What a purged key's answer is made of again.
	requestID      string
	carrierCode    string
	carrierMessage string
	label          *Label
}

// Lookup tells what a key stands for, without storing anything. A nil fingerprint is that of a body
// which cannot be what was accepted.
func (o *Outbox) Lookup(ctx context.Context, callerID, key string, fingerprint *[32]byte) (Answer, error) {
	var found []*standing
	err := o.inTx(ctx, "look_up_key", func(ctx context.Context, tx pgx.Tx) (err error) {
		found, err = ask(ctx, tx, []question{{slot: slot{callerID, key}}})
		return err
	})
	if err != nil {
		return Answer{}, fmt.Errorf("looking up a key: %w", err)
	}
	s := found[0]
	switch {
	case s == nil:
		return Answer{Kind: NoSuchKey}, nil
	case fingerprint == nil:
		return Answer{Kind: KeyReused, IntentID: s.intentID}, nil
	}
	answer, err := s.answer(Submission{CallerID: callerID, Key: key, Fingerprint: *fingerprint})
	if err == nil {
		o.count(answer)
	}
	return answer, err
}

// answer compares the body before anything else, on every path: no path returns another body's answer.
func (s *standing) answer(sub Submission) (Answer, error) {
	sameCaller := s.owner.caller == sub.CallerID
	sameBody := equalHash(s.requestHash, sub.Fingerprint)
	switch {
	case !sameCaller:
		// By its key nobody can reach another caller's intent: if it happens all the same, it is
		// counted, and told nothing.
		return Answer{Kind: ParcelLabelled, mismatch: !s.byParcel}, nil
	case !sameBody && s.byParcel:
		return Answer{Kind: ParcelLabelled, IntentID: s.intentID}, nil
	case !sameBody:
		return Answer{Kind: KeyReused, IntentID: s.intentID}, nil
	}
	return s.current()
}

// current is the answer of an intent to the one who ordered it.
func (s *standing) current() (Answer, error) {
	a := Answer{IntentID: s.intentID, OtherKey: s.byParcel}
	switch s.state {
	case Pending:
		a.Kind = InProgress
		return a, nil
	case InDoubt:
		a.Kind, a.left = Doubtful, s.settledBy == SettledByPerson
		return a, nil
	case Purchased, Rejected, Failed:
		a.Kind, a.LabelID = Final, s.labelID
	default:
		return Answer{}, fmt.Errorf("%w: label intent %s has unknown state %q", errBroken, s.intentID, s.state)
	}
	if s.keyPresent {
		a.Status, a.Body = s.status, s.body
		return a, nil
	}
	// The key was purged: the same answer, made again from what is kept for ever.
	a.Late = true
	a.Status, a.Body = savedAnswer(s.state, s.intentID, s.requestID, s.carrierCode, s.carrierMessage, s.label)
	return a, nil
}

// standingColumns are read for an intent i, its key k (which may be purged) and its label l.
const standingColumns = `
	i.intent_id, i.caller_id, i.idem_key, i.request_hash, i.state, coalesce(i.settled_by, ''), i.request_id,
	coalesce(i.label_id, '00000000-0000-0000-0000-000000000000'),
	coalesce(i.carrier_code, ''), coalesce(i.carrier_message, ''),
	k.caller_id IS NOT NULL, coalesce(k.response_status, 0), k.response_body,
	` + labelColumns

const standingJoins = `
	LEFT JOIN LATERAL (
		SELECT * FROM idempotency_keys AS k
		WHERE k.caller_id = i.caller_id AND k.idem_key = i.idem_key LIMIT 1
	) AS k ON true
	-- The label is needed only to make a purged answer again.
	LEFT JOIN LATERAL (
		SELECT * FROM labels AS l
		WHERE l.label_id = i.label_id AND k.caller_id IS NULL LIMIT 1
	) AS l ON true`

// ask reads what each question's key stands for, or else its parcel; nil where neither names anything.
// LATERAL with LIMIT 1 keeps every look-up an index look-up, whatever the planner believes.
func ask(ctx context.Context, tx pgx.Tx, questions []question) ([]*standing, error) {
	found := make([]*standing, len(questions))
	if len(questions) == 0 {
		return found, nil
	}
	n := len(questions)
	callers, keys := make([]string, n), make([]string, n)
	orders, parcels, versions := make([]int64, n), make([]int32, n), make([]int32, n)
	for i, q := range questions {
		callers[i], keys[i] = q.caller, q.key
		orders[i], parcels[i], versions[i] = q.parcel.OrderID, q.parcel.ParcelNo, q.parcel.LabelVersion
	}
	batch := &pgx.Batch{}
	batch.Queue(`
		SELECT t.n, `+standingColumns+`
		FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (caller_id, idem_key, n)
		CROSS JOIN LATERAL (
			SELECT * FROM label_intents AS i
			WHERE i.caller_id = t.caller_id AND i.idem_key = t.idem_key LIMIT 1
		) AS i`+standingJoins, callers, keys).Query(readStandings(found, false))
	batch.Queue(`
		SELECT t.n, `+standingColumns+`
		FROM unnest($1::bigint[], $2::integer[], $3::integer[])
			WITH ORDINALITY AS t (order_id, parcel_no, label_version, n)
		CROSS JOIN LATERAL (
			SELECT * FROM label_intents AS i
			WHERE i.order_id = t.order_id AND i.parcel_no = t.parcel_no
				AND i.label_version = t.label_version LIMIT 1
		) AS i`+standingJoins, orders, parcels, versions).Query(readStandings(found, true))
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("reading what %d keys stand for: %w", n, err)
	}
	return found, nil
}

// readStandings fills the places that are still empty: what a key says goes before its parcel.
func readStandings(found []*standing, byParcel bool) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			var (
				n int64
				s = &standing{byParcel: byParcel, label: &Label{}}
			)
			if err := rows.Scan(append([]any{
				&n, &s.intentID, &s.owner.caller, &s.owner.key, &s.requestHash, &s.state, &s.settledBy, &s.requestID,
				&s.labelID, &s.carrierCode, &s.carrierMessage, &s.keyPresent, &s.status, &s.body,
			}, s.label.targets()...)...); err != nil {
				return err
			}
			if found[n-1] == nil {
				found[n-1] = s
			}
		}
		return rows.Err()
	}
}

// answerAll tells what intents stand for, for the requests that wait for them.
func (o *Outbox) answerAll(ctx context.Context, ids []uuid.UUID) ([]Answer, error) {
	byID := make(map[uuid.UUID]Answer, len(ids))
	err := o.inTx(ctx, "read_answers", func(ctx context.Context, tx pgx.Tx) error {
		found := make([]*standing, len(ids))
		batch := &pgx.Batch{}
		batch.Queue(`
			SELECT t.n, `+standingColumns+`
			FROM unnest($1::uuid[]) WITH ORDINALITY AS t (intent_id, n)
			CROSS JOIN LATERAL (
				SELECT * FROM label_intents AS i WHERE i.intent_id = t.intent_id LIMIT 1
			) AS i`+standingJoins, ids).Query(readStandings(found, false))
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("reading the answers of %d intents: %w", len(ids), err)
		}
		for i, s := range found {
			if s == nil {
				continue
			}
			a, err := s.current()
			if err != nil {
				return err
			}
			byID[ids[i]] = a
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(ids))
	for i, id := range ids {
		answers[i] = byID[id]
	}
	return answers, nil
}

// count keeps the signs of the quiet failures of idempotency.
func (o *Outbox) count(a Answer) {
	m := o.cfg.Metrics
	if a.Kind == Final {
		m.replays.Inc()
	}
	if a.Late {
		m.lateRepeats.Inc()
	}
	if a.Kind == ParcelLabelled || a.OtherKey {
		m.parcelConflicts.Inc()
	}
	if a.mismatch {
		m.callerMismatches.Inc()
	}
}
