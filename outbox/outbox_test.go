package outbox

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"waybill/carrier"
	"waybill/internal/testdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testBundle is an outbox on a database of its own, and a carrier that does as it is told.
type testBundle struct {
	t       *testing.T
	db      *pgxpool.Pool
	box     *Outbox
	carrier *fakeCarrier
	buyer   *Buyer
}

type option func(*Config)

// setup makes a bundle for a carrier with the given capabilities.
func setup(t *testing.T, caps carrier.Capabilities, options ...option) *testBundle {
	t.Helper()
	db := testdb.New(t)
	return setupOn(t, db, newFakeCarrier(t, caps), options...)
}

// setupOn makes another process, as it were, on the same database and carrier.
func setupOn(t *testing.T, db *pgxpool.Pool, fake *fakeCarrier, options ...option) *testBundle {
	t.Helper()
	cfg := Config{
		Lease:  time.Minute,
		Listen: true,
		Policy: Policy{MinSpacing: time.Nanosecond},
		// On a machine that does much else at once nothing is quick, and it is no matter here.
		AcceptWait: time.Minute,
		Logger:     zaptest.NewLogger(t),
		Metrics:    NewMetrics(prometheus.NewRegistry()),
		Now:        time.Now,
	}
	for _, opt := range options {
		opt(&cfg)
	}
	ctx := context.WithoutCancel(t.Context())
	box, err := New(ctx, db, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close(ctx)) })
	buyer, err := box.NewBuyer(map[string]Account{"sim": {Carrier: fake, Timeout: cfg.Lease / 3}})
	require.NoError(t, err)
	return &testBundle{t: t, db: db, box: box, carrier: fake, buyer: buyer}
}

// orders makes order ids that are unique in a test's database and beyond.
var orders atomic.Int64

// submission is a valid request with a key and a parcel of its own.
func submission() Submission {
	n := orders.Add(1)
	s := Submission{
		CallerID:  "fulfilment",
		Key:       fmt.Sprintf("label:%d:1:v1", n),
		RequestID: fmt.Sprintf("request-%d", n),
		Parcel:    Parcel{OrderID: n, ParcelNo: 1, LabelVersion: 1},
		Carrier:   "sim",
		Shipment: carrier.Shipment{
			Service: "ground", WeightG: 1450, Format: carrier.PDF,
			ShipFrom: carrier.Address{Name: "Dock 4", Street1: "1 Main St", City: "Springfield", PostalCode: "62701", Country: "US"},
			ShipTo:   carrier.Address{Name: "A B", Street1: "2 Elm St", City: "Shelbyville", PostalCode: "62565", Country: "US"},
		},
	}
	return s.withBody("body of " + s.Key)
}

// withBody gives a submission the fingerprint of another body.
func (s Submission) withBody(body string) Submission {
	s.Fingerprint = sha256.Sum256([]byte(body))
	return s
}

func (b *testBundle) accept(s Submission) Answer {
	b.t.Helper()
	a, err := b.box.Accept(b.t.Context(), s)
	require.NoError(b.t, err)
	return a
}

// accepted accepts a new submission and returns its intent.
func (b *testBundle) accepted() (Submission, uuid.UUID) {
	b.t.Helper()
	s := submission()
	a := b.accept(s)
	require.Equal(b.t, Accepted, a.Kind)
	return s, a.IntentID
}

// work runs one attempt and returns what River is told.
func (b *testBundle) work(id uuid.UUID) error {
	b.t.Helper()
	return b.buyer.Work(b.t.Context(), &river.Job[BuyLabel]{
		JobRow: &rivertype.JobRow{ID: 1, Attempt: 1},
		Args:   BuyLabel{IntentID: id, Carrier: "sim"},
	})
}

// workUntilSettled runs attempts as River would, without its pauses.
func (b *testBundle) workUntilSettled(id uuid.UUID) {
	b.t.Helper()
	for range 30 {
		if b.work(id) == nil {
			return
		}
	}
	b.t.Fatalf("label intent %s did not settle in 30 attempts", id)
}

// row is an intent as the tests look at it.
type row struct {
	State        State
	SettledBy    Settler
	Attempts     int
	Calls        int
	OpenCalls    int
	Refusals     int
	Deferrals    int
	EmptyLookups int
	Leased       bool
	KeyState     string
	Labels       int
	Jobs         int
}

func (b *testBundle) row(id uuid.UUID) row {
	b.t.Helper()
	var r row
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), `
		SELECT i.state, coalesce(i.settled_by, ''), i.attempts, i.calls, i.open_calls, i.refusals,
			i.deferrals, i.empty_lookups, coalesce(k.locked_until > clock_timestamp(), false), coalesce(k.state, 'purged'),
			(SELECT count(*) FROM labels AS l WHERE l.intent_id = i.intent_id),
			(SELECT count(*) FROM river_job AS j WHERE (j.args ->> 'intent_id')::uuid = i.intent_id)
		FROM label_intents AS i
		LEFT JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		WHERE i.intent_id = $1`, id).Scan(&r.State, &r.SettledBy, &r.Attempts, &r.Calls, &r.OpenCalls,
		&r.Refusals, &r.Deferrals, &r.EmptyLookups, &r.Leased, &r.KeyState, &r.Labels, &r.Jobs))
	return r
}

// count runs a query that returns one number.
func (b *testBundle) count(sql string, args ...any) int {
	b.t.Helper()
	var n int
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

func (b *testBundle) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.db.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}

// expireLease lets an intent's lease end now, as the database's clock would.
func (b *testBundle) expireLease(id uuid.UUID) {
	b.t.Helper()
	b.exec(`
		UPDATE idempotency_keys AS k SET locked_until = clock_timestamp() - interval '1 millisecond'
		FROM label_intents AS i
		WHERE i.intent_id = $1 AND k.caller_id = i.caller_id AND k.idem_key = i.idem_key
			AND k.lease_token IS NOT NULL`, id)
}

// age moves everything an intent has done into the past.
func (b *testBundle) age(id uuid.UUID, by time.Duration) {
	b.t.Helper()
	b.exec(`
		UPDATE label_intents SET
			first_called_at = first_called_at - $2::interval,
			last_call_until = last_call_until - $2::interval,
			last_lookup_at = last_lookup_at - $2::interval,
			not_before = not_before - $2::interval
		WHERE intent_id = $1`, id, by.String())
}

// batches is how many flushes a step has begun.
func (b *testBundle) batches(step string) uint64 {
	b.t.Helper()
	var m dto.Metric
	require.NoError(b.t, b.box.cfg.Metrics.batchSize.WithLabelValues(step).(prometheus.Histogram).Write(&m))
	return m.GetHistogram().GetSampleCount()
}

func value(c prometheus.Collector) float64 { return testutil.ToFloat64(c) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
