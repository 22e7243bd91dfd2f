package outbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
)

// Every read names the caller in its WHERE: another caller's row is not there. Every read ends, even
// if the server has vanished without a word.

const intentColumns = `
	i.intent_id, i.order_id, i.parcel_no, i.label_version, i.carrier, i.reference, i.state,
	coalesce(i.settled_by, ''), i.attempts, i.calls,
	coalesce(i.label_id, '00000000-0000-0000-0000-000000000000'),
	coalesce(i.carrier_code, ''), coalesce(i.carrier_message, ''), i.created_at, i.finished_at`

// Intent returns one of the caller's intents, or ErrNotFound.
func (o *Outbox) Intent(ctx context.Context, callerID string, id uuid.UUID) (Intent, error) {
	return o.intent(ctx, `
		SELECT `+intentColumns+` FROM label_intents AS i
		WHERE i.caller_id = $1 AND i.intent_id = $2`, callerID, id)
}

// IntentByKey returns the intent that the caller ordered under a key, purged or not, or ErrNotFound.
func (o *Outbox) IntentByKey(ctx context.Context, callerID, key string) (Intent, error) {
	return o.intent(ctx, `
		SELECT `+intentColumns+` FROM label_intents AS i
		WHERE i.caller_id = $1 AND i.idem_key = $2`, callerID, key)
}

func (o *Outbox) intent(ctx context.Context, sql string, args ...any) (Intent, error) {
	var i Intent
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err := o.db.QueryRow(ctx, sql, args...).Scan(i.targets()...)
	return i, readError("label intent", err)
}

// targets are where intentColumns are scanned to.
func (i *Intent) targets() []any {
	return []any{
		&i.ID, &i.Parcel.OrderID, &i.Parcel.ParcelNo, &i.Parcel.LabelVersion, &i.Carrier, &i.Reference,
		&i.State, &i.SettledBy, &i.Attempts, &i.Calls, &i.LabelID, &i.CarrierCode, &i.CarrierMessage,
		&i.CreatedAt, &i.FinishedAt,
	}
}

// Label returns one of the caller's labels, or ErrNotFound.
func (o *Outbox) Label(ctx context.Context, callerID string, id uuid.UUID) (Label, error) {
	var l Label
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err := o.db.QueryRow(ctx, `
		SELECT `+currentColumns+` FROM labels AS l
		WHERE l.caller_id = $1 AND l.label_id = $2`, callerID, id).Scan(l.currentTargets()...)
	return l, readError("label", err)
}

// Document returns the printable label, ErrNotFound, or ErrNoDocument.
func (o *Outbox) Document(ctx context.Context, callerID string, labelID uuid.UUID) (carrier.Document, error) {
	var format *carrier.Format
	var d carrier.Document
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err := o.db.QueryRow(ctx, `
		SELECT d.format, d.content
		FROM labels AS l
		LEFT JOIN label_documents AS d ON d.label_id = l.label_id
		WHERE l.caller_id = $1 AND l.label_id = $2`, callerID, labelID).Scan(&format, &d.Content)
	if err == nil && format == nil {
		return d, ErrNoDocument
	}
	d.Format = deref(format)
	return d, readError("document", err)
}

// readError tells "not there" from "database away".
func readError(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return ErrNotFound
	case isTransient(err):
		return fmt.Errorf("%w: reading a %s: %w", ErrUnavailable, what, err)
	default:
		return fmt.Errorf("reading a %s: %w", what, err)
	}
}
