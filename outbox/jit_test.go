package outbox

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestNothingIsCompiled: forbidding a plan makes it count as dear, and what is dear is compiled before
// it runs. Claims took seconds for a table that is empty.
func TestNothingIsCompiled(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	var jit string
	require.NoError(t, b.box.inTx(t.Context(), "test", func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SHOW jit`).Scan(&jit)
	}))
	require.Equal(t, "off", jit)
}
