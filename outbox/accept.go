package outbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/internal/fault"
	"waybill/internal/groupcommit"
)

// acceptItem is a submission with the identity its intent will have. The identity is made before
// the transaction, so that running it again after an unknown commit recognises its own rows.
type acceptItem struct {
	Submission
	intentID uuid.UUID
	request  []byte
}

// slot is where an idempotency key lives.
type slot struct{ caller, key string }

func (s Submission) slot() slot { return slot{s.CallerID, s.Key} }

// Accept makes an intent of a submission: key, intent and job commit together, or nothing does. A
// key or a parcel that is already taken gets the answer it stands for, and nothing is stored.
// Repeating is always safe. When ctx ends first its error is returned, and the submission may or may
// not have been accepted: repeating it tells.
//
// Errors: ErrOverloaded (nothing stored), ErrUnavailable (repeat to learn), others are internal.
func (o *Outbox) Accept(ctx context.Context, s Submission) (Answer, error) {
	if !o.admission.enter(s.CallerID) {
		return Answer{}, ErrOverloaded
	}
	taken := false
	defer func() {
		if !taken {
			o.admission.leave(s.CallerID)
		}
	}()
	id, err := uuid.NewV7()
	if err != nil {
		return Answer{}, fmt.Errorf("making an intent id: %w", err)
	}
	request, err := json.Marshal(s.Shipment, json.Deterministic(true))
	if err != nil {
		return Answer{}, fmt.Errorf("encoding the shipment of %s: %w", id, err)
	}
	if err := fault.Point(ctx, "accept", "before_queue"); err != nil {
		return Answer{}, err
	}
	// A commit may wait for its standby for longer than a caller should.
	waiting, cancel := context.WithTimeout(ctx, o.cfg.Patience+tryTimeout)
	defer cancel()
	answer, err := o.accepting.TryDo(waiting, acceptItem{Submission: s, intentID: id, request: request})
	// What was taken has its place until it is carried out, also if nobody waits for it any more.
	taken = !errors.Is(err, groupcommit.ErrFull) && !errors.Is(err, groupcommit.ErrClosed)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return Answer{}, ErrUnavailable
	case errors.Is(err, groupcommit.ErrFull):
		return Answer{}, ErrOverloaded
	case errors.Is(err, groupcommit.ErrClosed):
		return Answer{}, ErrUnavailable
	case err != nil:
		return Answer{}, fmt.Errorf("accepting label intent %s: %w", id, err)
	}
	o.count(answer)
	return answer, fault.Point(ctx, "accept", "before_answer")
}

func (o *Outbox) acceptAll(ctx context.Context, items []acceptItem) ([]Answer, error) {
	var answers []Answer
	err := o.inTx(ctx, "accept", func(ctx context.Context, tx pgx.Tx) (err error) {
		answers, err = o.accept(ctx, tx, items)
		return err
	})
	return answers, err
}

// accept takes the keys, then the parcels, each in one order for all batches: a batch holds every
// key it will ever hold before it waits for a parcel, so two batches cannot wait for each other.
func (o *Outbox) accept(ctx context.Context, tx pgx.Tx, items []acceptItem) ([]Answer, error) {
	first := firstOfEachKey(items)
	taken, err := takeKeys(ctx, tx, first)
	if err != nil {
		return nil, err
	}
	if err := fault.Point(ctx, "accept", "keys_taken"); err != nil {
		return nil, err
	}
	accepted, err := insertIntents(ctx, tx, taken)
	if err != nil {
		return nil, err
	}
	if err := fault.Point(ctx, "accept", "intents_inserted"); err != nil {
		return nil, err
	}
	if err := returnKeys(ctx, tx, taken, accepted); err != nil {
		return nil, err
	}
	jobs := make([]BuyLabel, 0, len(accepted))
	for _, it := range taken {
		if accepted[it.intentID] {
			jobs = append(jobs, BuyLabel{IntentID: it.intentID, Carrier: it.Carrier})
		}
	}
	if err := o.ring(ctx, tx, jobs); err != nil {
		return nil, err
	}
	if err := fault.Point(ctx, "accept", "jobs_rung"); err != nil {
		return nil, err
	}
	return o.resolveRest(ctx, tx, items, accepted)
}

// firstOfEachKey leaves one item a key, in the order of the keys. The others are repeats.
func firstOfEachKey(items []acceptItem) []acceptItem {
	first := slices.Clone(items)
	slices.SortStableFunc(first, func(a, b acceptItem) int {
		return cmp.Or(cmp.Compare(a.CallerID, b.CallerID), cmp.Compare(a.Key, b.Key))
	})
	return slices.CompactFunc(first, func(a, b acceptItem) bool { return a.slot() == b.slot() })
}

// takeKeys inserts the keys that are free and returns their items.
func takeKeys(ctx context.Context, tx pgx.Tx, items []acceptItem) ([]acceptItem, error) {
	callers, keys, hashes := make([]string, len(items)), make([]string, len(items)), make([][]byte, len(items))
	for i, it := range items {
		callers[i], keys[i], hashes[i] = it.CallerID, it.Key, it.Fingerprint[:]
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO idempotency_keys (caller_id, idem_key, request_hash)
		SELECT caller_id, idem_key, request_hash
		FROM unnest($1::text[], $2::text[], $3::bytea[]) AS t (caller_id, idem_key, request_hash)
		-- One order for all batches: two that hold each other's next key would deadlock.
		ORDER BY caller_id COLLATE "C", idem_key COLLATE "C"
		ON CONFLICT DO NOTHING
		RETURNING caller_id, idem_key`, callers, keys, hashes)
	if err != nil {
		return nil, fmt.Errorf("taking %d keys: %w", len(items), err)
	}
	free := make(map[slot]bool, len(items))
	var s slot
	if _, err := pgx.ForEachRow(rows, []any{&s.caller, &s.key}, func() error {
		free[s] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("taking %d keys: %w", len(items), err)
	}
	return slices.DeleteFunc(items, func(it acceptItem) bool { return !free[it.slot()] }), nil
}

// insertIntents inserts the intents whose parcel is free and returns their ids.
func insertIntents(ctx context.Context, tx pgx.Tx, items []acceptItem) (map[uuid.UUID]bool, error) {
	accepted := make(map[uuid.UUID]bool, len(items))
	if len(items) == 0 {
		return accepted, nil
	}
	var a intentArrays
	for _, it := range items {
		a.add(it)
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO label_intents (
			intent_id, caller_id, idem_key, request_hash, request_id,
			order_id, parcel_no, label_version, carrier, reference, request
		)
		SELECT
			intent_id, caller_id, idem_key, request_hash, request_id,
			order_id, parcel_no, label_version, carrier, reference, request
		FROM unnest(
			$1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[],
			$6::bigint[], $7::integer[], $8::integer[], $9::text[], $10::text[], $11::json[]
		) AS t (
			intent_id, caller_id, idem_key, request_hash, request_id,
			order_id, parcel_no, label_version, carrier, reference, request
		)
		ORDER BY order_id, parcel_no, label_version
		-- The parcel is taken by another key, or the key had an intent before it was purged.
		ON CONFLICT DO NOTHING
		RETURNING intent_id`,
		a.ids, a.callers, a.keys, a.hashes, a.requestIDs,
		a.orders, a.parcels, a.versions, a.carriers, a.references, a.requests)
	if err != nil {
		return nil, fmt.Errorf("inserting %d intents: %w", len(items), err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("inserting %d intents: %w", len(items), err)
	}
	for _, id := range ids {
		accepted[id] = true
	}
	return accepted, nil
}

type intentArrays struct {
	ids                                             []uuid.UUID
	callers, keys, requestIDs, carriers, references []string
	hashes                                          [][]byte
	orders                                          []int64
	parcels, versions                               []int32
	requests                                        []string
}

func (a *intentArrays) add(it acceptItem) {
	a.ids = append(a.ids, it.intentID)
	a.callers = append(a.callers, it.CallerID)
	a.keys = append(a.keys, it.Key)
	a.hashes = append(a.hashes, it.Fingerprint[:])
	a.requestIDs = append(a.requestIDs, it.RequestID)
	a.orders = append(a.orders, it.Parcel.OrderID)
	a.parcels = append(a.parcels, it.Parcel.ParcelNo)
	a.versions = append(a.versions, it.Parcel.LabelVersion)
	a.carriers = append(a.carriers, it.Carrier)
	a.references = append(a.references, reference(it.Parcel))
	a.requests = append(a.requests, string(it.request))
}

// returnKeys deletes the keys that were taken for intents that could not be: a refusal has no effect.
func returnKeys(ctx context.Context, tx pgx.Tx, taken []acceptItem, accepted map[uuid.UUID]bool) error {
	var callers, keys []string
	for _, it := range taken {
		if !accepted[it.intentID] {
			callers, keys = append(callers, it.CallerID), append(keys, it.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	tag, err := tx.Exec(ctx, `
		DELETE FROM idempotency_keys AS k
		USING unnest($1::text[], $2::text[]) AS t (caller_id, idem_key)
		WHERE k.caller_id = t.caller_id AND k.idem_key = t.idem_key`, callers, keys)
	if err != nil {
		return fmt.Errorf("returning %d keys: %w", len(keys), err)
	}
	if n := tag.RowsAffected(); n != int64(len(keys)) {
		return fmt.Errorf("%w: returning keys: %d of %d rows moved", errBroken, n, len(keys))
	}
	return nil
}

// resolveRest answers a batch: what was accepted, and what the other keys and parcels stand for.
func (o *Outbox) resolveRest(
	ctx context.Context, tx pgx.Tx, items []acceptItem, accepted map[uuid.UUID]bool,
) ([]Answer, error) {
	var rest []question
	for _, it := range items {
		if !accepted[it.intentID] {
			rest = append(rest, question{slot: it.slot(), parcel: it.Parcel})
		}
	}
	standing, err := ask(ctx, tx, rest)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(items))
	var free []int
	for i, it := range items {
		if accepted[it.intentID] {
			answers[i] = Answer{Kind: Accepted, IntentID: it.intentID}
			continue
		}
		s := standing[0]
		standing = standing[1:]
		switch {
		case s == nil:
			free = append(free, i)
		case s.intentID == it.intentID:
			answers[i] = Answer{Kind: Accepted, IntentID: it.intentID} // an earlier try had committed
		default:
			if answers[i], err = s.answer(it.Submission); err != nil {
				return nil, err
			}
		}
	}
	return answers, o.acceptFree(ctx, tx, items, free, answers)
}

// acceptFree has another go at the items whose key and parcel turned out to be free: the first of
// their key in the batch was refused its parcel. Each round decides the first of every key at least.
func (o *Outbox) acceptFree(
	ctx context.Context, tx pgx.Tx, items []acceptItem, free []int, answers []Answer,
) error {
	if len(free) == 0 {
		return nil
	}
	again := make([]acceptItem, len(free))
	for n, i := range free {
		again[n] = items[i]
	}
	if len(again) == len(items) {
		return fmt.Errorf("%w: label intent %s: neither its key nor its parcel is taken", errBroken, again[0].intentID)
	}
	decided, err := o.accept(ctx, tx, again)
	if err != nil {
		return err
	}
	for n, i := range free {
		answers[i] = decided[n]
	}
	return nil
}

func equalHash(stored []byte, fingerprint [32]byte) bool { return bytes.Equal(stored, fingerprint[:]) }
