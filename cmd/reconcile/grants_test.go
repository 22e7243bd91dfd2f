package main

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// manualGrants are the statements of the manual.
func manualGrants(t *testing.T) []string {
	t.Helper()
	manual, err := os.ReadFile("../../docs/reconcile.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(manual), "```sql\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	return strings.Split(strings.TrimSpace(block), "\n")
}

// as makes a role with some of the manual's grants, and lets the command act in it.
func (b *bundle) as(grants []string) {
	b.t.Helper()
	var role string
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), `SELECT current_database() || '_finance'`).Scan(&role))
	name := pgx.Identifier{role}.Sanitize()
	b.exec(`CREATE ROLE ` + name)
	b.t.Cleanup(func() {
		// Roles are the server's, and outlive the test's database.
		_, err := b.pool.Exec(context.WithoutCancel(b.t.Context()), `DROP OWNED BY `+name+`; DROP ROLE `+name)
		require.NoError(b.t, err)
	})
	for _, grant := range grants {
		before, found := strings.CutSuffix(grant, " TO reconcile;")
		require.True(b.t, found, grant)
		b.exec(before + ` TO ` + name)
	}
	address, err := url.Parse(b.url)
	require.NoError(b.t, err)
	query := address.Query()
	query.Set("options", "-crole="+role)
	address.RawQuery = query.Encode()
	b.url = address.String()
}

func TestTheGrantsOfTheManualAreEnough(t *testing.T) {
	t.Parallel()
	all := manualGrants(t)
	for _, tt := range []struct {
		name   string
		grants []string
		args   []string
	}{
		{"NoStore", all[:1], []string{"--no-store"}},
		{"Store", all[:2], nil},
		{"Settle", all, []string{"--settle"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.doubt(1, "SIM-1")
			b.buy(label{n: 2})
			b.invoiceFile("march.csv", "INV-1", "17.80",
				row{tracking: "SIM000077", ref: reference(1), amount: "8.40"}, row{tracking: tracking(2), amount: "9.40"})
			b.as(tt.grants)
			for range 2 {
				got := b.run(tt.args...)
				require.Equal(t, exitFindings, got.status, got.stderr)
			}
			if tt.name == "NoStore" {
				return
			}
			id := b.exceptionRows()[0]["finding_id"]
			require.Equal(t, exitClean, b.command("findings", "ack", id, "--why=small", "--actor=ann").status)
			require.Equal(t, tt.name == "Settle", b.intentState() == "purchased")
		})
	}
}
