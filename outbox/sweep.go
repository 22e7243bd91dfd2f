package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// SweepBatch bounds one transaction of the sweeper: short locks, little to redo.
const SweepBatch = 1000

// SweepKeys deletes completed keys past their expiry, one batch in one transaction, and returns how
// many; fewer than SweepBatch means that no more are due. A started key is never deleted, however
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
				AND k.state = 'completed' AND k.expires_at < now()`, SweepBatch)
		n = int(tag.RowsAffected())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping expired keys: %w", err)
	}
	o.cfg.Metrics.sweptKeys.Add(float64(n))
	return n, nil
}
