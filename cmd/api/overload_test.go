package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"waybill/internal/problem"
	"waybill/outbox"
)

// TestOverload is about what callers hear when more comes than is committed. How quickly they hear it
// is for make overload to measure.
func TestOverload(t *testing.T) {
	t.Parallel()
	const room = 128 // of one caller, however slow the database is
	b := setupOutbox(t, outbox.Config{AcceptWait: time.Millisecond, Patience: time.Minute})
	b.accepted(t, b.order())
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	var admitted []<-chan answer
	for range room {
		admitted = append(admitted, b.postLater(t, b.order()))
	}
	require.Eventually(t, func() bool { return b.api.outbox.Full("fulfilment") }, 20*time.Second, time.Millisecond)

	var refused []order
	for range 40 {
		o := b.order()
		got := b.post(t, o)
		got.requireProblem(t, problem.Overloaded)
		got.requireRetryAfter(t)
		refused = append(refused, o)
	}
	o := b.order()
	got := b.raw(t, b.head(o, fmt.Sprint("Content-Length: ", len(o.body)), "Expect: 100-continue"), 1)
	require.Len(t, got, 1)
	got[0].requireProblem(t, problem.Overloaded)
	for range room / 4 { // Somebody else still gets in.
		admitted = append(admitted, b.postLater(t, b.order(), as(b.other)))
	}

	require.NoError(t, tx.Rollback(t.Context()))
	for _, answered := range admitted {
		require.Equal(t, http.StatusAccepted, (<-answered).status)
	}
	for _, o := range refused {
		intents, jobs := b.stored(t, o)
		require.Zero(t, intents+jobs)
	}
	b.accepted(t, refused[0])
	require.Zero(t, b.logs.FilterLevelExact(zapcore.ErrorLevel).Len(), "whoever is turned away is no error")
}

// TestNoisyCaller: who sends more than its share hears so each time, and nobody else hears anything.
func TestNoisyCaller(t *testing.T) {
	t.Parallel()
	const share, sent = 10, 50
	now := time.Now()
	b := setup(t, func(a *api) { a.limits = newLimiter(share/2, func() time.Time { return now }) })
	said := map[int]int{}
	for i := range sent {
		o := b.order()
		got := b.post(t, o)
		said[got.status]++
		if got.status == http.StatusTooManyRequests {
			got.requireProblem(t, problem.RateLimited)
			got.requireRetryAfter(t)
			intents, jobs := b.stored(t, o)
			require.Zero(t, intents+jobs)
		}
		if i%(sent/share) == 0 {
			b.accepted(t, b.order(), as(b.other))
		}
	}
	require.Equal(t, map[int]int{http.StatusAccepted: share, http.StatusTooManyRequests: sent - share}, said)
}

// TestWaitingHasItsPlaces: when all places to wait in are taken, the order is accepted all the same, and
// the answer comes at once.
func TestWaitingHasItsPlaces(t *testing.T) {
	t.Parallel()
	b := setup(t, func(a *api) { a.waiting = newPlaces(1) })
	first := b.order()
	waits := b.postLater(t, first, header("Prefer", "wait=30"))
	id := b.appears(t, first)
	require.Eventually(t, func() bool { return len(b.api.waiting) == 1 }, 20*time.Second, time.Millisecond)

	second := b.order()
	got := b.post(t, second, header("Prefer", "wait=30"))
	require.Equal(t, http.StatusAccepted, got.status)
	require.Empty(t, got.header.Get("Preference-Applied"), "it was not waited")

	b.purchase(t, id, "")
	require.Equal(t, http.StatusCreated, (<-waits).status)
	require.Eventually(t, func() bool { return len(b.api.waiting) == 0 }, 20*time.Second, time.Millisecond)
}

// TestABodyThatNeverComes: net/http reads the body of a request that is refused without it, so the
// server itself must bound that; and a request that waits for its label may last longer.
func TestABodyThatNeverComes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Positive(t, b.api.mainServer().ReadTimeout)
	b = b.serveWith(t, func(s *http.Server) { s.ReadTimeout = 500 * time.Millisecond })
	got := b.raw(t, "POST /v1/labels HTTP/1.1\r\nHost: api\r\nContent-Length: 100\r\n\r\n{", 2)
	require.Len(t, got, 1, "the connection is closed")
	got[0].requireProblem(t, problem.Unauthenticated)

	o := b.order()
	got = b.raw(t, b.head(o, "Prefer: wait=1", fmt.Sprint("Content-Length: ", len(o.body)))+o.body, 1)
	require.Len(t, got, 1)
	require.Equal(t, http.StatusAccepted, got[0].status)
}

// stopped is a clock that stands still.
type stopped struct{ at time.Time }

func (s stopped) Now() time.Time { return s.at }

func (s stopped) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// TestAFloodIsNotLogged: of those who are turned away in one second some are logged, and all counted.
func TestAFloodIsNotLogged(t *testing.T) {
	t.Parallel()
	const flood = 3000
	core, logs := observer.New(zapcore.InfoLevel)
	logger := zap.New(core, zap.WithClock(stopped{time.Unix(1_700_000_000, 0)}))
	registry := prometheus.NewRegistry()
	a := &api{logger: logger, refusals: newRefusalLogger(logger), metrics: newMetrics(registry), now: time.Now}
	serve := func(err error) {
		handler := a.serve("POST /", func(http.ResponseWriter, *request) error { return err })
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil))
	}
	for range flood {
		serve(outbox.ErrOverloaded)
	}
	require.Equal(t, refusalsLogged+(flood-refusalsLogged)/refusalLoggedEach, logs.Len())
	require.InDelta(t, flood, testutil.ToFloat64(a.metrics.requests.WithLabelValues("503", "POST /")), 0)
	logs.TakeAll()
	serve(outbox.ErrUnavailable)
	require.Equal(t, 1, logs.FilterLevelExact(zapcore.ErrorLevel).Len(), "what is our fault is always logged")
}
