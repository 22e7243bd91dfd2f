package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// bought is a label of a new order.
func (b *testBundle) bought() (s Submission, label Label) {
	b.t.Helper()
	s, id := b.accepted()
	require.NoError(b.t, b.work(id))
	intent, err := b.box.Intent(b.t.Context(), s.CallerID, id)
	require.NoError(b.t, err)
	return s, b.label(s.CallerID, intent.LabelID)
}

func (b *testBundle) label(callerID string, id uuid.UUID) Label {
	b.t.Helper()
	label, err := b.box.Label(b.t.Context(), callerID, id)
	require.NoError(b.t, err)
	return label
}

func TestRevise(t *testing.T) {
	t.Parallel()

	t.Run("ChangesNothingElseAndNoSavedAnswer", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, was := b.bought()
		saved := b.accept(s)
		now, err := b.box.Revise(t.Context(), s.CallerID, was.ID, Change{Held: new(true), WeightG: new(int64(7))}, nil)
		require.NoError(t, err)
		was.Held, was.WeightG, was.Revision = true, 7, FirstRevision+1
		require.Equal(t, was, now)
		require.Equal(t, was, b.label(s.CallerID, was.ID))
		require.Equal(t, saved, b.accept(s))
		b.exec(`DELETE FROM idempotency_keys`)
		require.Equal(t, saved.Body, b.accept(s).Body, "made again, it is what it was")
	})

	t.Run("IsNobodyElses", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, was := b.bought()
		_, err := b.box.Revise(t.Context(), "returns", was.ID, Change{Held: new(true)}, nil)
		require.ErrorIs(t, err, ErrNotFound)
		require.Equal(t, was, b.label(s.CallerID, was.ID))
	})

	// A writer that waits for the row's lock judges what the other has left, not what it read before.
	t.Run("WaitsForTheOtherAndThenJudges", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, was := b.bought()
		late := make(chan error, 1)
		require.NoError(t, b.box.inTx(t.Context(), "test", func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE labels SET note = 'first', revision = 2 WHERE label_id = $1`, was.ID)
			go func() {
				_, err := b.box.Revise(t.Context(), s.CallerID, was.ID, Change{Note: new("second")}, Condition{1})
				late <- err
			}()
			require.Eventually(t, func() bool {
				return b.count(`SELECT count(*) FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
			}, 20*time.Second, time.Millisecond)
			return err
		}))
		require.ErrorIs(t, <-late, ErrRevised)
		require.Equal(t, "first", b.label(s.CallerID, was.ID).Note)
	})

	// Its COMMIT's answer lost, a change that another has overwritten must not be said not to have been.
	t.Run("DoesNotDenyWhatItMayHaveDone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, was := b.bought()
		r := revising{callerID: s.CallerID, id: was.ID, change: Change{Note: new("mine")}, when: Condition{1}}
		require.NoError(t, b.box.inTx(t.Context(), "test", r.run))
		require.NoError(t, b.box.inTx(t.Context(), "test", r.run))
		require.NoError(t, r.err, "run again, it recognises its own")
		require.EqualValues(t, 2, r.label.Revision)
		_, err := b.box.Revise(t.Context(), s.CallerID, was.ID, Change{Note: new("theirs")}, nil)
		require.NoError(t, err)
		require.NoError(t, b.box.inTx(t.Context(), "test", r.run))
		require.ErrorIs(t, r.err, ErrUnavailable)
		require.Equal(t, "theirs", b.label(s.CallerID, was.ID).Note)
	})
}

// TestReviseProperty plays writers, each with what it has read at some time, against a label that is
// kept on paper.
func TestReviseProperty(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	rapid.Check(t, func(t *rapid.T) {
		s, label := b.bought()
		history := []Label{{}, label} // by revision
		for range rapid.IntRange(1, 8).Draw(t, "writes") {
			var change Change
			if rapid.Bool().Draw(t, "hold") {
				change.Held = new(rapid.Bool().Draw(t, "held"))
			}
			if rapid.Bool().Draw(t, "write") {
				change.Note = new(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "note"))
			}
			var when Condition
			if rapid.Bool().Draw(t, "conditional") {
				when = Condition{rapid.Int64Range(-1, int64(len(history))).Draw(t, "revision")}
			}
			now := history[len(history)-1]
			wanted := change.of(now)
			got, err := b.box.Revise(context.Background(), s.CallerID, label.ID, change, when)
			switch {
			case when != nil && when[0] != now.Revision && (wanted != now || when[0] < 1 || when[0] > now.Revision):
				require.ErrorIs(t, err, ErrRevised)
				require.Equal(t, now, got)
				continue
			case wanted != now:
				wanted.Revision++
				history = append(history, wanted)
			}
			require.NoError(t, err)
			require.Equal(t, wanted, got)
		}
		require.Equal(t, history[len(history)-1], b.label(s.CallerID, label.ID))
	})
}
