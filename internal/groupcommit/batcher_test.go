package groupcommit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/internal/groupcommit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Bounds of waiting for a goroutine to have queued its item.
const (
	waitLimit = 10 * time.Second
	waitTick  = 100 * time.Microsecond
)

var errPoison = errors.New("poison")

// recorder is a flush that can be held, and remembers the batches it got.
type recorder struct {
	mu      sync.Mutex
	batches [][]int
	entered chan struct{} // one token for each flush that has begun
	release chan struct{} // one token lets one flush end; nil: never held
}

func (r *recorder) flush(_ context.Context, items []int) ([]int, error) {
	if r.release != nil {
		r.entered <- struct{}{}
		<-r.release
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, slices.Clone(items))
	if slices.Contains(items, -1) {
		return nil, errPoison
	}
	doubled := make([]int, len(items))
	for i, v := range items {
		doubled[i] = 2 * v
	}
	return doubled, nil
}

func held() *recorder {
	return &recorder{entered: make(chan struct{}, 100), release: make(chan struct{}, 100)}
}

func start(t *testing.T, cfg groupcommit.Config, r *recorder) *groupcommit.Batcher[int, int] {
	t.Helper()
	b := groupcommit.New(context.WithoutCancel(t.Context()), cfg, r.flush)
	t.Cleanup(func() {
		if r.release != nil {
			close(r.release)
		}
		require.NoError(t, b.Close(context.WithoutCancel(t.Context())))
	})
	return b
}

// submit hands items over in order and returns a function that collects their results.
func submit(t *testing.T, b *groupcommit.Batcher[int, int], items ...int) func() ([]int, []error) {
	t.Helper()
	values, errs := make([]int, len(items)), make([]error, len(items))
	var wg sync.WaitGroup
	for i, item := range items {
		depth := b.Depth()
		wg.Go(func() { values[i], errs[i] = b.Do(t.Context(), item) })
		require.Eventually(t, func() bool { return b.Depth() > depth }, waitLimit, waitTick)
	}
	return func() ([]int, []error) { wg.Wait(); return values, errs }
}

func TestBatcher(t *testing.T) {
	t.Parallel()

	t.Run("LoneItemFlushesAtOnce", func(t *testing.T) {
		t.Parallel()
		r := &recorder{}
		b := start(t, groupcommit.Config{}, r)
		v, err := b.Do(t.Context(), 21)
		require.NoError(t, err)
		require.Equal(t, 42, v)
	})

	t.Run("QueuedItemsShareOneFlushAndGetTheirOwnResult", func(t *testing.T) {
		t.Parallel()
		r := held()
		b := start(t, groupcommit.Config{Flushers: 1, MaxBatch: 3}, r)
		first := make(chan error, 1)
		go func() { _, err := b.Do(t.Context(), 1); first <- err }()
		<-r.entered
		collect := submit(t, b, 2, 3, 4, 5)
		for range 3 {
			r.release <- struct{}{}
		}
		values, errs := collect()
		require.NoError(t, <-first)
		require.Equal(t, []error{nil, nil, nil, nil}, errs)
		require.Equal(t, []int{4, 6, 8, 10}, values)
		require.Equal(t, [][]int{{1}, {2, 3, 4}, {5}}, r.batches)
	})

	t.Run("HeavyItemsEndABatch", func(t *testing.T) {
		t.Parallel()
		r := held()
		weight := func(v int) int { return v }
		b := groupcommit.NewWeighed(context.WithoutCancel(t.Context()),
			groupcommit.Config{Flushers: 1, MaxWeight: 10}, weight, r.flush)
		first := make(chan error, 1)
		go func() { _, err := b.Do(t.Context(), 1); first <- err }()
		<-r.entered
		collect := submit(t, b, 4, 7, 1, 20, 1)
		close(r.release)
		require.NoError(t, b.Close(t.Context()))
		require.NoError(t, <-first)
		values, _ := collect()
		require.Equal(t, []int{8, 14, 2, 40, 2}, values)
		require.Equal(t, [][]int{{1}, {4, 7}, {1, 20}, {1}}, r.batches)
	})

	t.Run("PoisonFailsAlone", func(t *testing.T) {
		t.Parallel()
		r := held()
		splits := func(err error) bool { return errors.Is(err, errPoison) }
		b := start(t, groupcommit.Config{Flushers: 1, Splits: splits}, r)
		first := make(chan error, 1)
		go func() { _, err := b.Do(t.Context(), 1); first <- err }()
		<-r.entered
		collect := submit(t, b, 2, -1, 4)
		for range 10 {
			r.release <- struct{}{}
		}
		values, errs := collect()
		require.NoError(t, <-first)
		require.Equal(t, []int{4, 0, 8}, values)
		require.Equal(t, []error{nil, errPoison, nil}, errs)
	})

	t.Run("AnErrorOfTheWholeBatchIsNotSplit", func(t *testing.T) {
		t.Parallel()
		r := held()
		b := start(t, groupcommit.Config{Flushers: 1}, r)
		first := make(chan error, 1)
		go func() { _, err := b.Do(t.Context(), 1); first <- err }()
		<-r.entered
		collect := submit(t, b, 2, -1)
		for range 2 {
			r.release <- struct{}{}
		}
		_, errs := collect()
		require.NoError(t, <-first)
		require.Equal(t, []error{errPoison, errPoison}, errs)
		require.Len(t, r.batches, 2)
	})

	t.Run("FullQueueRefusesAtOnce", func(t *testing.T) {
		t.Parallel()
		r := held()
		b := start(t, groupcommit.Config{Flushers: 1, Queue: 1}, r)
		first := make(chan error, 1)
		go func() { _, err := b.Do(t.Context(), 1); first <- err }()
		<-r.entered
		collect := submit(t, b, 2)
		_, err := b.TryDo(t.Context(), 3)
		require.ErrorIs(t, err, groupcommit.ErrFull)
		for range 2 {
			r.release <- struct{}{}
		}
		_, errs := collect()
		require.NoError(t, <-first)
		require.Equal(t, []error{nil}, errs)
		require.Equal(t, [][]int{{1}, {2}}, r.batches)
	})

	t.Run("CallerWhoLeavesDoesNotStopItsItem", func(t *testing.T) {
		t.Parallel()
		r := held()
		b := groupcommit.New(context.WithoutCancel(t.Context()), groupcommit.Config{Flushers: 1}, r.flush)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { _, err := b.Do(ctx, 7); gone <- err }()
		<-r.entered
		leave()
		require.ErrorIs(t, <-gone, context.Canceled)
		close(r.release)
		require.NoError(t, b.Close(t.Context()))
		require.Equal(t, [][]int{{7}}, r.batches)
	})

	t.Run("CloseCarriesOutWhatWasTakenAndRefusesMore", func(t *testing.T) {
		t.Parallel()
		r := held()
		b := groupcommit.New(context.WithoutCancel(t.Context()), groupcommit.Config{Flushers: 1}, r.flush)
		first := make(chan error, 1)
		go func() { _, err := b.Do(t.Context(), 1); first <- err }()
		<-r.entered
		collect := submit(t, b, 2, 3)
		close(r.release)
		require.NoError(t, b.Close(t.Context()))
		require.NoError(t, b.Close(t.Context()))
		require.NoError(t, <-first)
		values, errs := collect()
		require.Equal(t, []int{4, 6}, values)
		require.Equal(t, []error{nil, nil}, errs)
		_, err := b.Do(t.Context(), 4)
		require.ErrorIs(t, err, groupcommit.ErrClosed)
	})
}
