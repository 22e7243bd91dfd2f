//go:build faultinject

package fault_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/fault"
)

func TestPoint(t *testing.T) {
	t.Parallel()

	t.Run("BreaksAtItsHitAndOnce", func(t *testing.T) {
		t.Parallel()
		ctx := fault.With(t.Context(), fault.New(fault.Fault{Point: "claim.begun", Hit: 2, Action: fault.Error}))
		require.NoError(t, fault.Point(ctx, "claim", "begun"))
		require.NoError(t, fault.Point(ctx, "accept", "begun"))
		require.ErrorIs(t, fault.Point(ctx, "claim", "begun"), fault.ErrInjected)
		require.NoError(t, fault.Point(ctx, "claim", "begun"))
	})

	t.Run("ErrorAfterFailsTheNextPoint", func(t *testing.T) {
		t.Parallel()
		ctx := fault.With(t.Context(), fault.New(fault.Fault{Point: "claim.begun", Hit: 1, Action: fault.ErrorAfter}))
		require.NoError(t, fault.Point(ctx, "claim", "begun"))
		require.ErrorIs(t, fault.Point(ctx, "claim", "ended"), fault.ErrInjected)
		require.NoError(t, fault.Point(ctx, "claim", "ended"))
	})

	t.Run("KillAndPauseAreTheInjectors", func(t *testing.T) {
		t.Parallel()
		in := fault.New(
			fault.Fault{Point: "a.b", Hit: 1, Action: fault.Kill},
			fault.Fault{Point: "a.b", Hit: 2, Action: fault.Pause},
		)
		var did []string
		in.Seen = func(point string) { did = append(did, point) }
		in.Kill = func() error { did = append(did, "killed"); return nil }
		in.Pause = func() error { did = append(did, "paused"); return nil }
		ctx := fault.With(t.Context(), in)
		require.NoError(t, fault.Point(ctx, "a", "b"))
		require.NoError(t, fault.Point(ctx, "a", "b"))
		require.Equal(t, []string{"a.b", "killed", "a.b", "paused"}, did)
	})

	t.Run("Panics", func(t *testing.T) {
		t.Parallel()
		ctx := fault.With(t.Context(), fault.New(fault.Fault{Point: "a.b", Hit: 1, Action: fault.Panic}))
		require.PanicsWithValue(t, "injected fault at a.b", func() { _ = fault.Point(ctx, "a", "b") })
	})

	t.Run("NothingIsBrokenUnlessAsked", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, fault.Point(t.Context(), "a", "b"))
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := fault.Parse("claim.begun=kill,complete.begun=delay@2:150ms")
	require.NoError(t, err)
	require.Equal(t, []fault.Fault{
		{Point: "claim.begun", Hit: 1, Action: fault.Kill},
		{Point: "complete.begun", Hit: 2, Action: fault.Delay, For: 150 * time.Millisecond},
	}, got)

	none, err := fault.Parse("")
	require.NoError(t, err)
	require.Empty(t, none)

	for _, bad := range []string{"claim", "=kill", "a.b=explode", "a.b=kill@x", "a.b=delay:soon"} {
		_, err := fault.Parse(bad)
		require.ErrorContains(t, err, bad)
	}
}
