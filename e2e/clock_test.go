package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
	"waybill/migrations"
)

// The clock leaps by more than a lease, and a call has much longer than another worker needs to take over.
const (
	clockLease   = time.Minute
	clockTimeout = 50 * time.Second
	clockLeap    = 61 * time.Second
)

// clockStack is a service whose Postgres has a clock of its own, and whose carrier holds the first purchase
// before it charges.
type clockStack struct {
	*stack

	cluster *pgcluster.Cluster
	reached chan struct{} // a purchase call has come to the carrier
	looked  chan struct{} // a look-up has
	release chan struct{} // lets the first call go on, when closed
	once    sync.Once
}

func newClockStack(t *testing.T, class simserver.Mode, s settings) *clockStack {
	t.Helper()
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Config{Log: t.Output(), Clock: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Close()) })
	require.NoError(t, migrations.Migrate(t.Context(), cluster.URL("postgres")))
	c := &clockStack{
		cluster: cluster,
		reached: make(chan struct{}, 64), looked: make(chan struct{}, 64), release: make(chan struct{}),
	}
	held := make(chan struct{}, 1)
	held <- struct{}{}
	carrier := startCarrier(t, simserver.Faults{Mode: class}, hooks{around: func(inner http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				c.looked <- struct{}{}
				inner.ServeHTTP(w, r)
				return
			}
			// It has arrived: what becomes of its sender is no matter any more.
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r = r.WithContext(context.WithoutCancel(r.Context()))
			r.Body = io.NopCloser(bytes.NewReader(body))
			c.reached <- struct{}{}
			select {
			case <-held:
				<-c.release
			default: // Only the first is held.
			}
			inner.ServeHTTP(w, r)
		})
	}})
	t.Cleanup(c.letGo) // Else a test that failed would wait for its call.
	s.class, s.database = class, cluster.URL("postgres")
	c.stack = newStack(t, carrier, s)
	return c
}

// letGo lets the first call go on.
func (c *clockStack) letGo() { c.once.Do(func() { close(c.release) }) }

// leap sets the clock of Postgres, and returns when every session has it, which takes a second at most.
func (c *clockStack) leap(offset time.Duration) {
	c.t.Helper()
	set := time.Now()
	require.NoError(c.t, c.cluster.SetClock(offset))
	eventually(c.t, startTimeout, "the clock is off by "+offset.String(), func() bool {
		var now time.Time
		err := c.db.QueryRow(c.t.Context(), `SELECT clock_timestamp()`).Scan(&now)
		return err == nil && (time.Until(now)-offset).Abs() < clockLeap/2 && time.Since(set) > time.Second
	})
}

func await(t *testing.T, what string, event <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	select {
	case <-event:
	case <-ctx.Done():
		require.Fail(t, "it never happens", what)
	}
}

// awaitTakeover waits until another worker has acted on the order whose call is under way, as the class of the
// carrier allows: by the same call again, by look-ups, by leaving it to a person.
func (c *clockStack) awaitTakeover(class simserver.Mode) {
	c.t.Helper()
	switch class {
	case simserver.Keyed:
		await(c.t, "the second call", c.reached)
	case simserver.Lookup:
		await(c.t, "the first look-up", c.looked)
		await(c.t, "the second look-up", c.looked)
	case simserver.Blind:
		c.awaitCount(1, `SELECT count(*) FROM label_intents WHERE state = 'in_doubt' AND settled_by = 'person'`)
	}
}

// TestClock: the clock of Postgres leaps by more than a lease while a purchase call is under way. There is one
// charge and one label, whatever the worker whose call it is, and who may have taken over, think of each other.
func TestClock(t *testing.T) {
	t.Parallel()
	for _, class := range classes {
		whole := settings{lease: clockLease, timeout: clockTimeout, processing: 2 * time.Second}
		begin := func(t *testing.T) *clockStack {
			t.Helper()
			c := newClockStack(t, class, whole)
			c.startAPI()
			c.startWorker()
			_, err := c.post(t.Context(), c.api(), orderOf(1))
			require.NoError(t, err)
			await(t, "the call", c.reached)
			c.startWorker()
			return c
		}
		bought := func(t *testing.T, c *clockStack) {
			t.Helper()
			// What was left to a person is settled by the answer that comes in the end.
			c.awaitCount(1, `SELECT count(*) FROM label_intents WHERE state = 'purchased'`)
			require.Equal(t, ended{purchased: 1}, requireTruth(c.stack))
			require.Len(t, c.carrier.charges(), 1)
		}
		t.Run(string(class)+"/Forward", func(t *testing.T) {
			t.Parallel()
			c := begin(t)
			c.leap(clockLeap) // The lease is over, though its call is not.
			c.awaitTakeover(class)
			c.letGo()
			bought(t, c)
		})
		t.Run(string(class)+"/Back", func(t *testing.T) {
			t.Parallel()
			c := begin(t)
			c.leap(-clockLeap) // The lease lasts for another half a minute. Nobody needs it.
			c.letGo()
			bought(t, c)
		})
		t.Run(string(class)+"/BackAndDead", func(t *testing.T) {
			t.Parallel()
			c := newClockStack(t, class, settings{lease: shortLease, timeout: shortTimeout, processing: time.Second})
			c.startAPI()
			first := c.startWorker()
			_, err := c.post(t.Context(), c.api(), orderOf(1))
			require.NoError(t, err)
			await(t, "the call", c.reached)
			first.kill()
			require.NoError(t, c.cluster.SetClock(-5*time.Second)) // The dead worker's lease lasts so much longer.
			c.letGo()                                              // The order of the dead is carried out.
			c.startWorker()
			want := ended{purchased: 1}
			if class == simserver.Blind {
				want = ended{inDoubt: 1}
			}
			require.Equal(t, want, requireTruth(c.stack))
			require.Len(t, c.carrier.charges(), 1)
		})
		if class == simserver.Lookup {
			// Set back between two look-ups, the next one is half a minute away: safe, and slow.
			continue
		}
		t.Run(string(class)+"/ForwardAndBack", func(t *testing.T) {
			t.Parallel()
			c := begin(t)
			c.leap(clockLeap)
			c.awaitTakeover(class)
			c.leap(0) // What was written meanwhile lies in the future.
			c.letGo()
			bought(t, c)
		})
	}
}

// TestClockWrongWhileOrdering: a clock that is wrong when an order comes, and right again when it is repeated, before
// and after its key is purged, changes no answer.
func TestClockWrongWhileOrdering(t *testing.T) {
	t.Parallel()
	for _, offset := range []time.Duration{-clockLeap, clockLeap} {
		t.Run(offset.String(), func(t *testing.T) {
			t.Parallel()
			c := newClockStack(t, simserver.Keyed, settings{})
			c.letGo()
			c.startAPI()
			c.startWorker()
			c.leap(offset)
			_, err := c.submit(t.Context(), orderOf(1))
			require.NoError(t, err)
			c.leap(0)
			c.awaitCount(1, `SELECT count(*) FROM label_intents WHERE state = 'purchased'`)
			first, err := c.submit(t.Context(), orderOf(1))
			require.NoError(t, err)
			require.Equal(t, "201", first.said())
			_, err = c.db.Exec(t.Context(),
				`UPDATE idempotency_keys SET expires_at = expires_at - interval '2 days' WHERE state = 'completed'`)
			require.NoError(t, err)
			c.awaitCount(0, `SELECT count(*) FROM idempotency_keys`)
			again, err := c.submit(t.Context(), orderOf(1))
			require.NoError(t, err)
			require.Equal(t, string(first.body), string(again.body))
			require.Equal(t, ended{purchased: 1}, requireTruth(c.stack))
		})
	}
}
