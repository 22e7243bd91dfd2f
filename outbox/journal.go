package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/internal/fault"
)

// journal collects what a batch of claims decided, and writes it before anything is sent.
type journal struct {
	// Every attempt, and for those that call what the call leaves open.
	ids       []uuid.UUID
	tokens    []*uuid.UUID // nil: no purchase call
	openCalls []int32
	callUntil []*time.Time
	accounts  []string
	withKey   []bool

	// generations are those of the carrier keys in use from now on.
	generations []int32

	// sameAttempt is true for a call under a lease that was counted as an attempt already.
	sameAttempt bool

	// Leases given back at once: there was nothing to do.
	released releases

	// Calls that may have been made before a restore.
	lost lostCalls

	// Intents left to a person.
	left     []uuid.UUID
	evidence evidenceRows
}

// call counts a purchase call as open before it is sent. Until it is known to have ended, it can be
// under way until its lease ends, and for as long after that as a process may sleep between its last
// look at the lease and the send: the promise allows it one quiet period.
func (j *journal) call(c claimed, it claimItem, leaseEnd time.Time) {
	if it.caps.Lookup != nil {
		leaseEnd = leaseEnd.Add(it.caps.Lookup.QuietPeriod())
	}
	j.ids = append(j.ids, c.lease.intentID)
	j.tokens = append(j.tokens, &c.lease.token)
	j.openCalls = append(j.openCalls, int32(c.before.openCalls)+1) //nolint:gosec // G115: an integer column, read and written again.
	j.callUntil = append(j.callUntil, &leaseEnd)
	j.accounts = append(j.accounts, it.account)
	j.withKey = append(j.withKey, it.caps.Key != nil && (c.before.openCalls == 0 || c.before.withKey))
	j.generations = append(j.generations, int32(c.order.generation)) //nolint:gosec // G115: an integer column.
}

// nextGeneration is that of the carrier key which the next call bears. A carrier that replays failures
// is given another key for every call after the first, once all earlier ones are known to have bought
// nothing: the old key would only bring the old answer.
func nextGeneration(c claimed, caps carrier.Capabilities) int {
	if replays(caps) && c.before.openCalls == 0 && c.before.calls > 0 {
		return c.order.generation + 1
	}
	return c.order.generation
}

// attempt counts an attempt that sends no purchase.
func (j *journal) attempt(c claimed) {
	j.ids = append(j.ids, c.lease.intentID)
	j.tokens = append(j.tokens, nil)
	j.openCalls = append(j.openCalls, int32(c.before.openCalls)) //nolint:gosec // G115: as above.
	j.callUntil = append(j.callUntil, nil)
	j.accounts = append(j.accounts, "")
	j.withKey = append(j.withKey, false)
	j.generations = append(j.generations, int32(c.order.generation)) //nolint:gosec // G115: as above.
}

// lose counts a call that may have been lost with a restore.
func (j *journal) lose(c claimed, l loss) {
	j.lost.add(c.lease.intentID, l.recovery, c.before)
	// Without a lease token: no attempt of ours says this.
	j.evidence.add(lease{intentID: c.lease.intentID}, evidence{
		kind: "buy", outcome: string(carrier.Unknown), reason: lostWithRestore,
	})
}

func (j *journal) release(c claimed) { j.released.add(c.lease) }

// leave leaves an intent to a person: an earlier call is open, and nothing can be asked.
func (j *journal) leave(c claimed) {
	j.released.add(c.lease)
	j.left = append(j.left, c.lease.intentID)
	j.evidence.add(c.lease, evidence{
		kind: "buy", outcome: string(carrier.Unknown), reason: c.plan.reason,
	})
}

// journalCall counts a call under a lease that was taken for another step: for a look-up, once it has
// proved that the earlier calls bought nothing, or for a preparation, whose id is stored with it. It
// tells whether the lease still holds; without it nothing may be sent. Running it again after an
// unknown commit counts once.
func (o *Outbox) journalCall(ctx context.Context, c *claimed, account carrier.Carrier, remoteID string) (bool, error) {
	held := false
	before := c.before
	before.state, before.openCalls = Pending, 0
	again := *c
	again.before, again.order.remoteID = before, remoteID
	again.order.generation = nextGeneration(again, account.Capabilities())
	err := o.inTx(ctx, "journal", func(ctx context.Context, tx pgx.Tx) error {
		var until time.Time
		err := tx.QueryRow(ctx, `
			SELECT locked_until FROM idempotency_keys
			WHERE caller_id = $1 AND idem_key = $2
				AND lease_token = $3 AND locked_until > clock_timestamp()
			FOR UPDATE`, c.lease.slot.caller, c.lease.slot.key, c.lease.token).Scan(&until)
		if errors.Is(err, pgx.ErrNoRows) {
			held = false
			return nil
		}
		if err != nil {
			return err
		}
		held = true
		if err := fault.Point(ctx, "journal", "key_locked"); err != nil {
			return err
		}
		var counted bool
		if err := tx.QueryRow(ctx, `
			SELECT call_token IS NOT DISTINCT FROM $2 FROM label_intents WHERE intent_id = $1`,
			c.lease.intentID, c.lease.token).Scan(&counted); err != nil || counted {
			return err
		}
		if _, err := tx.Exec(ctx, `
			UPDATE label_intents SET remote_id = nullif($2, '') WHERE intent_id = $1`,
			c.lease.intentID, remoteID); err != nil {
			return err
		}
		var j journal
		j.call(again, claimItem{account: account.Account(), caps: account.Capabilities()}, until)
		j.sameAttempt = true
		return j.write(ctx, tx)
	})
	if err != nil {
		return false, fmt.Errorf("journalling a call of label intent %s: %w", c.lease.intentID, err)
	}
	if held {
		c.before, c.order = again.before, again.order
		c.plan.step = callStep
	}
	return held, nil
}

func (j *journal) write(ctx context.Context, tx pgx.Tx) error {
	batch := &pgx.Batch{}
	j.lost.queue(batch)
	if len(j.ids) > 0 {
		batch.Queue(`
			UPDATE label_intents AS i
			SET attempts = i.attempts + CASE WHEN $7 THEN 0 ELSE 1 END,
				-- A call is only planned when nothing is in doubt, or no longer.
				state = CASE WHEN t.token IS NULL THEN i.state ELSE 'pending' END,
				settled_by = CASE WHEN t.token IS NULL THEN i.settled_by END,
				calls = i.calls + CASE WHEN t.token IS NULL THEN 0 ELSE 1 END,
				open_calls = t.open_calls,
				call_token = coalesce(t.token, i.call_token),
				empty_lookups = CASE WHEN t.token IS NULL THEN i.empty_lookups ELSE 0 END,
				called_account = CASE WHEN t.token IS NULL THEN i.called_account ELSE t.account END,
				called_with_key = CASE WHEN t.token IS NULL THEN i.called_with_key ELSE t.with_key END,
				first_called_at = CASE
					WHEN t.token IS NULL THEN i.first_called_at
					ELSE coalesce(i.first_called_at, clock_timestamp())
				END,
				last_call_until = coalesce(t.call_until, i.last_call_until),
				key_generation = t.generation
			FROM unnest(
				$1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[], $5::text[], $6::boolean[], $8::integer[]
			) AS t (intent_id, token, open_calls, call_until, account, with_key, generation)
			WHERE i.intent_id = t.intent_id AND `+unfinished,
			j.ids, j.tokens, j.openCalls, j.callUntil, j.accounts, j.withKey, j.sameAttempt, j.generations,
		).Exec(exactly("journalling attempts", len(j.ids)))
	}
	if len(j.left) > 0 {
		batch.Queue(`
			UPDATE label_intents AS i
			SET state = 'in_doubt', settled_by = 'person'
			FROM unnest($1::uuid[]) AS t (intent_id)
			WHERE i.intent_id = t.intent_id AND `+unfinished,
			j.left,
		).Exec(exactly("leaving intents to a person", len(j.left)))
		notifyEnded(batch, j.left)
	}
	j.released.queue(batch)
	j.evidence.queue(batch)
	if batch.Len() == 0 {
		return nil
	}
	return tx.SendBatch(ctx, batch).Close()
}

// releases are leases that end without a change to the key.
type releases struct {
	callers, keys []string
	tokens        []uuid.UUID
}

func (r *releases) add(l lease) {
	r.callers = append(r.callers, l.slot.caller)
	r.keys = append(r.keys, l.slot.key)
	r.tokens = append(r.tokens, l.token)
}

func (r *releases) queue(batch *pgx.Batch) {
	if len(r.keys) == 0 {
		return
	}
	batch.Queue(`
		UPDATE idempotency_keys AS k
		SET locked_until = NULL, lease_token = NULL
		FROM unnest($1::text[], $2::text[], $3::uuid[]) AS t (caller_id, idem_key, token)
		WHERE k.caller_id = t.caller_id AND k.idem_key = t.idem_key AND k.lease_token = t.token`,
		r.callers, r.keys, r.tokens,
	).Exec(exactly("giving leases back", len(r.keys)))
}
