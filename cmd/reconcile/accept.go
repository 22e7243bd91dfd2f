package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"waybill/reconcile"
)

// acceptContent says of the content that a finding is about that it is valid, and of what is stored of the
// invoice that it is given up. Nothing is deleted here: the next run that has the content at hand stores it in
// place of the other, so that there is never nothing of the invoice.
func acceptContent(ctx context.Context, tx pgx.Tx, id string) (bool, error) {
	var kind reconcile.Kind
	var content *int64
	err := tx.QueryRow(ctx, `SELECT kind, content FROM findings WHERE finding_id = $1`, id).Scan(&kind, &content)
	if err != nil {
		return false, fmt.Errorf("reading what finding %s is about: %w", id, err)
	}
	switch {
	case kind != reconcile.InvoiceChanged:
		return false, usageError(fmt.Errorf("finding %s is %s: only %s can be accepted, and nothing was changed",
			id, kind, reconcile.InvoiceChanged))
	case content == nil:
		return false, usageError(errors.New("finding " + id + " was made by an older program: run once more, then accept it"))
	}
	tag, err := tx.Exec(ctx, `
		INSERT INTO invoice_contents (carrier, account, invoice_no, currency, digest, accepted)
		SELECT f.carrier, f.account, f.invoice_no, f.currency, c.digest, c.digest = f.content
		FROM findings f
		CROSS JOIN LATERAL (
			SELECT f.content AS digest
			UNION
			SELECT unnest(i.digests)
			FROM invoices i
			WHERE i.carrier = f.carrier AND i.account = f.account AND i.invoice_no = f.invoice_no
				AND i.currency = f.currency
		) AS c
		WHERE f.finding_id = $1
		ON CONFLICT (carrier, account, invoice_no, currency, digest) DO UPDATE
		SET accepted = excluded.accepted, decided_at = now()
		WHERE invoice_contents.accepted <> excluded.accepted`, id)
	if err != nil {
		return false, fmt.Errorf("accepting what finding %s is about: %w", id, err)
	}
	return tag.RowsAffected() > 0, nil
}

// contentAccepted tells whether the content that a finding is about was accepted.
func contentAccepted(ctx context.Context, tx pgx.Tx, id string) (accepted bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (
			SELECT
			FROM invoice_contents c
			JOIN findings f ON f.carrier = c.carrier AND f.account = c.account AND f.invoice_no = c.invoice_no
				AND f.currency = c.currency AND f.content = c.digest
			WHERE f.finding_id = $1 AND c.accepted
		)`, id).Scan(&accepted)
	if err != nil {
		return false, fmt.Errorf("reading whether what finding %s is about was accepted: %w", id, err)
	}
	return accepted, nil
}

// withdrawContent takes an acceptance back that no run has acted on yet. It changes nothing where there is none.
func withdrawContent(ctx context.Context, tx pgx.Tx, id string) (bool, error) {
	tag, err := tx.Exec(ctx, `
		DELETE FROM invoice_contents AS c
		USING findings f
		WHERE f.finding_id = $1 AND c.carrier = f.carrier AND c.account = f.account AND c.invoice_no = f.invoice_no
			AND c.currency = f.currency AND c.digest = f.content AND c.accepted`, id)
	if err != nil {
		return false, fmt.Errorf("withdrawing what finding %s is about: %w", id, err)
	}
	return tag.RowsAffected() > 0, nil
}
