package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// sweepBatch bounds one transaction of the sweeper: short locks, little to redo.
const sweepBatch = 1000

// SweepKeys deletes completed keys past their expiry, one batch in one transaction, and returns how
// many; fewer than a thousand means that no more are due. A started key is never deleted, however
// old: its intent may still buy. The intent and the label stay for ever, so a purged key never buys
// again. Any number of sweepers may run at once: each skips what another holds.
func (o *Outbox) SweepKeys(ctx context.Context) (int, error) {
	var n int
	err := o.inTx(ctx, "sweep", func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			DELETE FROM idempotency_keys AS k
			USING (
				SELECT caller_id, idem_key
				FROM idempotency_keys
				WHERE state = 'completed' AND expires_at < now()
				ORDER BY expires_at
				LIMIT $1
				FOR UPDATE SKIP LOCKED
			) AS due
			WHERE k.caller_id = due.caller_id AND k.idem_key = due.idem_key
				-- Said again: the row may have changed between choosing and deleting it.
				AND k.state = 'completed' AND k.expires_at < now()`, sweepBatch)
		n = int(tag.RowsAffected())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping expired keys: %w", err)
	}
	o.cfg.Metrics.sweptKeys.Add(float64(n))
	return n, nil
}

// Gauge reads how many intents are not final, and how old the oldest pending one is, into the metrics.
func (o *Outbox) Gauge(ctx context.Context) error {
	var pending, doubtful int64
	var oldest float64
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err := o.db.QueryRow(ctx, `
		SELECT
			count(*) FILTER (WHERE state = 'pending'),
			count(*) FILTER (WHERE state = 'in_doubt'),
			coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'pending')), 0)::float8
		FROM label_intents
		WHERE state IN ('pending', 'in_doubt')`).Scan(&pending, &doubtful, &oldest)
	if err != nil {
		return fmt.Errorf("counting unfinished intents: %w", err)
	}
	o.cfg.Metrics.intents.WithLabelValues(string(Pending)).Set(float64(pending))
	o.cfg.Metrics.intents.WithLabelValues(string(InDoubt)).Set(float64(doubtful))
	o.cfg.Metrics.oldestPending.Set(oldest)
	return nil
}
