package outbox

import (
	"context"
	"fmt"
)

// Gauge reads into the metrics how many intents are not final, how old the oldest pending one is, and
// how many labels cannot be printed, or are asked to be void and are not yet.
func (o *Outbox) Gauge(ctx context.Context) error {
	var pending, doubtful, left, undocumented, voiding, voidsInDoubt int64
	var oldest float64
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err := o.db.QueryRow(ctx, `
		SELECT
			count(*) FILTER (WHERE state = 'pending'),
			count(*) FILTER (WHERE state = 'in_doubt'),
			count(*) FILTER (WHERE state = 'in_doubt' AND settled_by = 'person'),
			coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE state = 'pending')), 0)::float8,
			(
				SELECT count(*) FROM labels
				WHERE document_state <> 'stored' AND void_state <> 'voided'
					AND bought_at > now() - make_interval(secs => $1)
			),
			(SELECT count(*) FROM labels WHERE void_state = 'requested'),
			(SELECT count(*) FROM labels WHERE void_state = 'in_doubt')
		FROM label_intents
		WHERE state IN ('pending', 'in_doubt')`, documentPatience.Seconds()).Scan(
		&pending, &doubtful, &left, &oldest, &undocumented, &voiding, &voidsInDoubt)
	if err != nil {
		return fmt.Errorf("counting unfinished intents: %w", err)
	}
	o.cfg.Metrics.intents.WithLabelValues(string(Pending)).Set(float64(pending))
	o.cfg.Metrics.intents.WithLabelValues(string(InDoubt)).Set(float64(doubtful))
	o.cfg.Metrics.leftToPerson.Set(float64(left))
	o.cfg.Metrics.oldestPending.Set(oldest)
	o.cfg.Metrics.undocumented.Set(float64(undocumented))
	o.cfg.Metrics.voids.WithLabelValues(VoidRequested).Set(float64(voiding))
	o.cfg.Metrics.voids.WithLabelValues(VoidInDoubt).Set(float64(voidsInDoubt))
	return nil
}
