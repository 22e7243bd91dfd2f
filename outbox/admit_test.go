package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fill lets a caller in until it is refused, and returns how often it was.
func (a *admission) fill(caller string) int {
	n := 0
	for !a.full(caller) {
		a.enter(caller)
		n++
	}
	return n
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	const most = 8192
	slow := func(t *testing.T) *admission {
		t.Helper()
		a := newAdmission(100*time.Millisecond, 2, most)
		for range 200 {
			a.flushed(tellingBatch, time.Minute)
		}
		return a
	}

	t.Run("AsManyAsAreCommittedInTime", func(t *testing.T) {
		t.Parallel()
		a := newAdmission(100*time.Millisecond, 2, most)
		for range 200 {
			a.flushed(200, 50*time.Millisecond) // two flushers do 8,000 a second
		}
		require.InDelta(t, 800, a.fill("fulfilment"), 1)
		require.False(t, a.enter("fulfilment"))
		a.leave("fulfilment")
		require.True(t, a.enter("fulfilment"))
	})

	t.Run("OneSlowBatchChangesLittle", func(t *testing.T) {
		t.Parallel()
		a := newAdmission(100*time.Millisecond, 2, most)
		before := a.fill("fulfilment")
		a.flushed(256, time.Minute)
		_, room := a.occupancy()
		require.Greater(t, room/2, before*8/10)
	})

	t.Run("ALoneItemSaysNothingOfTheSpeed", func(t *testing.T) {
		t.Parallel()
		a := newAdmission(100*time.Millisecond, 2, most)
		for range 1000 {
			a.flushed(1, time.Second)
		}
		require.Equal(t, 1000, a.fill("fulfilment"))
	})

	t.Run("NeverFewerThanOneBatch", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, admitAtLeast, slow(t).fill("fulfilment"))
	})

	t.Run("NeverMoreThanTheQueueHolds", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, most, newAdmission(time.Hour, 2, most).fill("fulfilment"))
	})

	t.Run("WhoFloodsLeavesRoomForTheOthers", func(t *testing.T) {
		t.Parallel()
		a := slow(t)
		require.Equal(t, admitAtLeast, a.fill("noisy"))
		require.Equal(t, admitAtLeast/2, a.fill("another"))
		for range admitAtLeast / 8 {
			require.True(t, a.enter("polite"))
		}
		require.False(t, a.enter("noisy"))
	})

	t.Run("NothingIsKeptOfWhoHasLeft", func(t *testing.T) {
		t.Parallel()
		a := slow(t)
		for range a.fill("fulfilment") {
			a.leave("fulfilment")
		}
		underWay, _ := a.occupancy()
		require.Zero(t, underWay)
		require.Empty(t, a.byCaller)
	})
}

// TestAcceptGivesItsPlaceBack: whatever comes of a submission, its place is free again.
func TestAcceptGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	requireFree := func() {
		t.Helper()
		require.Eventually(t, func() bool {
			underWay, _ := b.box.admission.occupancy()
			return underWay == 0
		}, 10*time.Second, time.Millisecond)
	}
	s := submission()
	require.Equal(t, Accepted, b.accept(s).Kind)
	requireFree()
	require.Equal(t, InProgress, b.accept(s).Kind)
	requireFree()

	// Bytes that no text column takes: the batch fails for good, is split, and fails again.
	poison := submission()
	poison.RequestID = "\x00"
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := b.box.Accept(t.Context(), poison)
		if err == nil {
			t.Error("what cannot be stored was accepted")
		}
	}()
	require.Equal(t, Accepted, b.accept(submission()).Kind)
	<-done
	requireFree()

	require.NoError(t, b.box.Close(t.Context()))
	_, err := b.box.Accept(t.Context(), submission())
	require.ErrorIs(t, err, ErrUnavailable)
	requireFree()
}
