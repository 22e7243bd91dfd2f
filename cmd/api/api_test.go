package main

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"waybill/caller"
	"waybill/carrier/catalog"
	"waybill/internal/problem"
	"waybill/internal/service"
	"waybill/internal/testdb"
	"waybill/migrations"
	"waybill/outbox"
)

const carriersYAML = `
default_carrier: sim
default_ship_from: {name: Mill, street1: 1 High St, city: Bath, postal_code: BA1, country: GB}
carriers:
  - {name: sim, kind: sim, base_url: "http://127.0.0.1:1", account: A-1, currency: USD, class: keyed}
`

// testBundle is a whole API on a database of its own. Tests that share one use orders of their own.
type testBundle struct {
	api      *api
	pool     *pgxpool.Pool
	server   *httptest.Server
	logs     *observer.ObservedLogs
	registry *prometheus.Registry

	// stop is what a signal does.
	stop context.CancelFunc

	// key is the API key of fulfilment, other that of another caller; both read and write.
	key, other string

	orders atomic.Int64
}

func setup(t *testing.T, change ...func(*api)) *testBundle {
	t.Helper()
	return setupOutbox(t, outbox.Config{}, change...)
}

// setupOutbox sets up with an outbox of other sizes than usual.
func setupOutbox(t *testing.T, cfg outbox.Config, change ...func(*api)) *testBundle {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	logger := zap.New(core)
	b := &testBundle{pool: testdb.New(t), logs: logs, registry: prometheus.NewRegistry()}
	cfg.Listen = true
	cfg.Poll = 20 * time.Millisecond
	if cfg.AcceptWait == 0 {
		cfg.AcceptWait = time.Minute // A busy machine is no overload.
	}
	cfg.Logger = logger.Named("outbox")
	cfg.Metrics = outbox.NewMetrics(b.registry)
	cfg.Now = time.Now
	box, err := outbox.New(context.Background(), b.pool, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, box.Close(context.Background())) })
	stopping, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	b.stop = stop
	b.api = &api{
		outbox:   box,
		keys:     caller.New(b.pool, time.Now),
		carriers: loadCatalog(t, carriersYAML),
		limits:   newLimiter(1e6, time.Now),
		waiting:  newPlaces(1000),
		ready: service.NewReadiness(func(ctx context.Context) error {
			return migrations.Check(ctx, b.pool)
		}, time.Now),
		metrics:     newMetrics(b.registry),
		logger:      logger,
		refusals:    newRefusalLogger(logger),
		now:         time.Now,
		bodyTimeout: bodyTimeout,
		stopping:    stopping,
	}
	for _, f := range change {
		f(b.api)
	}
	b.key = b.newKey(t, "fulfilment", caller.LabelsWrite, caller.LabelsRead)
	b.other = b.newKey(t, "returns", caller.LabelsWrite, caller.LabelsRead)
	b.server = httptest.NewUnstartedServer(nil)
	b.server.Config = b.api.mainServer()
	b.server.Start()
	t.Cleanup(b.server.Close)
	return b
}

func loadCatalog(t *testing.T, text string) *catalog.Catalog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "carriers.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	carriers, err := catalog.Load(path, func(string) string { return "" })
	require.NoError(t, err)
	return carriers
}

func (b *testBundle) newKey(t *testing.T, callerID string, scopes ...caller.Scope) string {
	t.Helper()
	key, err := b.api.keys.Create(context.Background(), callerID, scopes)
	require.NoError(t, err)
	return key.Reveal()
}

// order is an order nobody else in the test's database has, with its body and its idempotency key.
type order struct {
	id   int64
	body string
	key  string
}

func (b *testBundle) order() order {
	id := b.orders.Add(1)
	return order{
		id:   id,
		body: strings.Replace(validBody, "918273", fmt.Sprint(id), 1),
		key:  fmt.Sprintf("label:%d:1:v1", id),
	}
}

// answer is a response that was read.
type answer struct {
	status int
	header http.Header
	body   string
}

// request changes the request of a test before it is sent.
type change func(*http.Request)

func header(name, value string) change {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func without(name string) change {
	return func(r *http.Request) { r.Header.Del(name) }
}

func as(key string) change { return header("Authorization", "Bearer "+key) }

func (b *testBundle) do(t *testing.T, method, path, body string, changes ...change) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.server.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+b.key)
	for _, change := range changes {
		change(r)
	}
	response, err := b.server.Client().Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	got := answer{status: response.StatusCode, header: response.Header, body: string(text)}
	requireContract(t, r, body, got)
	return got
}

func (b *testBundle) get(t *testing.T, path string, changes ...change) answer {
	t.Helper()
	return b.do(t, http.MethodGet, path, "", changes...)
}

// postLater posts without waiting for the answer.
func (b *testBundle) postLater(t *testing.T, o order, changes ...change) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	go func() {
		// A failed assertion ends this goroutine; the deferred close then ends the test's wait.
		defer close(answers)
		answers <- b.post(t, o, changes...) //nolint:testifylint // See above.
	}()
	return answers
}

func (b *testBundle) post(t *testing.T, o order, changes ...change) answer {
	t.Helper()
	return b.do(t, http.MethodPost, labelsPath, o.body, append([]change{
		header("Content-Type", "application/json"),
		header(keyHeader, o.key),
	}, changes...)...)
}

// accepted posts an order that nobody knows yet and returns its intent.
func (b *testBundle) accepted(t *testing.T, o order, changes ...change) uuid.UUID {
	t.Helper()
	got := b.post(t, o, changes...)
	require.Equal(t, http.StatusAccepted, got.status, got.body)
	return got.intentID(t)
}

func (a answer) intentID(t *testing.T) uuid.UUID {
	t.Helper()
	var body struct {
		IntentID uuid.UUID `json:"intent_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body))
	return body.IntentID
}

// requireProblem checks everything that all problem documents have in common.
func (a answer) requireProblem(t *testing.T, code problem.Code) problem.Document {
	t.Helper()
	require.Equal(t, problem.ContentType, a.header.Get("Content-Type"), a.body)
	var got problem.Document
	require.NoError(t, json.Unmarshal([]byte(a.body), &got), a.body)
	want := problem.New(code, "")
	require.Equal(t, code, got.Code, a.body)
	require.Equal(t, want.Type, got.Type)
	require.Equal(t, want.Title, got.Title)
	require.Equal(t, want.Status, got.Status)
	require.Equal(t, want.Status, a.status)
	require.NotEmpty(t, got.Detail)
	require.NotEmpty(t, got.Instance)
	require.NotEmpty(t, a.header.Get(requestIDHeader))
	return got
}

// notReplayed checks that an answer is the instance of its own request and no saved one.
func (a answer) notReplayed(t *testing.T, got problem.Document) {
	t.Helper()
	require.Empty(t, a.header.Get("Idempotent-Replayed"))
	require.Equal(t, a.header.Get(requestIDHeader), got.Instance)
}

func (a answer) requireRetryAfter(t *testing.T) {
	t.Helper()
	require.Regexp(t, `^[1-9][0-9]*$`, a.header.Get("Retry-After"))
}

// purchase settles an intent as a worker would, and returns the saved answer and the label's id.
func (b *testBundle) purchase(t *testing.T, intentID uuid.UUID, document string) (body string, labelID uuid.UUID) {
	t.Helper()
	labelID = uuid.Must(uuid.NewV7())
	label := outbox.Label{
		ID:         labelID,
		IntentID:   intentID,
		Carrier:    "sim",
		Account:    "A-1",
		Service:    "ground",
		TrackingNo: "SIM" + labelID.String(),
		CostCents:  725,
		Currency:   "USD",
		Format:     "pdf",
		BoughtAt:   time.Now().UTC().Truncate(time.Microsecond),
		VoidState:  "none",
	}
	b.inTx(t, func(ctx context.Context, tx pgx.Tx) {
		require.NoError(t, tx.QueryRow(ctx, `
			INSERT INTO labels (label_id, intent_id, caller_id, order_id, parcel_no, label_version, carrier,
				account, service, tracking_no, cost_cents, currency, label_format, created_by_key,
				carrier_key, reference, carrier_label_id, learned_by, bought_at)
			SELECT $2, intent_id, caller_id, order_id, parcel_no, label_version, $3, $4, $5, $6, $7, $8, $9,
				idem_key, 'carrier:' || caller_id || ':' || idem_key, reference, $2::uuid::text, 'call', $10
			FROM label_intents
			WHERE intent_id = $1
			RETURNING order_id, parcel_no, label_version`,
			intentID, labelID, label.Carrier, label.Account, label.Service, label.TrackingNo, label.CostCents,
			label.Currency, label.Format, label.BoughtAt,
		).Scan(&label.Parcel.OrderID, &label.Parcel.ParcelNo, &label.Parcel.LabelVersion))
		if document != "" {
			exec(ctx, t, tx, `
				INSERT INTO label_documents (label_id, format, content)
				VALUES ($1, 'pdf', $2)`, labelID, []byte(document))
		}
		exec(ctx, t, tx, `
			UPDATE label_intents
			SET state = 'purchased', label_id = $2, finished_at = now()
			WHERE intent_id = $1`, intentID, labelID)
		saveAnswer(ctx, t, tx, intentID, http.StatusCreated, label.Encode())
	})
	return string(label.Encode()), labelID
}

// end settles an intent without a label; the document's instance is the request that ordered it.
func (b *testBundle) end(t *testing.T, intentID uuid.UUID, state outbox.State, code problem.Code) string {
	t.Helper()
	document := problem.New(code, "The carrier said so.")
	document.Instance = "the-first-request"
	document.IntentID = intentID.String()
	document.CarrierCode = "E17"
	document.CarrierMessage = "no such street"
	b.inTx(t, func(ctx context.Context, tx pgx.Tx) {
		exec(ctx, t, tx, `
			UPDATE label_intents
			SET state = $2, finished_at = now(), carrier_code = 'E17', carrier_message = 'no such street'
			WHERE intent_id = $1`, intentID, string(state))
		saveAnswer(ctx, t, tx, intentID, document.Status, document.Encode())
	})
	return string(document.Encode())
}

// doubt leaves an intent to a person.
func (b *testBundle) doubt(t *testing.T, intentID uuid.UUID) {
	t.Helper()
	b.inTx(t, func(ctx context.Context, tx pgx.Tx) {
		exec(ctx, t, tx, `
			UPDATE label_intents
			SET state = 'in_doubt', settled_by = 'person', calls = 1, open_calls = 1, first_called_at = now()
			WHERE intent_id = $1`, intentID)
	})
}

// purge deletes the key as the sweeper would after a day.
func (b *testBundle) purge(t *testing.T, key string) {
	t.Helper()
	b.inTx(t, func(ctx context.Context, tx pgx.Tx) {
		exec(ctx, t, tx, `
			DELETE FROM idempotency_keys
			WHERE idem_key = $1
			  AND state = 'completed'`, key)
	})
}

func saveAnswer(ctx context.Context, t *testing.T, tx pgx.Tx, intentID uuid.UUID, status int, body []byte) {
	t.Helper()
	exec(ctx, t, tx, `
		UPDATE idempotency_keys AS k
		SET state = 'completed', response_status = $2, response_body = $3, expires_at = now() + interval '1 day'
		FROM label_intents AS i
		WHERE i.intent_id = $1
		  AND i.caller_id = k.caller_id
		  AND i.idem_key = k.idem_key
		  AND k.state = 'started'`, intentID, status, body)
}

func (b *testBundle) inTx(t *testing.T, do func(context.Context, pgx.Tx)) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	require.NoError(t, pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		do(ctx, tx)
		return nil
	}))
}

// exec runs a statement that must change exactly one row.
func exec(ctx context.Context, t *testing.T, tx pgx.Tx, sql string, args ...any) {
	t.Helper()
	tag, err := tx.Exec(ctx, sql, args...)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected(), sql)
}

// stored counts what the database holds of an order: intents and jobs.
func (b *testBundle) stored(t *testing.T, o order) (intents, jobs int) {
	t.Helper()
	require.NoError(t, b.pool.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM label_intents WHERE order_id = $1),
		       (SELECT count(*) FROM river_job, label_intents
		        WHERE order_id = $1 AND args ->> 'intent_id' = label_intents.intent_id::text)`,
		o.id).Scan(&intents, &jobs))
	return intents, jobs
}
