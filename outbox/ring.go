package outbox

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"waybill/internal/fault"
)

// ringGrace is how old an intent must be before its missing job is missed: a job that was inserted
// with it a moment ago is not worth looking for.
const ringGrace = "5 seconds"

// ringBatch bounds one transaction of the ringer.
const ringBatch = 1000

// jobIntent is the intent that a job j names, or NULL: args that another build wrote, or a hand, are
// nobody's doorbell, and must not stop the ringer for everybody else.
const jobIntent = `CASE
	WHEN j.args ->> 'intent_id' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
	THEN (j.args ->> 'intent_id')::uuid
END`

// Ring sees to it that every intent which a job can bring further has one that is alive, and that
// work abandoned under an expired lease is taken up again. River's own rescue looks at how long a job
// has been running; this looks at the intents, which are the queue of record: it works even if
// River's tables were emptied. It returns how many jobs it rang. Any number may run at once.
func (o *Outbox) Ring(ctx context.Context) (int, error) {
	revived, err := o.reviveAbandoned(ctx)
	if err != nil {
		return 0, err
	}
	inserted, err := o.insertLost(ctx)
	if err != nil {
		return 0, err
	}
	documents, err := o.ringForDocuments(ctx, ringBatch)
	if err != nil {
		return 0, err
	}
	voids, err := o.ringForVoids(ctx, ringBatch)
	rung := revived + inserted + documents + voids
	o.cfg.Metrics.rungJobs.Add(float64(rung))
	return rung, err
}

// reviveAbandoned makes jobs available again which River still believes to be running although
// their attempt's lease has ended: the process died, or stalls and is fenced out. It is what River's
// rescuer does, sooner; both guard the change with the state they expect. A second attempt beside a
// stalled one does no harm, because only the lease counts.
func (o *Outbox) reviveAbandoned(ctx context.Context) (int, error) {
	var n int
	err := o.inTx(ctx, "revive", func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE river_job AS j
			SET state = 'available', scheduled_at = now()
			FROM (
				SELECT j.id
				FROM river_job AS j
				CROSS JOIN LATERAL (
					SELECT * FROM label_intents AS i
					WHERE i.intent_id = `+jobIntent+` LIMIT 1
				) AS i
				CROSS JOIN LATERAL (
					SELECT * FROM idempotency_keys AS k
					WHERE k.caller_id = i.caller_id AND k.idem_key = i.idem_key LIMIT 1
				) AS k
				WHERE j.state = 'running' AND j.kind = $1
					AND j.attempted_at < now() - make_interval(
						secs => coalesce(($2::jsonb ->> i.carrier)::float8, $3))
					AND i.state IN ('pending', 'in_doubt')
					AND (k.locked_until IS NULL OR k.locked_until <= now())
				ORDER BY j.id
				LIMIT $4
				FOR UPDATE OF j SKIP LOCKED
			) AS abandoned
			WHERE j.id = abandoned.id AND j.state = 'running'`,
			BuyLabel{}.Kind(), o.leaseSeconds(), o.cfg.Lease.Seconds(), ringBatch)
		n = int(tag.RowsAffected())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reviving abandoned jobs: %w", err)
	}
	return n, nil
}

// insertLost inserts jobs for intents that have none alive. River's uniqueness makes a job that
// appears meanwhile harmless.
func (o *Outbox) insertLost(ctx context.Context) (int, error) {
	var jobs []BuyLabel
	err := o.inTx(ctx, "ring", func(ctx context.Context, tx pgx.Tx) error {
		// Of a backlog, both sides are large, whatever the planner believes: EXCEPT passes over each once,
		// and cannot be made a look-up for every row.
		rows, err := tx.Query(ctx, `
			WITH silent AS MATERIALIZED (
				-- As text: what a job names may be no id at all.
				SELECT i.intent_id::text AS intent_id
				FROM label_intents AS i
				WHERE i.state IN ('pending', 'in_doubt')
					AND i.settled_by IS DISTINCT FROM 'person'
					AND i.created_at < now() - $2::interval
				EXCEPT
				SELECT j.args ->> 'intent_id'
				FROM river_job AS j
				WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
					AND j.kind = $1
			)
			SELECT i.intent_id, i.carrier
			FROM silent
			CROSS JOIN LATERAL (
				SELECT * FROM label_intents AS i WHERE i.intent_id = silent.intent_id::uuid LIMIT 1
			) AS i
			LEFT JOIN LATERAL (
				SELECT k.locked_until FROM idempotency_keys AS k
				WHERE k.caller_id = i.caller_id AND k.idem_key = i.idem_key LIMIT 1
			) AS k ON true
			WHERE k.locked_until IS NULL OR k.locked_until <= now()
			ORDER BY i.intent_id
			LIMIT $3`, BuyLabel{}.Kind(), ringGrace, ringBatch)
		if err != nil {
			return err
		}
		jobs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (BuyLabel, error) {
			var job BuyLabel
			err := row.Scan(&job.IntentID, &job.Carrier)
			return job, err
		})
		if err != nil {
			return err
		}
		if err := fault.Point(ctx, "ring", "intents_found"); err != nil {
			return err
		}
		return o.ring(ctx, tx, jobs)
	})
	if err != nil {
		return 0, fmt.Errorf("inserting lost jobs: %w", err)
	}
	return len(jobs), nil
}

// ringForDocuments inserts jobs for documents that are due and have none alive: at most so many, and it
// returns how many.
func (o *Outbox) ringForDocuments(ctx context.Context, most int) (n int, err error) {
	err = o.inTx(ctx, "ring_documents", func(ctx context.Context, tx pgx.Tx) error {
		n, err = insertLostOf(ctx, tx, o.river, most, "l.document_state = 'due'", "l.bought_at",
			func(id uuid.UUID, carrier string) FetchDocument { return FetchDocument{LabelID: id, Carrier: carrier} })
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("inserting jobs for documents: %w", err)
	}
	return n, nil
}

// ringForVoids does the same for voids that are asked for.
func (o *Outbox) ringForVoids(ctx context.Context, most int) (n int, err error) {
	err = o.inTx(ctx, "ring_voids", func(ctx context.Context, tx pgx.Tx) error {
		n, err = insertLostOf(ctx, tx, o.river, most, "l.void_state = 'requested'", "l.void_requested_at",
			func(id uuid.UUID, carrier string) VoidLabel { return VoidLabel{LabelID: id, Carrier: carrier} })
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("inserting jobs for voids: %w", err)
	}
	return n, nil
}

// insertLostOf inserts jobs for labels l that are due by a condition, since a time, and have none alive.
func insertLostOf[T river.JobArgs](
	ctx context.Context, tx pgx.Tx, client *river.Client[pgx.Tx], most int, due, since string, job func(uuid.UUID, string) T,
) (int, error) {
	rows, err := tx.Query(ctx, `
		WITH alive AS MATERIALIZED (
			SELECT j.args ->> 'label_id' AS label_id
			FROM river_job AS j
			WHERE j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
				AND j.kind = $1
		)
		SELECT l.label_id, l.carrier
		FROM labels AS l
		WHERE `+due+` AND `+since+` < now() - $2::interval
			AND NOT EXISTS (SELECT 1 FROM alive WHERE alive.label_id = l.label_id::text)
		ORDER BY `+since+`
		LIMIT $3`, job(uuid.Nil, "").Kind(), ringGrace, most)
	if err != nil {
		return 0, err
	}
	jobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) {
		var id uuid.UUID
		var carrier string
		err := row.Scan(&id, &carrier)
		return job(id, carrier), err
	})
	if err != nil {
		return 0, err
	}
	return len(jobs), insertJobs(ctx, tx, client, jobs)
}
