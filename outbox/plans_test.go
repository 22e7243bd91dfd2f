package outbox

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
)

// statement is one statement as it was sent.
type statement struct {
	sql  string
	args []any
}

// eavesdropper notes every statement that a pool sends.
type eavesdropper struct {
	mu         sync.Mutex
	statements []statement
}

func (e *eavesdropper) note(sql string, args []any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.statements = append(e.statements, statement{sql, args})
}

func (e *eavesdropper) heard() []statement {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.statements)
}

func (e *eavesdropper) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	e.note(d.SQL, d.Args)
	return ctx
}

func (e *eavesdropper) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (e *eavesdropper) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (e *eavesdropper) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	e.note(d.SQL, d.Args)
}

func (e *eavesdropper) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// overheard is a pool on a database of the test's own, and who notes what it sends.
func overheard(t *testing.T) (*pgxpool.Pool, *eavesdropper) {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(testdb.URL(t))
	require.NoError(t, err)
	ear := &eavesdropper{}
	cfg.ConnConfig.Tracer = ear
	db, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db, ear
}

// TestNoStepReadsTheBacklog: what a batch costs must not depend on how much waits behind it. The tables
// have no statistics, as in a service's first hours, when the planner takes a backlog for a few rows.
func TestNoStepReadsTheBacklog(t *testing.T) {
	t.Parallel()
	db, ear := overheard(t)
	b := setupOn(t, db, newFakeCarrier(t, keyed))
	var bought, backlog []uuid.UUID
	for range 20 {
		_, id := b.accepted()
		bought = append(bought, id)
	}
	for range 60 {
		_, id := b.accepted()
		backlog = append(backlog, id)
	}
	for _, id := range bought {
		require.NoError(t, b.work(id))
		require.Equal(t, Purchased, b.row(id).State)
	}
	require.Equal(t, Pending, b.row(backlog[0]).State)

	explained := 0
	for _, s := range ear.heard() {
		verb, _, _ := strings.Cut(strings.TrimSpace(s.sql), " ")
		writes := verb == "UPDATE" || verb == "INSERT" || verb == "WITH"
		if !writes || !strings.Contains(s.sql, "label_intents") {
			continue
		}
		explained++
		plan := b.explain(s)
		require.NotContains(t, plan, "label_intents_unfinished", s.sql)
		require.NotContains(t, plan, "Seq Scan on label_intents", s.sql)
	}
	require.Greater(t, explained, 3*len(bought), "claims, journals and completions were heard")
}

// explain is how Postgres would carry out a statement in a transaction of ours.
func (b *testBundle) explain(s statement) (plan string) {
	b.t.Helper()
	require.NoError(b.t, b.box.inTx(b.t.Context(), "test", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "EXPLAIN "+s.sql, s.args...)
		if err != nil {
			return err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		plan = strings.Join(lines, "\n")
		return err
	}))
	return plan
}
