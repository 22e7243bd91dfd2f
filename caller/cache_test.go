package caller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// source stands for the table: it counts the queries and answers what it is told to.
type source struct {
	mu      sync.Mutex
	good    map[string]bool
	queries int
	err     error
}

func (s *source) load(_ context.Context, keyID string) (record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries++
	if s.err != nil {
		return record{}, s.err
	}
	return record{valid: s.good[keyID], caller: Caller{KeyID: keyID}}, nil
}

func TestCache(t *testing.T) {
	t.Parallel()

	type testBundle struct {
		source *source
		cache  *cache
		now    time.Time
	}
	setup := func(t *testing.T) *testBundle {
		t.Helper()
		b := &testBundle{
			source: &source{good: map[string]bool{"good": true}},
			now:    time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		}
		b.cache = newCache(b.source.load, func() time.Time { return b.now })
		return b
	}

	t.Run("AnswersCountForTwoSeconds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for range 3 {
			found, err := b.cache.get(t.Context(), "good")
			require.NoError(t, err)
			require.True(t, found.valid)
		}
		require.Equal(t, 1, b.source.queries)

		b.source.good["good"] = false
		b.now = b.now.Add(remember - time.Nanosecond)
		found, err := b.cache.get(t.Context(), "good")
		require.NoError(t, err)
		require.True(t, found.valid)

		b.now = b.now.Add(time.Nanosecond)
		found, err = b.cache.get(t.Context(), "good")
		require.NoError(t, err)
		require.False(t, found.valid)
		require.Equal(t, 2, b.source.queries)
	})

	t.Run("UnknownIdsAreRememberedToo", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		for range 3 {
			found, err := b.cache.get(t.Context(), "stranger")
			require.NoError(t, err)
			require.False(t, found.valid)
		}
		require.Equal(t, 1, b.source.queries)
	})

	t.Run("ErrorsAreNotRemembered", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.source.err = errors.New("away")
		_, err := b.cache.get(t.Context(), "good")
		require.ErrorIs(t, err, b.source.err)
		b.source.err = nil
		found, err := b.cache.get(t.Context(), "good")
		require.NoError(t, err)
		require.True(t, found.valid)
	})

	t.Run("StrangersAreBoundedAndDisturbNobody", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.cache.get(t.Context(), "good")
		require.NoError(t, err)
		var busy int
		for i := range 3 * maxRecords {
			if _, err := b.cache.get(t.Context(), fmt.Sprint("stranger", i)); errors.Is(err, ErrBusy) {
				busy++
			}
		}
		require.Equal(t, unknownBurst, b.source.queries, "one for the good key, the rest for strangers")
		require.Equal(t, 3*maxRecords-unknownBurst+1, busy)

		b.now = b.now.Add(remember)
		b.cache.strange.AllowN(b.now, unknownPerSecond*2)
		found, err := b.cache.get(t.Context(), "good")
		require.NoError(t, err)
		require.True(t, found.valid, "a key in use is read again whatever strangers do")
	})

	t.Run("MemoryIsBoundedAndStrangersGoFirst", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.cache.get(t.Context(), "good")
		require.NoError(t, err)
		for i := range 2 * maxRecords {
			b.now = b.now.Add(time.Second / unknownPerSecond)
			_, err := b.cache.get(t.Context(), fmt.Sprint("stranger", i))
			require.NoError(t, err)
		}
		require.LessOrEqual(t, len(b.cache.records), maxRecords)
		_, ok := b.cache.lookup("good")
		require.True(t, ok)
	})
}

func TestCacheStormMakesOneQuery(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var queries atomic.Int32
		release := make(chan struct{})
		c := newCache(func(context.Context, string) (record, error) {
			queries.Add(1)
			<-release
			return record{valid: true}, nil
		}, time.Now)

		var group sync.WaitGroup
		for range 1000 {
			group.Go(func() {
				found, err := c.get(context.Background(), "good")
				if err != nil || !found.valid {
					t.Errorf("got %v, %v", found.valid, err)
				}
			})
		}
		impatient, cancel := context.WithCancel(context.Background())
		group.Go(func() {
			if _, err := c.get(impatient, "good"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		// Whoever gives up does so alone, even if the query began on its behalf.
		cancel()
		synctest.Wait()
		close(release)
		group.Wait()
		require.EqualValues(t, 1, queries.Load())
	})
}
