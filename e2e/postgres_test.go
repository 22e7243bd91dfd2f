package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
	"waybill/migrations"
)

// startCluster starts a Postgres of the test's own, with a migrated database.
func startCluster(t *testing.T) *pgcluster.Cluster {
	t.Helper()
	c, err := pgcluster.Start(t.Context(), pgcluster.Config{Log: t.Output()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), c.URL("postgres")))
	return c
}

// TestPostgresRestartedUnderLoad: the database goes away under load, once by a crash and once in good
// order. Clients repeat with the same key, and the truth holds.
func TestPostgresRestartedUnderLoad(t *testing.T) {
	t.Parallel()
	const orders, every = 300, 75
	cluster := startCluster(t)
	charges := make(chan struct{}, 2*orders)
	carrier := startCarrier(t, simserver.Faults{LatencyMS: 5, LatencySpreadMS: 20},
		hooks{charged: func(simserver.Entry) { charges <- struct{}{} }})
	s := newStack(t, carrier, settings{database: cluster.URL("postgres"), lease: 3 * time.Second, timeout: time.Second})
	s.startAll()

	accepted := make(chan error, 1)
	go func() { accepted <- s.submitAll(1, orders+1) }()
	for _, mode := range []pgcluster.StopMode{pgcluster.Immediate, pgcluster.Fast, pgcluster.Immediate} {
		for range every {
			<-charges
		}
		require.NoError(t, cluster.Restart(t.Context(), mode))
	}
	require.NoError(t, <-accepted)
	s.db.Reset() // Our own connections have died too.
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
	require.Len(t, carrier.charges(), orders)
}

// TestThroughPgBouncer: everything works by way of a pooler that hands each transaction to another
// session.
func TestThroughPgBouncer(t *testing.T) {
	t.Parallel()
	const orders = 200
	carrier := startCarrier(t, simserver.Faults{LatencyMS: 5, Rules: []simserver.Rule{
		{Fault: simserver.ResetAfterCharge, Probability: 0.1, Count: 10},
	}}, hooks{})
	s := newStack(t, carrier, settings{pooled: true})
	s.startAll()
	require.NoError(t, s.submitAll(1, orders+1))
	// Nothing can notify those who wait; they hear of it all the same.
	waited, err := s.together(16, func(ctx context.Context, i int) (answer, error) {
		return s.post(ctx, s.api(), orderOf(orders+1+i), "Prefer", "wait=20")
	})
	require.NoError(t, err)
	requireHeard(s, waited, "201")
	require.Equal(t, ended{purchased: orders + 16}, requireTruth(s))
	require.Len(t, carrier.charges(), orders+16)
}
