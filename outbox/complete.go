package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/internal/fault"
)

// completeItem is an attempt's conclusion on its way into the tables.
type completeItem struct {
	lease      lease
	order      order
	conclusion conclusion

	// account is the carrier's account that was charged.
	account string

	// began is when the attempt was planned, by the database's clock; boughtAt the same clock when
	// the answer was there.
	began    time.Time
	boughtAt time.Time

	// labelID is made before the transaction, so that running it again recognises its own label.
	labelID uuid.UUID
}

// maxDocumentBytes ends a batch of completions: labels carry documents of up to some megabytes, and
// the whole batch must commit within the time-out of a transaction.
const maxDocumentBytes = 4 << 20

func documentBytes(it completeItem) int {
	if it.conclusion.label == nil {
		return 0
	}
	return len(it.conclusion.label.Document.Content)
}

// completion is how storing a conclusion ended.
type completion string

const (
	stored    completion = "stored"
	lostLease completion = "lost_lease" // another attempt holds the intent: only evidence was written
	tooLate   completion = "too_late"   // the intent is final: only evidence was written
)

// completeAll stores conclusions. Key, intent, label and document change together, and only under
// the lease that the attempt holds: whoever lost it writes nothing but the evidence. One exception is
// safe: a label that was bought may settle an intent that nobody holds, however late it comes.
func (o *Outbox) completeAll(ctx context.Context, items []completeItem) ([]completion, error) {
	var results []completion
	err := o.inTx(ctx, "complete", func(ctx context.Context, tx pgx.Tx) (err error) {
		results, err = o.complete(ctx, tx, items)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("completing %d attempts: %w", len(items), err)
	}
	return results, nil
}

func (o *Outbox) complete(ctx context.Context, tx pgx.Tx, items []completeItem) ([]completion, error) {
	held, err := o.fence(ctx, tx, items, `k.lease_token = t.token`)
	if err != nil {
		return nil, err
	}
	if err := fault.Point(ctx, "complete", "keys_moved"); err != nil {
		return nil, err
	}
	var w write
	var lost []int
	results := make([]completion, len(items))
	for i, it := range items {
		if !held[it.lease.token] {
			lost = append(lost, i)
			continue
		}
		results[i] = stored
		w.add(it)
	}
	if err := w.run(ctx, tx, o.river); err != nil {
		return nil, err
	}
	if err := fault.Point(ctx, "complete", "rows_written"); err != nil {
		return nil, err
	}
	return results, o.completeLost(ctx, tx, items, lost, results)
}

// fence moves the keys whose state still allows it: completed with the saved answer, or given back.
// It locks the keys in one order for all batches, before anything else is written.
func (o *Outbox) fence(
	ctx context.Context, tx pgx.Tx, items []completeItem, condition string,
) (map[uuid.UUID]bool, error) {
	n := len(items)
	if n == 0 {
		return nil, nil
	}
	callers, keys, tokens := make([]string, n), make([]string, n), make([]uuid.UUID, n)
	statuses, bodies := make([]*int16, n), make([][]byte, n)
	for i, it := range items {
		callers[i], keys[i], tokens[i] = it.lease.slot.caller, it.lease.slot.key, it.lease.token
		if status, body := it.answer(); status != 0 {
			s := int16(status) //nolint:gosec // G115: a status of HTTP.
			statuses[i], bodies[i] = &s, body
		}
	}
	rows, err := tx.Query(ctx, `
		UPDATE idempotency_keys AS k
		SET state = CASE WHEN t.status IS NULL THEN 'started' ELSE 'completed' END,
			response_status = t.status,
			response_body = t.body,
			expires_at = CASE
				WHEN t.status IS NOT NULL THEN clock_timestamp() + make_interval(secs => $6)
			END,
			locked_until = NULL,
			lease_token = NULL
		FROM (
			SELECT *
			FROM unnest($1::text[], $2::text[], $3::uuid[], $4::smallint[], $5::bytea[])
				AS t (caller_id, idem_key, token, status, body)
			ORDER BY caller_id COLLATE "C", idem_key COLLATE "C"
		) AS t
		WHERE k.caller_id = t.caller_id AND k.idem_key = t.idem_key
			AND k.state = 'started' AND `+condition+`
		RETURNING t.token`,
		callers, keys, tokens, statuses, bodies, o.cfg.KeyTTL.Seconds())
	if err != nil {
		return nil, fmt.Errorf("moving %d keys: %w", n, err)
	}
	held := make(map[uuid.UUID]bool, n)
	var token uuid.UUID
	if _, err := pgx.ForEachRow(rows, []any{&token}, func() error {
		held[token] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("moving %d keys: %w", n, err)
	}
	return held, nil
}

// completeLost deals with attempts whose lease is gone: stored by an earlier try of this very
// transaction; bought, and nobody holds the intent; or nothing but evidence.
func (o *Outbox) completeLost(
	ctx context.Context, tx pgx.Tx, items []completeItem, lost []int, results []completion,
) error {
	if len(lost) == 0 {
		return nil
	}
	found, err := readLost(ctx, tx, items, lost)
	if err != nil {
		return err
	}
	var late []completeItem
	for _, i := range lost {
		f := found[items[i].lease.token]
		results[i] = f.completion()
		if results[i] == lostLease && items[i].conclusion.state == Purchased {
			items[i].conclusion.learnedBy = learnedLate
			late = append(late, items[i])
		}
	}
	settled, err := o.fence(ctx, tx, late, `(k.lease_token IS NULL OR k.locked_until <= clock_timestamp())`)
	if err != nil {
		return err
	}
	var w write
	for _, i := range lost {
		switch {
		case results[i] == stored:
		case settled[items[i].lease.token]:
			results[i] = stored
			w.add(items[i])
		case !found[items[i].lease.token].noted:
			w.addLost(items[i], results[i])
		}
	}
	return w.run(ctx, tx, o.river)
}

// lostRow says what became of an attempt whose lease is gone.
type lostRow struct {
	done  bool // this very conclusion is stored
	final bool // the intent has another end
	noted bool // the evidence was written when it was offered before
}

func (f lostRow) completion() completion {
	switch {
	case f.done:
		return stored
	case f.final:
		return tooLate
	default:
		return lostLease
	}
}

func readLost(
	ctx context.Context, tx pgx.Tx, items []completeItem, lost []int,
) (map[uuid.UUID]lostRow, error) {
	var ids, tokens, labels []uuid.UUID
	for _, i := range lost {
		ids = append(ids, items[i].lease.intentID)
		tokens = append(tokens, items[i].lease.token)
		labels = append(labels, items[i].labelID)
	}
	rows, err := tx.Query(ctx, `
		SELECT
			t.token,
			EXISTS (SELECT 1 FROM labels AS l WHERE l.label_id = t.label_id)
				OR EXISTS (
					SELECT 1 FROM carrier_calls AS c
					WHERE c.intent_id = t.intent_id AND c.lease_token = t.token
						AND c.reason NOT IN ('lost_lease', 'too_late')
				),
			i.finished_at IS NOT NULL,
			EXISTS (
				SELECT 1 FROM carrier_calls AS c
				WHERE c.intent_id = t.intent_id AND c.lease_token = t.token
					AND c.reason IN ('lost_lease', 'too_late')
			)
		FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS t (intent_id, token, label_id)
		CROSS JOIN LATERAL (
			SELECT * FROM label_intents AS i WHERE i.intent_id = t.intent_id LIMIT 1
		) AS i`, ids, tokens, labels)
	if err != nil {
		return nil, fmt.Errorf("reading what became of %d leases: %w", len(lost), err)
	}
	found := make(map[uuid.UUID]lostRow, len(lost))
	var token uuid.UUID
	var f lostRow
	if _, err := pgx.ForEachRow(rows, []any{&token, &f.done, &f.final, &f.noted}, func() error {
		found[token] = f
		return nil
	}); err != nil {
		return nil, fmt.Errorf("reading what became of %d leases: %w", len(lost), err)
	}
	return found, nil
}

// answer is what the key will be answered with; status 0 if the conclusion is not final.
func (it *completeItem) answer() (status int, body []byte) {
	switch it.conclusion.state {
	case Pending, InDoubt:
		return 0, nil
	case Purchased, Rejected, Failed:
		code, message := it.carrierWords()
		return savedAnswer(it.conclusion.state, it.lease.intentID, it.order.requestID, code, message, it.label())
	default:
		panic(fmt.Sprintf("outbox: label intent %s: unknown state %q", it.lease.intentID, it.conclusion.state))
	}
}

// carrierWords are the carrier's code and message, for a rejection. Of everything else the words are
// ours, or an operator's, and stay in the evidence.
func (it *completeItem) carrierWords() (code, message string) {
	if it.conclusion.state != Rejected || len(it.conclusion.evidence) == 0 {
		return "", ""
	}
	last := it.conclusion.evidence[len(it.conclusion.evidence)-1]
	return carrier.Sanitise(last.code), carrier.Sanitise(last.message)
}

// label is the row that a purchase becomes; nil without one.
func (it *completeItem) label() *Label {
	bought := it.conclusion.label
	if it.conclusion.state != Purchased || bought == nil {
		return nil
	}
	return &Label{
		ID:         it.labelID,
		IntentID:   it.lease.intentID,
		Parcel:     it.order.parcel,
		Carrier:    it.order.carrier,
		Account:    it.account,
		Service:    bought.Service,
		TrackingNo: bought.TrackingNo,
		CostCents:  bought.Cost.Cents,
		Currency:   bought.Cost.Currency,
		Format:     string(bought.Document.Format),
		BoughtAt:   dbTime(it.boughtAt),
	}
}
