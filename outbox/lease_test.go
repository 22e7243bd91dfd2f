package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// However wrong a process's clock is, its lease lasts as long as every other's.
func TestLeasesAreMeasuredByTheDatabase(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"Slow": -time.Hour, "Fast": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, blind, func(c *Config) { c.Now = func() time.Time { return time.Now().Add(skew) } })
			_, id := b.accepted()
			c, err := b.box.claim(t.Context(), id, b.carrier)
			require.NoError(t, err)
			require.Equal(t, granted, c.status)
			other, err := setupOn(t, b.db, b.carrier).box.claim(t.Context(), id, b.carrier)
			require.NoError(t, err)
			require.Equal(t, heldByOther, other.status)
			require.Positive(t, other.wait)
			require.LessOrEqual(t, other.wait, b.box.cfg.Lease)
		})
	}
}

// A label that comes late settles what nobody holds, and nothing else: the holder concludes.
func TestLateBoughtLeavesAHolderAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, byLookup)
	_, id := b.accepted()
	late, err := b.box.claim(t.Context(), id, b.carrier)
	require.NoError(t, err)
	b.expireLease(id)
	_, err = b.box.claim(t.Context(), id, b.carrier)
	require.NoError(t, err)

	label := b.carrier.charge(carrier.Purchase{Reference: late.order.reference, Shipment: carrier.Shipment{Service: "ground", WeightG: 1450}})
	label.Document.Format = carrier.PDF
	item := completeItem{
		lease: late.lease, order: late.order, account: "SIM-1", began: late.before.now, boughtAt: late.before.now,
		labelID:    uuid.Must(uuid.NewV7()),
		conclusion: concludeCall(late.before, carrier.Result{Outcome: carrier.Bought, Label: &label}, byLookup, b.box.cfg.Policy),
	}
	result, err := b.box.completing.Do(t.Context(), item)
	require.NoError(t, err)
	require.Equal(t, lostLease, result)
	require.Equal(t, Pending, b.row(id).State)
	require.True(t, b.row(id).Leased)

	b.expireLease(id)
	result, err = b.box.completing.Do(t.Context(), item)
	require.NoError(t, err)
	require.Equal(t, stored, result)
	require.Equal(t, Purchased, b.row(id).State)
}

// TestBoughtAtIsNeverInTheFuture: a claim that had to wait for the key is no reason to date the purchase
// later than the database's clock.
func TestBoughtAtIsNeverInTheFuture(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	_, id := b.accepted()
	worked := make(chan error, 1)
	require.NoError(t, b.box.inTx(t.Context(), "test", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT FROM idempotency_keys FOR UPDATE`)
		go func() { worked <- b.work(id) }()
		require.Eventually(t, func() bool {
			return b.count(`
				SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock'
					AND clock_timestamp() - query_start > interval '300 milliseconds'`) == 1
		}, 20*time.Second, time.Millisecond)
		return err
	}))
	require.NoError(t, <-worked)
	require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE bought_at <= clock_timestamp()`))
}
