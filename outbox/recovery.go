package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"waybill/carrier"
)

// A database that was restored from a backup has lost what happened since: orders, calls, labels. The
// carrier has not. Until a recovery has seen to it, a call that we would take for an intent's first
// may be its second. So while one concerns an intent, its first claim counts a call that may have been
// made and was lost, as open as any: the rules for open calls do the rest. A carrier with a look-up is
// asked, through a whole quiet period. One that honours a key alone is called with the same key, if key
// and bytes are sure to be those of the call that was lost. Else a person decides.
//
// That goes for what the backup holds, and for what is ordered while the recovery is open: it may
// repeat an order that was lost. Key and reference are made of what is ordered, so that they are the
// same again.

// lostWithRestore is the reason of a call that may have been made since the backup.
const lostWithRestore Reason = "lost_with_restore"

// ErrNoRecovery means that no recovery is open; ErrRecovering that one is already.
var (
	ErrNoRecovery = errors.New("no recovery is open")
	ErrRecovering = errors.New("a recovery is open already")
)

// Recovery is the restore of a backup, and who says so.
type Recovery struct {
	// LostSince is the last moment that the backup holds.
	LostSince time.Time
	Actor     string
	Why       string
}

// BeginRecovery makes every claim reckon with the calls that were lost. It must be done before any
// worker starts on the restored database. Repeating it is refused and changes nothing.
func (o *Outbox) BeginRecovery(ctx context.Context, r Recovery) error {
	if r.Actor == "" || r.Why == "" || r.LostSince.IsZero() {
		return errors.New("a recovery needs since when things are lost, who says so, and why")
	}
	tag, err := o.db.Exec(ctx, `
		INSERT INTO recoveries (lost_since, began_by, began_why)
		VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`, r.LostSince, carrier.Sanitise(r.Actor), carrier.Sanitise(r.Why))
	switch {
	case err != nil:
		return fmt.Errorf("beginning a recovery: %w", err)
	case tag.RowsAffected() == 0:
		return ErrRecovering
	default:
		return nil
	}
}

// EndRecovery says that no more orders come that repeat lost ones: all that the carrier has charged
// since the backup is adopted, or known to a person. Intents ordered until now keep their protection.
// It returns how many intents wait
// for a person.
func (o *Outbox) EndRecovery(ctx context.Context, actor, why string) (waiting int, err error) {
	if actor == "" || why == "" {
		return 0, errors.New("ending a recovery needs who decides, and why")
	}
	err = o.db.QueryRow(ctx, `
		UPDATE recoveries SET ended_at = clock_timestamp(), ended_by = $1, ended_why = $2
		WHERE ended_at IS NULL
		RETURNING (SELECT count(*) FROM label_intents WHERE state = 'in_doubt' AND settled_by = 'person')`,
		carrier.Sanitise(actor), carrier.Sanitise(why)).Scan(&waiting)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, ErrNoRecovery
	case err != nil:
		return 0, fmt.Errorf("ending the recovery: %w", err)
	default:
		return waiting, nil
	}
}

// loss is what recoveries say of one intent.
type loss struct {
	recovery int64 // the last one that concerns it; 0 if none does
	met      int64 // the last one that was taken into account
	since    time.Time
}

// unmet is true if a call may have been lost that nobody has reckoned with yet.
func (l loss) unmet() bool { return l.recovery > l.met }

// lossColumns and lossJoin read a loss.
const (
	lossColumns = `coalesce(loss.recovery_id, 0), coalesce(i.recovery_id, 0), loss.since`

	lossJoin = `
		CROSS JOIN LATERAL (
			SELECT max(r.recovery_id) AS recovery_id, min(r.lost_since) AS since
			FROM recoveries AS r
			WHERE i.created_at < coalesce(r.ended_at, 'infinity')
		) AS loss`
)

// withLostCall counts a call that may have been made after the backup, under the configuration of
// today: like a call under the lease that ends at leaseEnd, whose worker may still be at it.
func (p progress) withLostCall(since, leaseEnd time.Time, it claimItem) progress {
	caps := it.caps
	// The parcel may have been ordered under another key than this: the reference is the better proof.
	// And the call that was lost may have borne a later generation of the key, or other bytes, made of
	// another preparation.
	p.withKey = caps.Key != nil && caps.Lookup == nil && !replays(caps) && !it.twoSteps && (p.openCalls == 0 || p.withKey)
	if p.openCalls == 0 {
		p.account = it.account
	}
	p.calls++
	p.openCalls++
	if p.firstCalledAt.IsZero() || since.Before(p.firstCalledAt) {
		p.firstCalledAt = since
	}
	p.lastCallUntil = leaseEnd
	if caps.Lookup != nil {
		p.lastCallUntil = leaseEnd.Add(caps.Lookup.QuietPeriod())
	}
	p.emptyLookups = 0
	return p
}

// lostCalls are the calls that a batch of claims counts because they may have been lost.
type lostCalls struct {
	ids        []uuid.UUID
	recoveries []int64
	firsts     []time.Time
	untils     []time.Time
	accounts   []string
	withKey    []bool
}

func (l *lostCalls) add(id uuid.UUID, recovery int64, p progress) {
	l.ids = append(l.ids, id)
	l.recoveries = append(l.recoveries, recovery)
	l.firsts = append(l.firsts, p.firstCalledAt)
	l.untils = append(l.untils, p.lastCallUntil)
	l.accounts = append(l.accounts, p.account)
	l.withKey = append(l.withKey, p.withKey)
}

func (l *lostCalls) queue(batch *pgx.Batch) {
	if len(l.ids) == 0 {
		return
	}
	batch.Queue(`
		UPDATE label_intents AS i
		SET calls = i.calls + 1, open_calls = i.open_calls + 1, empty_lookups = 0,
			recovery_id = t.recovery_id, first_called_at = t.first, last_call_until = t.until,
			called_account = t.account, called_with_key = t.with_key, remote_id = NULL
		FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::boolean[])
			AS t (intent_id, recovery_id, first, until, account, with_key)
		WHERE i.intent_id = t.intent_id AND `+unfinished+`
			AND i.recovery_id IS DISTINCT FROM t.recovery_id`,
		l.ids, l.recoveries, l.firsts, l.untils, l.accounts, l.withKey,
	).Exec(exactly("counting calls that may have been lost", len(l.ids)))
}

// meetLosses notes that a person has decided about an intent, knowing of every recovery so far.
func meetLosses(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	_, err := tx.Exec(ctx, `
		UPDATE label_intents
		SET recovery_id = (SELECT max(recovery_id) FROM recoveries)
		WHERE intent_id = $1 AND EXISTS (SELECT FROM recoveries)`, id)
	if err != nil {
		return fmt.Errorf("noting which recoveries were reckoned with: %w", err)
	}
	return nil
}
