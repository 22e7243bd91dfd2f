package main

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/internal/problem"
)

func (b *testBundle) void(t *testing.T, path string, changes ...change) answer {
	t.Helper()
	return b.do(t, http.MethodDelete, path, "", changes...)
}

func TestVoid(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("IsAskedForOnceHoweverOftenItIsSent", func(t *testing.T) {
		t.Parallel()
		id, path := b.bought(t)
		for _, got := range b.atOnce(t, 8, func(int) answer { return b.void(t, path) }) {
			require.Equal(t, http.StatusAccepted, got.status, got.body)
			require.Equal(t, `"v2"`, got.header.Get("ETag"))
			require.Contains(t, got.body, `"void_state":"requested"`)
		}
		var jobs int
		require.NoError(t, b.pool.QueryRow(t.Context(), `
			SELECT count(*) FROM river_job WHERE kind = 'void_label' AND args ->> 'label_id' = $1`, id.String()).Scan(&jobs))
		require.Equal(t, 1, jobs)
	})

	t.Run("SaysWhatCameOfIt", func(t *testing.T) {
		t.Parallel()
		id, path := b.bought(t)
		b.void(t, path)
		_, err := b.pool.Exec(t.Context(), `
			UPDATE labels SET void_state = 'refused', void_code = 'used', void_message = 'scanned', revision = 3
			WHERE label_id = $1`, id)
		require.NoError(t, err)
		b.void(t, path).requireLabel(t, `"v3"`, `"void_state":"refused"`, `"void_code":"used"`, `"void_message":"scanned"`)
		b.get(t, path).requireLabel(t, `"v3"`, `"void_state":"refused"`)
	})

	t.Run("OfAHeldLabelIsNoOffence", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		b.hold(t, path, `{"on": true}`)
		require.Equal(t, http.StatusAccepted, b.void(t, path).status)
	})

	t.Run("MayRestOnARevision", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		b.void(t, path, ifMatch(`"v7"`)).requireProblem(t, problem.PreconditionFailed)
		require.Equal(t, http.StatusAccepted, b.void(t, path, ifMatch(`"v1"`)).status)
		require.Equal(t, http.StatusAccepted, b.void(t, path, ifMatch(`"v1"`)).status, "a repeat whose answer was lost")
	})

	t.Run("OfWhatIsNotThere", func(t *testing.T) {
		t.Parallel()
		b.void(t, labelsPath+"/"+uuid.NewString()).requireProblem(t, problem.NotFound)
	})
}
