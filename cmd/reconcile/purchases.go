package main

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// parcelQuery reads the second, third, … live label of a parcel: other versions replace a label, so
// the one before should be void.
const parcelQuery = `
	SELECT ` + labelColumns + `
	FROM labels l
	WHERE l.carrier = $1
		AND l.bought_at < $2
		AND l.voided_at IS NULL
		AND EXISTS (
			SELECT 1
			FROM labels o
			WHERE o.order_id = l.order_id
				AND o.parcel_no = l.parcel_no
				AND o.label_id <> l.label_id
				AND o.voided_at IS NULL
				AND (o.bought_at, o.label_id) < (l.bought_at, l.label_id)
		)
	ORDER BY l.bought_at, l.label_id`

// secondLabels streams the labels that a parcel has besides its first.
func (s *snapshot) secondLabels(ctx context.Context, set settings) iter.Seq2[reconcile.Label, error] {
	return rows(ctx, s, "second_labels", scanWhole, parcelQuery, set.carrier, set.end())
}

func scanWhole(row pgx.CollectableRow) (reconcile.Label, error) {
	l, err := scanLabel(row)
	if err != nil {
		return reconcile.Label{}, err
	}
	return *l, nil
}

// otherQuery reads what the carrier told us that it sold for an intent, besides the intent's label.
const otherQuery = `
	SELECT DISTINCT ON (l.bought_at, l.label_id, c.carrier_label_id) ` + labelColumns + `,
		c.carrier_label_id,
		coalesce(c.tracking_no, '')
	FROM carrier_calls c
	JOIN labels l ON l.intent_id = c.intent_id AND l.carrier_label_id <> c.carrier_label_id
	WHERE l.carrier = $1
		AND l.bought_at < $2
		AND c.outcome = 'bought'
		AND c.kind = 'buy'
		-- One that an invoice settled bears its number for an id.
		AND c.tracking_no IS DISTINCT FROM l.tracking_no
		AND NOT EXISTS (
			SELECT 1
			FROM carrier_calls v
			WHERE v.intent_id = c.intent_id AND v.carrier_label_id = c.carrier_label_id AND v.kind = 'void'
		)
	ORDER BY l.bought_at, l.label_id, c.carrier_label_id, c.call_id`

type otherPurchase struct {
	label reconcile.Label
	other reconcile.OtherPurchase
}

func (s *snapshot) otherPurchases(ctx context.Context, set settings) iter.Seq2[otherPurchase, error] {
	scan := func(row pgx.CollectableRow) (otherPurchase, error) {
		var o otherPurchase
		l, err := scanLabel(row, &o.other.CarrierLabelID, &o.other.TrackingNo)
		if err == nil {
			o.label = *l
		}
		return o, err
	}
	return rows(ctx, s, "other_purchases", scan, otherQuery, set.carrier, set.end())
}

// doubtQuery reads the intents in doubt that wait for a person, and whose reference no line bears.
const doubtQuery = `
	SELECT
		i.intent_id::text,
		i.carrier,
		coalesce(i.called_account, ''),
		i.reference,
		i.order_id,
		i.parcel_no,
		i.label_version,
		i.caller_id,
		i.idem_key,
		coalesce(i.first_called_at, i.created_at)
	FROM label_intents i
	WHERE i.carrier = $1
		AND i.state = 'in_doubt'
		AND i.settled_by = 'person'
		AND i.created_at < $2
		AND NOT EXISTS (SELECT 1 FROM staged_lines s WHERE s.reference = i.reference)
	ORDER BY i.created_at, i.intent_id`

func (s *snapshot) doubts(ctx context.Context, set settings) iter.Seq2[reconcile.Doubt, error] {
	scan := func(row pgx.CollectableRow) (reconcile.Doubt, error) {
		var d reconcile.Doubt
		var called time.Time
		err := row.Scan(&d.IntentID, &d.Carrier, &d.Account, &d.Reference, &d.OrderID, &d.ParcelNo,
			&d.LabelVersion, &d.CallerID, &d.IdempotencyKey, &called)
		d.Called = invoice.DateOf(called, set.zone)
		return d, err
	}
	return rows(ctx, s, "doubts", scan, doubtQuery, set.carrier, set.end())
}

// checkPurchases looks for purchases too many, and for those that no invoice confirms.
func (r *reconciliation) checkPurchases(ctx context.Context, snap *snapshot, rules reconcile.Rules) error {
	for l, err := range snap.secondLabels(ctx, r.settings) {
		if err != nil {
			return err
		}
		if err := r.find(rules.JudgeParcel(l)); err != nil {
			return err
		}
	}
	for o, err := range snap.otherPurchases(ctx, r.settings) {
		if err != nil {
			return err
		}
		if err := r.find(rules.JudgeOtherPurchase(o.label, o.other)); err != nil {
			return err
		}
	}
	for f, err := range r.settled(ctx, snap) {
		if err != nil {
			return err
		}
		if err := r.find(f); err != nil {
			return err
		}
	}
	for d, err := range snap.doubts(ctx, r.settings) {
		if err != nil {
			return err
		}
		if err := r.findIf(rules.JudgeDoubt(d)); err != nil {
			return err
		}
	}
	return nil
}
