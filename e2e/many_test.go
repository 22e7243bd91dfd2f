package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// TestManyOfEverything: two APIs, two workers and their sweepers at once. Keys expire and are purged
// while others are still being bought; a late repeat still gets the same label, and another body is
// still refused.
func TestManyOfEverything(t *testing.T) {
	t.Parallel()
	const orders, held = 300, 20
	hold := newGate()
	s := newStack(t, startCarrier(t, simserver.Faults{}, hooks{charged: func(e simserver.Entry) {
		if e.Seq > orders-held {
			hold.charged(e) // The last ones stay at the carrier while the others are purged.
		}
	}}), settings{lease: 40 * time.Second, timeout: 30 * time.Second})
	t.Cleanup(hold.open)
	s.startAll()
	require.NoError(t, s.submitAll(1, orders+1))
	for range held {
		<-hold.reached
	}
	s.awaitCount(orders-held, `SELECT count(*) FROM idempotency_keys WHERE state = 'completed'`)
	before, err := s.together(orders, func(ctx context.Context, i int) (answer, error) {
		return s.post(ctx, s.api(), orderOf(i+1))
	})
	require.NoError(t, err)
	requireHeard(s, before, "201", "409 request_in_progress")

	// A day later. Keys that are not completed are as old, and stay.
	_, err = s.db.Exec(t.Context(), `
		UPDATE idempotency_keys
		SET created_at = created_at - interval '2 days', expires_at = expires_at - interval '2 days'`)
	require.NoError(t, err)
	s.awaitCount(held, `SELECT count(*) FROM idempotency_keys`)
	hold.open()
	s.awaitSettled()
	s.awaitCount(held, `SELECT count(*) FROM idempotency_keys WHERE state = 'completed'`)

	late, err := s.together(orders, func(ctx context.Context, i int) (answer, error) {
		return s.post(ctx, s.api(), orderOf(i+1))
	})
	require.NoError(t, err)
	for i := range late {
		require.Equal(t, "201", late[i].said())
		require.Equal(t, "true", late[i].header.Get("Idempotent-Replayed"))
		if before[i].said() == "201" {
			require.Equal(t, string(before[i].body), string(late[i].body))
			require.Equal(t, sameHeaders(before[i].header), sameHeaders(late[i].header))
		}
	}
	others, err := s.together(orders, func(ctx context.Context, i int) (answer, error) {
		return s.post(ctx, s.api(), orderOf(i+1).other())
	})
	require.NoError(t, err)
	requireHeard(s, others, "422 idempotency_key_reused")
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
	require.Len(t, s.carrier.charges(), orders)
	require.Equal(t, held, s.count(`SELECT count(*) FROM idempotency_keys`), "a late repeat stores nothing")
}

// TestJobsEmptied: the intents are the queue of record. All of River's jobs vanish in the middle of
// the work, those that are running too, and every intent still ends.
func TestJobsEmptied(t *testing.T) {
	t.Parallel()
	const orders, held = 200, 30
	hold := newGate()
	carrier := startCarrier(t, simserver.Faults{}, hooks{gate: hold})
	s := newStack(t, carrier, settings{lease: shortLease, timeout: shortTimeout, env: []string{"WAYBILL_MAX_WORKERS=30"}})
	s.startAPI()
	first := s.startWorker()
	require.NoError(t, s.submitAll(1, orders+1))
	for range held {
		<-hold.reached
	}
	var vanished int64
	require.NoError(t, pgx.BeginFunc(t.Context(), s.db, func(tx pgx.Tx) error {
		// Row by row, in whatever order, it could be the one that Postgres ends for a deadlock.
		if _, err := tx.Exec(t.Context(), `LOCK TABLE river_job IN EXCLUSIVE MODE`); err != nil {
			return err
		}
		tag, err := tx.Exec(t.Context(), `DELETE FROM river_job`)
		vanished = tag.RowsAffected()
		return err
	}))
	require.GreaterOrEqual(t, vanished, int64(orders-held))
	hold.open()
	s.startWorker()
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
	require.Len(t, carrier.charges(), orders)
	require.True(t, first.running())
}
