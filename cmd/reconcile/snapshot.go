package main

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"waybill/reconcile"
	"waybill/reconcile/report"
)

// fetchRows is how many rows of a cursor are held in memory at once.
const fetchRows = 2000

// snapshot is one moment of the database, as all reads of a run see it.
type snapshot struct {
	tx pgx.Tx
	// now is the database's clock, the only one that keys expire by.
	now time.Time
}

// takeSnapshot begins the transaction that all reads share. Labels, keys and intents are compared
// with each other: read at different moments, a purchase in between would look like a fault.
func takeSnapshot(ctx context.Context, conn *pgx.Conn) (*snapshot, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("beginning to read: %w", err)
	}
	s := &snapshot{tx: tx}
	// Cursors are read to their end: without this the planner prefers a quick first row.
	_, err = tx.Exec(ctx, `SET LOCAL cursor_tuple_fraction = 1`)
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT now()`).Scan(&s.now)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("taking a snapshot: %w", err), tx.Rollback(ctx))
	}
	return s, nil
}

// rows streams a query through a cursor, so that several can be read side by side on one
// connection and none is ever whole in memory.
func rows[T any](
	ctx context.Context, s *snapshot, name string, scan pgx.RowToFunc[T], query string, args ...any,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if _, err := s.tx.Exec(ctx, `DECLARE `+name+` NO SCROLL CURSOR FOR `+query, args...); err != nil {
			yield(none, fmt.Errorf("reading %s: %w", name, err))
			return
		}
		for {
			fetched, err := s.tx.Query(ctx, fmt.Sprintf(`FETCH FORWARD %d FROM %s`, fetchRows, name))
			if err != nil {
				yield(none, fmt.Errorf("reading %s: %w", name, err))
				return
			}
			batch, err := pgx.CollectRows(fetched, scan)
			if err != nil {
				yield(none, fmt.Errorf("reading %s: %w", name, err))
				return
			}
			for _, row := range batch {
				if !yield(row, nil) {
					return
				}
			}
			if len(batch) < fetchRows {
				return
			}
		}
	}
}

// labelColumns reads a label "l" that an outer join may have left out; scanLabel takes them.
const labelColumns = `
		coalesce(l.label_id::text, ''),
		coalesce(l.intent_id::text, ''),
		coalesce(l.carrier, ''),
		coalesce(l.account, ''),
		coalesce(l.tracking_no, ''),
		coalesce(l.reference, ''),
		coalesce(l.order_id, 0),
		coalesce(l.parcel_no, 0),
		coalesce(l.label_version, 0),
		coalesce(l.caller_id, ''),
		coalesce(l.created_by_key, ''),
		coalesce(l.cost_cents, 0),
		coalesce(l.currency, ''),
		coalesce(l.bought_at, 'epoch'),
		l.voided_at`

// labelFields are the destinations of labelColumns, and then of more.
func labelFields(l *reconcile.Label, voidedAt **time.Time, more ...any) []any {
	return append([]any{
		&l.LabelID, &l.IntentID, &l.Carrier, &l.Account, &l.TrackingNo, &l.Reference, &l.OrderID,
		&l.ParcelNo, &l.LabelVersion, &l.CallerID, &l.IdempotencyKey, &l.Cost.Cents, &l.Cost.Currency,
		&l.BoughtAt, voidedAt,
	}, more...)
}

// scanLabel reads labelColumns and then more; nil for a label that is not there.
func scanLabel(row pgx.CollectableRow, more ...any) (*reconcile.Label, error) {
	var l reconcile.Label
	var voidedAt *time.Time
	if err := row.Scan(labelFields(&l, &voidedAt, more...)...); err != nil {
		return nil, fmt.Errorf("reading a label: %w", err)
	}
	if l.LabelID == "" {
		return nil, nil //nolint:nilnil // The outer join found none, and that is no error.
	}
	if voidedAt != nil {
		l.VoidedAt = *voidedAt
	}
	return &l, nil
}

// labelsToBill are the labels that the files must bill and those that they do bill. A label that was
// bought before or after the time in question counts only if it is billed.
const labelsToBill = `
	FROM labels l
	LEFT JOIN staged_numbers s USING (tracking_no)
	LEFT JOIN staged_shipments sh USING (tracking_no)
	WHERE l.carrier = $1
		AND (s.tracking_no IS NOT NULL OR (l.bought_at >= $2 AND l.bought_at < $3))`

// labelQuery reads the labels whose numbers are not plain, by tracking number.
const labelQuery = `
	SELECT ` + labelColumns + `,
		coalesce(sh.shipment, '')` + labelsToBill + `
		AND s.plain IS NOT TRUE
	ORDER BY
		coalesce(sh.shipment, l.tracking_no) COLLATE "C",
		l.bought_at,
		l.label_id`

// labels streams the labels to judge lines by.
func (s *snapshot) labels(ctx context.Context, set settings) iter.Seq2[reconcile.Label, error] {
	scan := func(row pgx.CollectableRow) (reconcile.Label, error) {
		var shipment string
		l, err := scanLabel(row, &shipment)
		if err != nil {
			return reconcile.Label{}, err
		}
		l.Shipment = shipment
		return *l, nil
	}
	return rows(ctx, s, "labels_to_bill", scan, labelQuery, set.carrier, set.begin(), set.end())
}

// bought counts the labels without looking at how they stand: the roll-forward of the report must
// come to the same.
func (s *snapshot) bought(ctx context.Context, set settings) ([]report.Bought, error) {
	counted, err := s.tx.Query(ctx, `
		SELECT
			l.currency,
			count(*),
			sum(l.cost_cents)::bigint`+labelsToBill+`
		GROUP BY l.currency
		ORDER BY l.currency COLLATE "C"`, set.carrier, set.begin(), set.end())
	if err != nil {
		return nil, fmt.Errorf("counting the labels bought: %w", err)
	}
	totals, err := pgx.CollectRows(counted, pgx.RowToStructByPos[report.Bought])
	if err != nil {
		return nil, fmt.Errorf("counting the labels bought: %w", err)
	}
	return totals, nil
}

// labelWithKey is a label and the record of its key, if there is one.
type labelWithKey struct {
	label reconcile.Label
	key   *reconcile.KeyRecord
}

// labelKeyQuery reads the labels whose key record is absent, though it cannot have been purged
// yet, or says something else than "bought".
const labelKeyQuery = `
	SELECT ` + labelColumns + `,
		k.caller_id IS NOT NULL,
		coalesce(k.state = 'completed', false),
		coalesce(k.response_status, 0)
	FROM labels l
	LEFT JOIN idempotency_keys k ON k.caller_id = l.caller_id AND k.idem_key = l.created_by_key
	WHERE l.carrier = $1
		AND l.bought_at < $3
		AND CASE
			WHEN k.caller_id IS NULL THEN l.bought_at > $2
			ELSE k.state <> 'completed' OR k.response_status <> 201
		END
	ORDER BY l.bought_at, l.label_id`

// labelsByKey streams labels that stand in contradiction to their key.
func (s *snapshot) labelsByKey(ctx context.Context, set settings, since time.Time) iter.Seq2[labelWithKey, error] {
	scan := func(row pgx.CollectableRow) (labelWithKey, error) {
		var k reconcile.KeyRecord
		var there bool
		l, err := scanLabel(row, &there, &k.Completed, &k.Status)
		if err != nil {
			return labelWithKey{}, err
		}
		pair := labelWithKey{label: *l}
		if there {
			pair.key = &k
		}
		return pair, nil
	}
	return rows(ctx, s, "labels_by_key", scan, labelKeyQuery, set.carrier, since, set.end())
}

// keyWithLabel is a completed key and the label of its intent, if there is one.
type keyWithLabel struct {
	key   reconcile.KeyRecord
	label *reconcile.Label
}

// keyQuery reads the keys that answer with a label. One whose intent is gone belongs to no carrier,
// and is everybody's concern.
const keyQuery = `
	SELECT ` + labelColumns + `,
		k.caller_id,
		k.idem_key,
		k.response_status,
		k.response_body
	FROM idempotency_keys k
	LEFT JOIN label_intents i USING (caller_id, idem_key)
	LEFT JOIN labels l ON l.intent_id = i.intent_id
	WHERE k.state = 'completed'
		AND k.response_status = 201
		AND k.created_at < $2
		AND (i.carrier = $1 OR i.intent_id IS NULL)
	ORDER BY
		k.caller_id COLLATE "C",
		k.idem_key COLLATE "C"`

// keys streams the completed keys.
func (s *snapshot) keys(ctx context.Context, set settings) iter.Seq2[keyWithLabel, error] {
	scan := func(row pgx.CollectableRow) (keyWithLabel, error) {
		pair := keyWithLabel{key: reconcile.KeyRecord{Carrier: set.carrier, Completed: true}}
		var body []byte
		l, err := scanLabel(row, &pair.key.CallerID, &pair.key.IdempotencyKey, &pair.key.Status, &body)
		if err != nil {
			return pair, err
		}
		pair.label = l
		pair.key.AnsweredLabelID, pair.key.AnsweredTrackingNo = readAnswer(body)
		return pair, nil
	}
	return rows(ctx, s, "completed_keys", scan, keyQuery, set.carrier, set.end())
}

// readAnswer takes from a saved answer what identifies its label, and nothing if it is not JSON.
func readAnswer(body []byte) (labelID, trackingNo string) {
	var answer struct {
		LabelID    string `json:"label_id"`
		TrackingNo string `json:"tracking_no"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", ""
	}
	return answer.LabelID, answer.TrackingNo
}

// intentWithLabel is an intent and its label, if there is one.
type intentWithLabel struct {
	intent reconcile.Intent
	label  *reconcile.Label
}

// intentQuery reads the intents that their label contradicts. Constraints forbid each of them:
// what is found here was not written by the service.
const intentQuery = `
	SELECT ` + labelColumns + `,
		i.intent_id::text,
		i.state = 'purchased',
		coalesce(i.label_id::text, '')
	FROM label_intents i
	LEFT JOIN labels l ON l.intent_id = i.intent_id
	WHERE i.carrier = $1
		AND i.created_at < $2
		AND CASE
			WHEN l.label_id IS NULL THEN i.state = 'purchased'
			ELSE i.state <> 'purchased' OR i.label_id <> l.label_id
		END
	ORDER BY i.created_at, i.intent_id`

// intents streams intents that stand in contradiction to their label.
func (s *snapshot) intents(ctx context.Context, set settings) iter.Seq2[intentWithLabel, error] {
	scan := func(row pgx.CollectableRow) (intentWithLabel, error) {
		var pair intentWithLabel
		l, err := scanLabel(row, &pair.intent.IntentID, &pair.intent.Purchased, &pair.intent.LabelID)
		pair.label = l
		return pair, err
	}
	return rows(ctx, s, "purchased_intents", scan, intentQuery, set.carrier, set.end())
}

// Codes of Postgres for a schema that is not ours.
const (
	undefinedTable  = "42P01"
	undefinedColumn = "42703"
)

// schemaError tells a database that was never migrated from one that fails.
func schemaError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == undefinedTable || pg.Code == undefinedColumn) {
		return usageError(fmt.Errorf("the database lacks tables of this version; run `api migrate`: %w", err))
	}
	return err
}
