package outbox

import (
	"context"
	"fmt"
)

// Gauge reads how many intents are not final, and how old the oldest pending one is, into the metrics.
func (o *Outbox) Gauge(ctx context.Context) error {
	var pending, doubtful, left int64
	var oldest float64
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err := o.db.QueryRow(ctx, `
		SELECT
			count(*) FILTER (WHERE state = 'pending'),
			count(*) FILTER (WHERE state = 'in_doubt'),
			count(*) FILTER (WHERE state = 'in_doubt' AND settled_by = 'person'),
			coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'pending')), 0)::float8
		FROM label_intents
		WHERE state IN ('pending', 'in_doubt')`).Scan(&pending, &doubtful, &left, &oldest)
	if err != nil {
		return fmt.Errorf("counting unfinished intents: %w", err)
	}
	o.cfg.Metrics.intents.WithLabelValues(string(Pending)).Set(float64(pending))
	o.cfg.Metrics.intents.WithLabelValues(string(InDoubt)).Set(float64(doubtful))
	o.cfg.Metrics.leftToPerson.Set(float64(left))
	o.cfg.Metrics.oldestPending.Set(oldest)
	return nil
}
