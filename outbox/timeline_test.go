package outbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTimeline: what became of an intent is told in its order, to its caller alone.
func TestTimeline(t *testing.T) {
	t.Parallel()
	b := setup(t, blind)
	b.carrier.will(reply{charge: true, answer: unknown})
	s, id := b.accepted()
	b.workUntilSettled(id)
	require.NoError(t, b.box.Settle(t.Context(), Settlement{
		IntentID: id, Verdict: VerdictGiveUp, Actor: "ops", Why: "their support says so",
	}))
	events, err := b.box.Timeline(t.Context(), s.CallerID, id)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, []string{"buy", "settle"}, []string{events[0].Kind, events[1].Kind})
	require.Equal(t, []string{"unknown", "not_bought_give_up"}, []string{events[0].Outcome, events[1].Outcome})
	require.False(t, events[1].At.Before(events[0].At))

	events, err = b.box.Timeline(t.Context(), "returns", id)
	require.NoError(t, err)
	require.Empty(t, events)
}
