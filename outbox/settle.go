package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/internal/fault"
)

// ErrNotSettleable means that the intent is not in doubt, or that a look-up may still decide, or that
// an attempt holds it.
var ErrNotSettleable = errors.New("intent does not wait for a person's decision")

// Verdict is what a person, or an invoice, says about an intent in doubt.
type Verdict string

// The verdicts.
const (
	// VerdictBought: the carrier did sell this label.
	VerdictBought Verdict = "bought"

	// VerdictTryAgain: proved not bought; call again.
	VerdictTryAgain Verdict = "not_bought_try_again"

	// VerdictGiveUp: proved not bought; the intent fails.
	VerdictGiveUp Verdict = "not_bought_give_up"
)

// Settlement settles an intent in doubt that no call and no look-up can settle.
type Settlement struct {
	IntentID uuid.UUID
	Verdict  Verdict

	// Account and Label say what was bought; for VerdictBought only.
	Account string
	Label   *carrier.Label

	// Actor and Why are kept as evidence: who decided, and from what.
	Actor string
	Why   string
}

const settledByHand Reason = "settled_by_hand"

// Settle applies a person's decision, in one transaction with the evidence. It is refused with
// ErrNotSettleable unless the intent is in doubt and waits for a person: repeating a settlement that
// was applied is therefore refused, and changes nothing.
func (o *Outbox) Settle(ctx context.Context, s Settlement) error {
	concl, err := s.conclusion()
	if err != nil {
		return err
	}
	labelID, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("making a label id: %w", err)
	}
	token, err := uuid.NewRandom()
	if err != nil {
		return fmt.Errorf("making a settlement token: %w", err)
	}
	applied := false
	// A person who loses patience must not cut a COMMIT off: it may be waiting for a standby.
	err = o.inTx(context.WithoutCancel(ctx), "settle", func(ctx context.Context, tx pgx.Tx) (err error) {
		applied, err = o.settle(ctx, tx, completeItem{
			lease:      lease{intentID: s.IntentID, token: token},
			conclusion: concl, account: s.Account, labelID: labelID,
		})
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("settling label intent %s: %w", s.IntentID, err)
	case !applied:
		return ErrNotSettleable
	default:
		return fault.Point(ctx, "settle", "before_answer")
	}
}

func (s Settlement) conclusion() (conclusion, error) {
	c := conclusion{
		reason: settledByHand,
		closes: allCalls,
		evidence: []evidence{{
			kind: "settle", outcome: string(s.Verdict), reason: settledByHand,
			message: s.Why, label: s.Label, actor: s.Actor,
		}},
	}
	if s.Actor == "" || s.Why == "" {
		return c, errors.New("a settlement needs who decided, and why")
	}
	switch s.Verdict {
	case VerdictBought:
		if !storable(s.Label) || s.Account == "" {
			return c, errors.New("a label that was bought needs its account, carrier id, tracking number and cost")
		}
		c.state, c.label, c.learnedBy = Purchased, s.Label, learnedByPerson
	case VerdictTryAgain:
		c.state = Pending
	case VerdictGiveUp:
		c.state = Failed
	default:
		return c, fmt.Errorf("unknown verdict %q", s.Verdict)
	}
	return c, nil
}

// settle applies a settlement, and tells whether the intent was there to be settled.
func (o *Outbox) settle(ctx context.Context, tx pgx.Tx, it completeItem) (bool, error) {
	err := lockDoubtful(ctx, tx, &it)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := fault.Point(ctx, "settle", "key_locked"); err != nil {
		return false, err
	}
	// A statement of its own, now that the key is locked: it sees what the last holder left, an
	// earlier try of this transaction perhaps, whose evidence bears our token.
	var waits, applied bool
	if err := tx.QueryRow(ctx, `
		SELECT
			i.state = 'in_doubt' AND i.settled_by = 'person',
			EXISTS (
				SELECT 1 FROM carrier_calls AS c
				WHERE c.intent_id = i.intent_id AND c.lease_token = $2
			)
		FROM label_intents AS i
		WHERE i.intent_id = $1`, it.lease.intentID, it.lease.token).Scan(&waits, &applied); err != nil {
		return false, err
	}
	if applied || !waits {
		return applied, nil
	}
	held, err := o.fence(ctx, tx, []completeItem{it}, `k.lease_token IS NULL`)
	if err != nil || !held[it.lease.token] {
		return false, err
	}
	if err := fault.Point(ctx, "settle", "key_moved"); err != nil {
		return false, err
	}
	var w write
	w.add(it)
	if err := w.run(ctx, tx, o.river); err != nil {
		return false, err
	}
	if err := fault.Point(ctx, "settle", "rows_written"); err != nil {
		return false, err
	}
	if err := meetLosses(ctx, tx, it.lease.intentID); err != nil {
		return false, err
	}
	if it.conclusion.state != Pending {
		return true, nil
	}
	return true, o.ring(ctx, tx, []BuyLabel{{IntentID: it.lease.intentID, Carrier: it.order.carrier}})
}

// lockDoubtful locks the intent's key and reads what never changes.
func lockDoubtful(ctx context.Context, tx pgx.Tx, it *completeItem) error {
	var format carrier.Format
	err := tx.QueryRow(ctx, `
		SELECT
			i.caller_id, i.idem_key, i.order_id, i.parcel_no, i.label_version, i.carrier,
			i.reference, i.key_generation, i.request_id, coalesce(i.request ->> 'label_format', ''), clock_timestamp(),
			-- What is settled now was bought when it was called: invoices are older than their reading.
			coalesce(i.first_called_at, clock_timestamp())
		FROM label_intents AS i
		JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		WHERE i.intent_id = $1
		-- Nothing else may move the intent until this commits.
		FOR UPDATE OF k`, it.lease.intentID).Scan(
		&it.lease.slot.caller, &it.lease.slot.key, &it.order.parcel.OrderID, &it.order.parcel.ParcelNo,
		&it.order.parcel.LabelVersion, &it.order.carrier, &it.order.reference, &it.order.generation, &it.order.requestID,
		&format, &it.began, &it.boughtAt)
	if it.conclusion.label != nil {
		// What was ordered; a person knows the label, not its file.
		label := *it.conclusion.label
		label.Document.Format = cmp.Or(label.Document.Format, format)
		it.conclusion.label = &label
	}
	return err
}
