package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"waybill/carrier"
	"waybill/internal/problem"
	"waybill/outbox"
)

// TestSubmit has one case for each row of the contract's table, in its order.
func TestSubmit(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("202AcceptedAsSoonAsItIsCommitted", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		got := b.post(t, o)
		require.Equal(t, http.StatusAccepted, got.status, got.body)
		id := got.intentID(t)
		require.JSONEq(t, fmt.Sprintf(`{"intent_id": %q, "state": "pending", "order_id": %d, "parcel_no": 1,
			"label_version": 1, "carrier": "sim"}`, id, o.id), got.body)
		require.Equal(t, "/v1/intents/"+id.String(), got.header.Get("Location"))
		require.Equal(t, "application/json", got.header.Get("Content-Type"))
		require.Empty(t, got.header.Get("Idempotent-Replayed"))
		got.requireRetryAfter(t)
		intents, jobs := b.stored(t, o)
		require.Equal(t, []int{1, 1}, []int{intents, jobs})
	})

	t.Run("201BoughtWithinTheWait", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		var saved string
		var labelID uuid.UUID
		first := b.postLater(t, o, header("Prefer", "wait=30"))
		saved, labelID = b.purchase(t, b.appears(t, o), "")
		got := <-first
		require.Equal(t, http.StatusCreated, got.status, got.body)
		require.Equal(t, saved, got.body)
		require.Equal(t, "/v1/labels/"+labelID.String(), got.header.Get("Location"))
		require.Equal(t, "wait=30", got.header.Get("Preference-Applied"))
		require.Empty(t, got.header.Get("Idempotent-Replayed"), "the first answer is no replay")
	})

	t.Run("201ReplayIsByteIdentical", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		saved, labelID := b.purchase(t, b.accepted(t, o), "")
		for _, changes := range [][]change{
			nil,
			{header(keyHeader, `"`+o.key+`"`)},
			{header("Prefer", "wait=30")},
		} {
			got := b.post(t, o, changes...)
			require.Equal(t, http.StatusCreated, got.status)
			require.Equal(t, saved, got.body)
			require.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
			require.Equal(t, "/v1/labels/"+labelID.String(), got.header.Get("Location"))
			require.Equal(t, "application/json", got.header.Get("Content-Type"))
		}
	})

	t.Run("201ReplayOfAnotherSpelling", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		saved, _ := b.purchase(t, b.accepted(t, o), "")
		o.body = strings.NewReplacer(`"label_version": 1, `, "", `"label_format": "pdf", `, "", "\n", "\n\n",
			`"Reno"`, `"\u0052eno"`).Replace(o.body)
		require.Equal(t, saved, b.post(t, o).body)
	})

	t.Run("201LateRepeatAfterThePurge", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		saved, _ := b.purchase(t, b.accepted(t, o), "")
		b.purge(t, o.key)
		got := b.post(t, o)
		require.Equal(t, http.StatusCreated, got.status)
		require.Equal(t, saved, got.body)
		require.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
		o.body = strings.Replace(o.body, "1450", "1451", 1)
		b.post(t, o).requireProblem(t, problem.IdempotencyKeyReused)
		intents, _ := b.stored(t, o)
		require.Equal(t, 1, intents)
	})

	t.Run("400IdempotencyKeyMissing", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		got := b.post(t, o, without(keyHeader))
		got.notReplayed(t, got.requireProblem(t, problem.IdempotencyKeyMissing))
	})

	t.Run("400IdempotencyKeyInvalid", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		for _, value := range []string{"", "a b", `"a`, strings.Repeat("k", 256)} {
			b.post(t, o, header(keyHeader, value)).requireProblem(t, problem.IdempotencyKeyInvalid)
		}
		b.post(t, o, func(r *http.Request) { r.Header.Add(keyHeader, o.key) }).
			requireProblem(t, problem.IdempotencyKeyInvalid)
		intents, _ := b.stored(t, o)
		require.Zero(t, intents)
	})

	t.Run("400MalformedJSONStoresNothing", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		whole := o.body
		o.body = whole[:len(whole)-1]
		got := b.post(t, o)
		got.notReplayed(t, got.requireProblem(t, problem.MalformedJSON))
		o.body = whole
		b.accepted(t, o)
	})

	t.Run("400InvalidRequestNamesEveryMember", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		whole := o.body
		o.body = strings.NewReplacer(`"weight_g": 1450`, `"weight_g": 0, "price": 1`, `"US"`, `"us"`,
			`"parcel_no": 1, `, "", `"carrier": "sim"`, `"carrier": "dove"`, `"pdf"`, `"gif"`).Replace(whole)
		got := b.post(t, o).requireProblem(t, problem.InvalidRequest)
		require.Empty(t, cmp.Diff([]string{
			"/price", "/parcel_no", "/weight_g", "/ship_to/country", "/label_format", "/carrier",
		}, pointers(got)))
		o.body = whole
		b.accepted(t, o)
	})

	t.Run("400CarriersOwnLimits", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		o.body = strings.NewReplacer(`"ground"`, `"parachute"`, `2 Low St`, strings.Repeat("long ", 8)).Replace(o.body)
		got := b.post(t, o).requireProblem(t, problem.InvalidRequest)
		require.Equal(t, []string{"/service", "/ship_to/street1"}, pointers(got))
	})

	t.Run("401Unauthenticated", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		got := b.post(t, o, without("Authorization"))
		got.requireProblem(t, problem.Unauthenticated)
		require.Equal(t, "Bearer", got.header.Get("WWW-Authenticate"))
		twice := func(r *http.Request) { r.Header.Add("Authorization", r.Header.Get("Authorization")) }
		b.post(t, o, twice).requireProblem(t, problem.Unauthenticated)
	})

	t.Run("409RequestInProgress", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		id := b.accepted(t, o)
		for _, changes := range [][]change{nil, {header("Prefer", "wait=1")}} {
			got := b.post(t, o, changes...)
			document := got.requireProblem(t, problem.RequestInProgress)
			require.Equal(t, id.String(), document.IntentID)
			got.requireRetryAfter(t)
			got.notReplayed(t, document)
		}
	})

	t.Run("409PurchaseInDoubt", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		id := b.accepted(t, o)
		b.doubt(t, id)
		for _, changes := range [][]change{nil, {header("Prefer", "wait=30")}} {
			got := b.post(t, o, changes...)
			require.Equal(t, id.String(), got.requireProblem(t, problem.PurchaseInDoubt).IntentID)
			got.requireRetryAfter(t)
		}
	})

	t.Run("409PurchaseInDoubtWithinTheWait", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		first := b.postLater(t, o, header("Prefer", "wait=30"))
		b.doubt(t, b.appears(t, o))
		got := <-first
		got.notReplayed(t, got.requireProblem(t, problem.PurchaseInDoubt))
	})

	t.Run("409ParcelAlreadyLabelledBySameCaller", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		id := b.accepted(t, o)
		o.key += ":again"
		o.body = strings.Replace(o.body, "1450", "1451", 1)
		got := b.post(t, o)
		document := got.requireProblem(t, problem.ParcelAlreadyLabelled)
		require.Equal(t, id.String(), document.IntentID)
		got.notReplayed(t, document)
	})

	t.Run("409ParcelAlreadyLabelledByAnotherCallerSaysNothing", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.accepted(t, o)
		for _, body := range []string{o.body, strings.Replace(o.body, "1450", "1451", 1)} {
			o.body = body
			got := b.post(t, o, as(b.other))
			require.Empty(t, got.requireProblem(t, problem.ParcelAlreadyLabelled).IntentID)
		}
	})

	t.Run("SameCallerSameBodyOtherKeyGetsTheSameLabel", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		saved, _ := b.purchase(t, b.accepted(t, o), "")
		o.key += ":again"
		got := b.post(t, o)
		require.Equal(t, http.StatusCreated, got.status)
		require.Equal(t, saved, got.body)
		require.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
	})

	t.Run("413BodyTooLarge", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		o.body += strings.Repeat(" ", maxBody-len(o.body)+1)
		b.post(t, o).requireProblem(t, problem.BodyTooLarge)
		o.body = o.body[:maxBody]
		b.accepted(t, o)
	})

	t.Run("415UnsupportedMediaType", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		for _, c := range []change{
			without("Content-Type"),
			header("Content-Type", "text/plain"),
			header("Content-Type", "application/json; charset=latin1"),
			header("Content-Type", "application/json;;"),
			header("Content-Encoding", "gzip"),
			func(r *http.Request) { r.Header.Add("Content-Type", "application/json") },
		} {
			b.post(t, o, c).requireProblem(t, problem.UnsupportedMediaType)
		}
		b.accepted(t, o, header("Content-Type", "Application/JSON; charset=UTF-8"), header("Content-Encoding", "identity"))
	})

	t.Run("422IdempotencyKeyReusedDuringAndAfter", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		id := b.accepted(t, o)
		other := o
		other.body = strings.Replace(o.body, "1450", "1451", 1)
		got := b.post(t, other)
		require.Equal(t, id.String(), got.requireProblem(t, problem.IdempotencyKeyReused).IntentID)
		b.purchase(t, id, "")
		got = b.post(t, other, header("Prefer", "wait=30"))
		document := got.requireProblem(t, problem.IdempotencyKeyReused)
		require.Equal(t, id.String(), document.IntentID)
		got.notReplayed(t, document)
	})

	t.Run("422IdempotencyKeyReusedGoesBeforeEveryOtherComplaint", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		id := b.accepted(t, o)
		for name, body := range map[string]string{
			"malformed": o.body[:20],
			"unknown":   strings.Replace(o.body, "{", `{"price": 1, `, 1),
			"invalid":   strings.Replace(o.body, "1450", "0", 1),
			"too large": o.body + strings.Repeat(" ", maxBody),
			"carrier's": strings.Replace(o.body, "ground", "parachute", 1),
		} {
			o.body = body
			got := b.post(t, o).requireProblem(t, problem.IdempotencyKeyReused)
			require.Equal(t, id.String(), got.IntentID, name)
		}
	})

	t.Run("422CarrierRejectedIsSavedAndReplayed", func(t *testing.T) {
		t.Parallel()
		b.replaysProblem(t, outbox.Rejected, problem.CarrierRejected)
	})

	t.Run("502CarrierUnavailableIsSavedAndReplayed", func(t *testing.T) {
		t.Parallel()
		b.replaysProblem(t, outbox.Failed, problem.CarrierUnavailable)
	})

	t.Run("KeysAreScopedToTheCaller", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		id := b.accepted(t, o)
		other := b.order()
		other.key = o.key
		require.NotEqual(t, id, b.accepted(t, other, as(b.other)))
	})

	t.Run("KeysAreCaseSensitive", func(t *testing.T) {
		t.Parallel()
		o, other := b.order(), b.order()
		other.key = strings.ToUpper(o.key)
		require.NotEqual(t, b.accepted(t, o), b.accepted(t, other))
	})

	t.Run("DefaultsAreFilledInButNotFingerprinted", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		o.body = fmt.Sprintf(`{"order_id": %d, "parcel_no": 1, "service": "ground", "weight_g": 1,
			"ship_to": {"name": "B", "street1": "s", "city": "c", "postal_code": "1", "country": "US"}}`, o.id)
		b.accepted(t, o)
		var stored carrier.Shipment
		require.NoError(t, b.pool.QueryRow(t.Context(), `
			SELECT request
			FROM label_intents
			WHERE order_id = $1`, o.id).Scan(&stored))
		require.Equal(t, *b.api.carriers.DefaultShipFrom, stored.ShipFrom)
		require.Equal(t, carrier.PDF, stored.Format)
	})
}

// replaysProblem proves that a saved error is replayed as it was saved, while the request's own id is
// always the current one.
func (b *testBundle) replaysProblem(t *testing.T, state outbox.State, code problem.Code) {
	t.Helper()
	o := b.order()
	first := b.postLater(t, o, header("Prefer", "wait=30"))
	saved := b.end(t, b.appears(t, o), state, code)
	got := <-first
	got.requireProblem(t, code)
	require.Equal(t, saved, got.body)
	require.Empty(t, got.header.Get("Idempotent-Replayed"))

	got = b.post(t, o, header(requestIDHeader, "the-second-request"))
	document := got.requireProblem(t, code)
	require.Equal(t, saved, got.body)
	require.Equal(t, "true", got.header.Get("Idempotent-Replayed"))
	require.Equal(t, "the-first-request", document.Instance)
	require.Equal(t, "the-second-request", got.header.Get(requestIDHeader))
	require.Equal(t, "E17", document.CarrierCode)
	require.Equal(t, "no such street", document.CarrierMessage)
}

// appears waits until a request of another goroutine has been accepted.
func (b *testBundle) appears(t *testing.T, o order) (id uuid.UUID) {
	t.Helper()
	require.Eventually(t, func() bool {
		return b.pool.QueryRow(context.WithoutCancel(t.Context()), `
			SELECT intent_id
			FROM label_intents
			WHERE order_id = $1`, o.id).Scan(&id) == nil
	}, 20*time.Second, 5*time.Millisecond)
	return id
}

// waitsForLock is true while something in the test's database waits for a lock.
func (b *testBundle) waitsForLock(t *testing.T) (waits bool) {
	t.Helper()
	require.NoError(t, b.pool.QueryRow(t.Context(), `
		SELECT EXISTS (
			SELECT 1
			FROM pg_stat_activity
			WHERE datname = current_database()
			  AND wait_event_type = 'Lock'
		)`).Scan(&waits))
	return waits
}

// queueDepth is how many submissions wait to be accepted.
func (b *testBundle) queueDepth(t *testing.T) float64 {
	t.Helper()
	families, err := b.registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "waybill_queue_depth" && metric.GetLabel()[0].GetValue() == "accept" {
				return metric.GetGauge().GetValue()
			}
		}
	}
	t.Fatal("there is no waybill_queue_depth")
	return 0
}

func pointers(d problem.Document) []string {
	var at []string
	for _, fault := range d.Errors {
		at = append(at, fault.Pointer)
	}
	return at
}

func TestSubmitUnderOlderRules(t *testing.T) {
	t.Parallel()

	t.Run("ARepeatGetsItsAnswerThoughItWouldBeRefusedToday", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		o := b.order()
		saved, _ := b.purchase(t, b.accepted(t, o), "")
		b.api.carriers = loadCatalog(t, renamedCarriers)

		got := b.post(t, o)
		require.Equal(t, http.StatusCreated, got.status, got.body)
		require.Equal(t, saved, got.body)
		require.Equal(t, "true", got.header.Get("Idempotent-Replayed"))

		fresh := b.order()
		require.Equal(t, []string{"/carrier"}, pointers(b.post(t, fresh).requireProblem(t, problem.InvalidRequest)))
	})
}

const renamedCarriers = `
default_carrier: dove
default_ship_from: {name: Mill, street1: 1 High St, city: Bath, postal_code: BA1, country: GB}
carriers:
  - {name: dove, kind: sim, base_url: "http://127.0.0.1:1", account: A-1, currency: USD, class: keyed}
`

func TestSubmitLimits(t *testing.T) {
	t.Parallel()

	t.Run("429RateLimitedPerCaller", func(t *testing.T) {
		t.Parallel()
		now := time.Now()
		b := setup(t, func(a *api) { a.limits = newLimiter(0.5, func() time.Time { return now }) })
		b.accepted(t, b.order())
		got := b.post(t, b.order())
		got.requireProblem(t, problem.RateLimited)
		got.requireRetryAfter(t)
		b.accepted(t, b.order(), as(b.other))
		now = now.Add(2 * time.Second)
		b.accepted(t, b.order())
	})

	t.Run("503OverloadedStoresNothing", func(t *testing.T) {
		t.Parallel()
		b := setupOutbox(t, outbox.Config{MaxBatch: 1, Queue: 1, Flushers: 1})
		// The one flusher hangs on our lock, the queue holds one more: the third is too many.
		tx, err := b.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), `LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE`)
		require.NoError(t, err)
		hanging, queued, turnedAway := b.order(), b.order(), b.order()
		first := b.postLater(t, hanging)
		require.Eventually(t, func() bool { return b.waitsForLock(t) }, 20*time.Second, 5*time.Millisecond)
		second := b.postLater(t, queued)
		require.Eventually(t, func() bool { return b.queueDepth(t) == 1 }, 20*time.Second, time.Millisecond)
		got := b.post(t, turnedAway)
		got.requireProblem(t, problem.Overloaded)
		got.requireRetryAfter(t)

		require.NoError(t, tx.Rollback(t.Context()))
		require.Equal(t, http.StatusAccepted, (<-first).status)
		require.Equal(t, http.StatusAccepted, (<-second).status)
		intents, _ := b.stored(t, turnedAway)
		require.Zero(t, intents)
		b.accepted(t, turnedAway)
	})

	t.Run("503UnavailableWhenTheDatabaseIsAway", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.accepted(t, b.order())
		b.pool.Close()
		got := b.post(t, b.order())
		got.requireProblem(t, problem.Unavailable)
		got.requireRetryAfter(t)
		require.NotContains(t, got.body, "closed pool")
	})

	t.Run("ClientGoneLosesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		o := b.order()
		ctx, hangUp := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.server.URL+labelsPath, strings.NewReader(o.body))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header = http.Header{
				"Authorization": {"Bearer " + b.key}, "Content-Type": {"application/json"},
				keyHeader: {o.key}, "Prefer": {"wait=30"},
			}
			if response, err := b.server.Client().Do(r); err == nil {
				response.Body.Close()
				t.Error("the client hung up and got an answer")
			}
		}()
		id := b.appears(t, o)
		hangUp()
		<-done
		require.Eventually(t, func() bool {
			return b.logs.FilterField(zap.Int("status", statusClientGone)).Len() == 1
		}, 20*time.Second, 5*time.Millisecond)
		saved, _ := b.purchase(t, id, "")
		require.Equal(t, saved, b.post(t, o).body)
	})

	t.Run("WhoWaitsIsAnsweredWhenTheServiceStops", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		o := b.order()
		first := b.postLater(t, o, header("Prefer", "wait=30"))
		id := b.appears(t, o)
		repeat := b.postLater(t, o, header("Prefer", "wait=30"))
		started := time.Now()
		b.stop()
		for status, answers := range map[int]<-chan answer{http.StatusAccepted: first, http.StatusConflict: repeat} {
			got := <-answers
			require.Equal(t, status, got.status)
			require.Equal(t, id, got.intentID(t))
		}
		require.Less(t, time.Since(started), 20*time.Second)
	})

	t.Run("AWaitOutlastsTheBodysDeadline", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(a *api) { a.bodyTimeout = 500 * time.Millisecond })
		require.Equal(t, http.StatusAccepted, b.post(t, b.order(), header("Prefer", "wait=1")).status)
	})
}

func TestSubmitConcurrently(t *testing.T) {
	t.Parallel()
	const clients = 64

	race := func(t *testing.T, b *testBundle, o order, key func(int) string) map[int]int {
		t.Helper()
		var group sync.WaitGroup
		answers := make([]answer, clients)
		for i := range clients {
			group.Go(func() { answers[i] = b.post(t, order{o.id, o.body, key(i)}) })
		}
		group.Wait()
		statuses := map[int]int{}
		for _, got := range answers {
			statuses[got.status]++
		}
		return statuses
	}

	t.Run("OneKeyMakesOneIntent", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		o := b.order()
		require.Equal(t, map[int]int{http.StatusAccepted: 1, http.StatusConflict: clients - 1},
			race(t, b, o, func(int) string { return o.key }))
		intents, jobs := b.stored(t, o)
		require.Equal(t, []int{1, 1}, []int{intents, jobs})
	})

	t.Run("OneParcelUnderManyKeysMakesOneIntent", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		o := b.order()
		require.Equal(t, map[int]int{http.StatusAccepted: 1, http.StatusConflict: clients - 1},
			race(t, b, o, func(i int) string { return fmt.Sprint(o.key, i) }))
		intents, jobs := b.stored(t, o)
		require.Equal(t, []int{1, 1}, []int{intents, jobs})
	})
}
