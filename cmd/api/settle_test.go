package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/command"
	"waybill/internal/problem"
)

func TestSettleCommand(t *testing.T) {
	t.Parallel()

	// doubtful is an intent that waits for a person, and the environment of the command.
	doubtful := func(t *testing.T) (*testBundle, order, string, map[string]string) {
		t.Helper()
		b := setup(t)
		o := b.order()
		id := b.accepted(t, o)
		b.doubt(t, id)
		b.post(t, o).requireProblem(t, problem.PurchaseInDoubt)
		return b, o, id.String(), map[string]string{"DATABASE_URL": b.pool.Config().ConnString()}
	}

	t.Run("BoughtBecomesTheAnswer", func(t *testing.T) {
		t.Parallel()
		b, o, id, env := doubtful(t)
		args := []string{
			"settle", id, "--verdict", "bought", "--actor", "jane", "--why", "invoice 4711, line 12",
			"--account", "SIM-1", "--carrier-label-id", "L77", "--tracking-no", "GRD77", "--service", "ground",
			"--cost-cents", "600", "--currency", "USD",
		}
		code, _, stderr := execute(t.Context(), env, args...)
		require.Equal(t, command.OK, code, stderr)
		got := b.post(t, o)
		require.Equal(t, http.StatusCreated, got.status)
		require.Contains(t, got.body, `"tracking_no":"GRD77"`)
		require.Contains(t, got.body, `"label_format":"pdf"`)
		require.NotContains(t, got.body, "4711")

		code, _, stderr = execute(t.Context(), env, args...)
		require.Equal(t, command.Error, code)
		require.Contains(t, stderr, "settled already")
	})

	t.Run("GivingUpIsSaved", func(t *testing.T) {
		t.Parallel()
		b, o, id, env := doubtful(t)
		code, _, stderr := execute(t.Context(), env, "settle", id,
			"--verdict", "not_bought_give_up", "--actor", "jane", "--why", "carrier support, ticket 7")
		require.Equal(t, command.OK, code, stderr)
		b.post(t, o).requireProblem(t, problem.CarrierUnavailable)
	})

	t.Run("MistakesAreToldBeforeAnythingIsOpened", func(t *testing.T) {
		t.Parallel()
		env := map[string]string{"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}
		for says, args := range map[string][]string{
			"no intent id": {"settle", "4711", "--verdict", "not_bought_give_up", "--actor", "a", "--why", "b"},
			"--account":    {"settle", "01a22d9e-2b9b-73bd-8363-f1dd55ee4e7a", "--verdict", "bought", "--actor", "a", "--why", "b"},
			"--why":        {"settle", "01a22d9e-2b9b-73bd-8363-f1dd55ee4e7a", "--verdict", "not_bought_give_up", "--actor", "a"},
			"must be one":  {"settle", "01a22d9e-2b9b-73bd-8363-f1dd55ee4e7a", "--verdict", "maybe", "--actor", "a", "--why", "b"},
		} {
			code, _, stderr := execute(t.Context(), env, args...)
			require.Equal(t, command.Usage, code)
			require.Contains(t, stderr, says)
			require.Contains(t, stderr, "See api settle --help")
		}
	})
}
