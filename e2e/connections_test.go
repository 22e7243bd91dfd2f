package e2e

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
	"waybill/migrations"
)

// TestConnectionsExhausted: somebody else takes all connections that Postgres has. Callers hear 503 or
// wait, nobody is told what is not so, and everything goes on when there are connections again.
func TestConnectionsExhausted(t *testing.T) {
	t.Parallel()
	const orders, before = 150, 40
	c, err := pgcluster.Start(t.Context(), pgcluster.Config{
		Log: t.Output(), Settings: map[string]string{"max_connections": "30", "superuser_reserved_connections": "3"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), c.URL("postgres")))
	charges := make(chan struct{}, 2*orders)
	carrier := startCarrier(t, simserver.Faults{Mode: simserver.Lookup, LatencyMS: 5, LatencySpreadMS: 20},
		hooks{charged: func(simserver.Entry) { charges <- struct{}{} }})
	s := newStack(t, carrier, settings{
		class: simserver.Lookup, processing: time.Second, database: c.URL("postgres"),
		lease: 3 * time.Second, timeout: time.Second,
	})
	s.startAll()
	accepted := make(chan error, 1)
	go func() { accepted <- s.submitAll(1, orders+1) }()
	for range before {
		<-charges
	}
	taken := takeConnections(t, c.URL("postgres"))
	require.NotEmpty(t, taken)
	// The service's own go back to nobody: they are ended, and others are faster. The witness keeps its.
	_, err = taken[0].Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = 'postgres' AND backend_type = 'client backend' AND application_name = ''`)
	require.NoError(t, err)
	taken = append(taken, takeConnections(t, c.URL("postgres"))...)
	for _, conn := range taken {
		require.NoError(t, conn.Close(t.Context()))
	}
	require.NoError(t, <-accepted)
	require.Empty(t, s.lost())
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
}

// takeConnections connects until the server refuses.
func takeConnections(t *testing.T, databaseURL string) []*pgx.Conn {
	t.Helper()
	var taken []*pgx.Conn
	for {
		conn, err := pgx.Connect(t.Context(), databaseURL+"&application_name=greedy")
		if err != nil {
			require.ErrorContains(t, err, "53300")
			return taken
		}
		taken = append(taken, conn)
	}
}

// TestLocksHeldBySomebodyElse: a session that locks what every event needs delays them, for as long as
// it does; statements give up in time, and are tried again. It locks one table, because whoever locks
// two can be the one that Postgres ends for a deadlock.
func TestLocksHeldBySomebodyElse(t *testing.T) {
	t.Parallel()
	const orders = 60
	carrier := startCarrier(t, simserver.Faults{Mode: simserver.Lookup}, hooks{})
	s := newStack(t, carrier, settings{class: simserver.Lookup, processing: time.Second})
	s.startAll()
	require.NoError(t, s.submitAll(1, orders/2+1))

	tx, err := s.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE idempotency_keys IN EXCLUSIVE MODE`)
	require.NoError(t, err)
	accepted := make(chan error, 1)
	go func() { accepted <- s.submitAll(orders/2+1, orders+1) }()
	eventually(t, 30*time.Second, "somebody was told to come again", func() bool { return s.refusals() > 0 })
	require.Empty(t, s.lost())
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, <-accepted)
	require.Equal(t, ended{purchased: orders}, requireTruth(s))
}

// refusals is how many answers were 503.
func (s *stack) refusals() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, answers := range s.heard {
		for _, a := range answers {
			if a.status == 503 {
				n++
			}
		}
	}
	return n
}
