package outbox

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/internal/fault"
)

// claimItem asks for a lease on an intent. The token is made before the transaction, so that running
// it again after an unknown commit recognises its own lease.
type claimItem struct {
	intentID uuid.UUID
	token    uuid.UUID
	carrier  string
	account  string
	caps     carrier.Capabilities

	// twoSteps: nothing is bought but what was prepared.
	twoSteps bool
}

// claimStatus is how a claim ended.
type claimStatus string

const (
	granted      claimStatus = "granted" // the lease is ours, for one step
	endedAlready claimStatus = "ended"   // final, or left to a person: no job is needed
	heldByOther  claimStatus = "held"    // another attempt acts on it
	tooEarly     claimStatus = "early"   // nothing to do before wait has passed
)

// claimed is the answer to a claim: a lease and a plan, or how long to stay away.
type claimed struct {
	status claimStatus
	wait   time.Duration

	// began is our clock a moment before the database was asked for the lease, and deadline the end of
	// the lease by our clock: never later than by the database's. told is our clock a moment after.
	began, deadline, told time.Time

	lease    lease
	plan     plan
	before   progress // as planned on: without the call that the plan is about to make
	order    order
	tookOver bool
}

// lease is the right of one attempt to act on an intent, until the database's clock says otherwise.
type lease struct {
	intentID uuid.UUID
	slot     slot
	token    uuid.UUID
}

// order is what the intent orders, unchanged since it was accepted, and what the carrier knows it by.
type order struct {
	parcel     Parcel
	carrier    string
	reference  string
	requestID  string
	request    []byte
	createdAt  time.Time
	generation int    // of the carrier key
	remoteID   string // of what a two-step carrier made
}

// claimAll grants leases, decides each one's step and journals it, in one transaction: a purchase
// call is on record, committed, before it is sent. Sections in order:
//
//  1. take the leases that are free, locking the keys;
//  2. read the intents, by a statement of its own: only what is read after the locks are held is
//     sure to be what the last holder left;
//  3. decide, and journal what was decided.
func (o *Outbox) claimAll(ctx context.Context, items []claimItem) ([]claimed, error) {
	var results []claimed
	err := o.inTx(ctx, "claim", func(ctx context.Context, tx pgx.Tx) error {
		taken, rows, err := o.takeLeases(ctx, tx, items)
		if err != nil {
			return err
		}
		if err := fault.Point(ctx, "claim", "leases_taken"); err != nil {
			return err
		}
		var j journal
		results = make([]claimed, len(items))
		for i, it := range items {
			row, known := rows[it.intentID]
			if !known {
				results[i] = claimed{status: endedAlready}
				continue
			}
			if row.order.carrier != it.carrier {
				// The job only rings; what is bought, and where, the intent says.
				return fmt.Errorf("%w: label intent %s is ordered from %s and not from %s",
					errBroken, it.intentID, row.order.carrier, it.carrier)
			}
			takeover, ours := taken[it.intentID]
			if !ours || row.leaseToken != it.token {
				results[i] = row.notOurs()
				continue
			}
			results[i] = o.decide(it, row, takeover, &j)
		}
		return j.write(ctx, tx)
	})
	if err != nil {
		return nil, fmt.Errorf("claiming %d intents: %w", len(items), err)
	}
	return results, nil
}

// decide plans the step of an intent whose lease was taken, and puts it on the journal.
func (o *Outbox) decide(it claimItem, row claimRow, takeover bool, j *journal) claimed {
	c := claimed{
		status:   granted,
		lease:    lease{intentID: it.intentID, slot: row.owner, token: it.token},
		before:   row.progress,
		order:    row.order,
		tookOver: takeover,
		began:    row.asked,
		told:     o.cfg.Now(),
		deadline: row.asked.Add(row.leaseEnd.Sub(row.progress.now)),
	}
	if row.settledBy == SettledByPerson {
		// It was left to a person while this claim waited for the lock.
		j.release(c)
		c.status = endedAlready
		return c
	}
	if row.callToken == it.token {
		// An earlier try of this transaction had committed: the call is on record already.
		c.plan = plan{step: callStep, reason: nothingOpen}
		c.before.openCalls--
		c.before.calls--
		return c
	}
	if row.loss.unmet() {
		c.before = row.progress.withLostCall(row.loss.since, row.leaseEnd, it)
		c.order.remoteID = "" // What was bought may be another thing than the backup knows of.
		j.lose(c, row.loss)
	}
	if it.twoSteps {
		c.judgePreparation(it.account)
	}
	c.plan = next(c.before, it.account, it.caps, o.cfg.Policy)
	if c.plan.step == callStep && it.twoSteps && c.order.remoteID == "" {
		c.plan.step = prepareStep
	}
	switch c.plan.step {
	case callStep:
		c.order.generation = nextGeneration(c, it.caps)
		j.call(c, it, row.leaseEnd)
	case lookupStep, prepareStep:
		j.attempt(c)
	case waitStep:
		c.status, c.wait = tooEarly, c.plan.delay
		j.release(c)
	case leaveStep:
		c.status = endedAlready
		j.leave(c)
	}
	return c
}

// judgePreparation forgets what was prepared at another account, once nothing there is open: it would
// be bought there. Without a preparation the next call would not have the bytes of an open one, so
// its key proves nothing.
func (c *claimed) judgePreparation(account string) {
	if c.before.openCalls == 0 && c.before.account != account {
		c.order.remoteID = ""
	}
	if c.order.remoteID == "" {
		c.before.withKey = false
	}
}

// claimRow is what the tables say of an intent while its key is locked.
type claimRow struct {
	owner      slot
	progress   progress
	settledBy  Settler
	order      order
	callToken  uuid.UUID
	keyState   string
	leaseToken uuid.UUID
	leaseEnd   time.Time
	loss       loss
	asked      time.Time // our clock before any of it was read
}

// notOurs says why the lease could not be taken.
func (r claimRow) notOurs() claimed {
	if r.keyState != "started" || r.settledBy == SettledByPerson {
		return claimed{status: endedAlready}
	}
	return claimed{status: heldByOther, wait: max(0, r.leaseEnd.Sub(r.progress.now))}
}

// maxStretch is by how many times its length a lease grows at most. Each call that could not be begun,
// because claiming took longer than the lease has to spare, adds one, so that no machine is too slow
// to get anywhere: 16 leases are longer than the slowest claim that does not fail (tryTimeout and
// commitTimeout) for every lease in use.
const maxStretch = 15

// takeLeases takes every lease that is free, and tells of each taken one whether it was taken over
// from an expired one.
func (o *Outbox) takeLeases(
	ctx context.Context, tx pgx.Tx, items []claimItem,
) (map[uuid.UUID]bool, map[uuid.UUID]claimRow, error) {
	ids, tokens := make([]uuid.UUID, len(items)), make([]uuid.UUID, len(items))
	for i, it := range items {
		ids[i], tokens[i] = it.intentID, it.token
	}
	asked := o.cfg.Now()
	taken := make(map[uuid.UUID]bool, len(items))
	rows := make(map[uuid.UUID]claimRow, len(items))
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE idempotency_keys AS k
		SET lease_token = t.lease_token,
			-- An earlier try of this transaction may have taken it, and journalled how long it lasts.
			locked_until = CASE
				WHEN k.lease_token = t.lease_token THEN k.locked_until
				ELSE clock_timestamp() + make_interval(secs => t.lease)
			END
		FROM (
			SELECT
				t.lease_token, i.intent_id, i.caller_id, i.idem_key,
				coalesce(($3::jsonb ->> i.carrier)::float8, $4) * (1 + least(i.unbegun, $5)) AS lease,
				was.lease_token AS was
			FROM unnest($1::uuid[], $2::uuid[]) AS t (intent_id, lease_token)
			CROSS JOIN LATERAL (
				SELECT * FROM label_intents AS i WHERE i.intent_id = t.intent_id LIMIT 1
			) AS i
			CROSS JOIN LATERAL (
				SELECT k.lease_token FROM idempotency_keys AS k
				WHERE k.caller_id = i.caller_id AND k.idem_key = i.idem_key LIMIT 1
			) AS was
			-- A person decides: no lease is to be had.
			WHERE i.settled_by IS DISTINCT FROM 'person'
			-- One order for all batches.
			ORDER BY i.caller_id, i.idem_key
		) AS t
		WHERE k.caller_id = t.caller_id AND k.idem_key = t.idem_key
			AND k.state = 'started'
			-- clock_timestamp, not now(): a batch may have waited for the lock.
			AND (k.locked_until IS NULL OR k.locked_until <= clock_timestamp() OR k.lease_token = t.lease_token)
		RETURNING t.intent_id, t.was IS NOT NULL AND t.was <> t.lease_token`,
		ids, tokens, o.leaseSeconds(), o.cfg.Lease.Seconds(), maxStretch,
	).Query(func(r pgx.Rows) error {
		var id uuid.UUID
		var takeover bool
		_, err := pgx.ForEachRow(r, []any{&id, &takeover}, func() error {
			taken[id] = takeover
			return nil
		})
		return err
	})
	batch.Queue(`
		SELECT
			i.intent_id, i.caller_id, i.idem_key, i.state, coalesce(i.settled_by, ''),
			i.calls, i.open_calls, i.deferrals, i.unbegun, i.empty_lookups, i.failed_lookups,
			coalesce(i.called_account, ''), coalesce(i.called_with_key, false),
			i.first_called_at, i.last_call_until, i.last_lookup_at, i.not_before, i.call_token,
			i.order_id, i.parcel_no, i.label_version, i.carrier, i.reference, i.request_id,
			i.request, i.created_at, i.key_generation, coalesce(i.remote_id, ''),
			k.state, k.lease_token, k.locked_until, clock_timestamp(), `+lossColumns+`
		FROM unnest($1::uuid[]) AS t (intent_id)
		CROSS JOIN LATERAL (
			SELECT * FROM label_intents AS i WHERE i.intent_id = t.intent_id LIMIT 1
		) AS i
		CROSS JOIN LATERAL (
			SELECT k.state, k.lease_token, k.locked_until FROM idempotency_keys AS k
			WHERE k.caller_id = i.caller_id AND k.idem_key = i.idem_key LIMIT 1
		) AS k`+lossJoin, ids,
	).Query(func(r pgx.Rows) error { return readClaimRows(r, asked, rows) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, nil, err
	}
	return taken, rows, nil
}

func readClaimRows(r pgx.Rows, asked time.Time, into map[uuid.UUID]claimRow) error {
	for r.Next() {
		var (
			id                    uuid.UUID
			c                     = claimRow{asked: asked}
			first, until, lookup  *time.Time
			notBefore, leaseEnd   *time.Time
			lostSince             *time.Time
			callToken, leaseToken *uuid.UUID
		)
		if err := r.Scan(
			&id, &c.owner.caller, &c.owner.key, &c.progress.state, &c.settledBy,
			&c.progress.calls, &c.progress.openCalls, &c.progress.deferrals, &c.progress.unbegun,
			&c.progress.emptyLookups, &c.progress.failedLookups, &c.progress.account, &c.progress.withKey,
			&first, &until, &lookup, &notBefore, &callToken,
			&c.order.parcel.OrderID, &c.order.parcel.ParcelNo, &c.order.parcel.LabelVersion,
			&c.order.carrier, &c.order.reference, &c.order.requestID, &c.order.request, &c.order.createdAt,
			&c.order.generation, &c.order.remoteID,
			&c.keyState, &leaseToken, &leaseEnd, &c.progress.now,
			&c.loss.recovery, &c.loss.met, &lostSince,
		); err != nil {
			return err
		}
		c.progress.firstCalledAt, c.progress.lastCallUntil = deref(first), deref(until)
		c.progress.lastLookupAt, c.progress.notBefore = deref(lookup), deref(notBefore)
		c.leaseEnd, c.loss.since = deref(leaseEnd), deref(lostSince)
		c.callToken, c.leaseToken = deref(callToken), deref(leaseToken)
		into[id] = c
	}
	return r.Err()
}

// deref reads a NULL as the zero value; none of the columns it is used for can hold that.
func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// leaseSeconds is the lease of each carrier that has one of its own, as a JSON object.
func (o *Outbox) leaseSeconds() string {
	seconds := make(map[string]float64, len(o.cfg.Leases))
	for name, d := range o.cfg.Leases {
		seconds[name] = d.Seconds()
	}
	b, err := json.Marshal(seconds)
	if err != nil {
		panic(fmt.Sprintf("outbox: encoding leases: %v", err)) // names and numbers only
	}
	return string(b)
}

// leaseOf is how long a lease on an intent of this carrier lasts.
func (o *Outbox) leaseOf(name string) time.Duration {
	if d, ok := o.cfg.Leases[name]; ok {
		return d
	}
	return o.cfg.Lease
}
