package simserver

import (
	"context"
	"encoding/json/v2"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"
)

// testBundle is a carrier on a port of its own, with a clock that moves when it is told to.
type testBundle struct {
	*Server
	url  string
	path string

	mu  sync.Mutex
	now time.Time
}

func (b *testBundle) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *testBundle) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

var testStart = time.Date(2026, time.November, 30, 22, 30, 0, 0, time.UTC)

func setup(t *testing.T, change func(*Config)) *testBundle {
	t.Helper()
	b := &testBundle{path: filepath.Join(t.TempDir(), "made", "ledger.jsonl"), now: testStart}
	b.start(t, change)
	return b
}

// start opens the carrier on the bundle's ledger, and may be called again after stop.
func (b *testBundle) start(t *testing.T, change func(*Config)) (stop func()) {
	t.Helper()
	cfg := Config{LedgerPath: b.path, Now: b.clock, Seed: 1, Logger: zaptest.NewLogger(t)}
	if change != nil {
		change(&cfg)
	}
	server, err := Open(cfg)
	require.NoError(t, err)
	front := httptest.NewServer(server)
	b.Server, b.url = server, front.URL
	stop = sync.OnceFunc(func() {
		server.Drain()
		front.Close()
		require.NoError(t, server.Close())
	})
	t.Cleanup(stop)
	return stop
}

const testAddress = `{"name": "N", "street1": "S", "city": "C", "postal_code": "P", "country": "US"}`

func orderBody(reference string) string {
	return `{"reference": "` + reference + `", "service": "ground", "weight_g": 1450, "label_format": "zpl",
		"ship_from": ` + testAddress + `, "ship_to": ` + testAddress + `}`
}

// call makes one request and returns the status and the answer's members.
func (b *testBundle) call(t *testing.T, method, path, body string, header ...string) (int, map[string]any) {
	t.Helper()
	status, raw := b.callRaw(t, method, path, body, header...)
	var members map[string]any
	if len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &members), "%s", raw)
	}
	return status, members
}

func (b *testBundle) callRaw(t *testing.T, method, path, body string, header ...string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, raw
}

func (b *testBundle) buyRef(t *testing.T, reference string, header ...string) (int, map[string]any) {
	t.Helper()
	return b.call(t, "POST", "/labels", orderBody(reference), header...)
}

func TestBuyChargesBeforeItAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	status, label := b.buyRef(t, "REF1", "Idempotency-Key", "carrier:c:k")
	require.Equal(t, 201, status)
	require.Equal(t, "REF1", label["reference"])
	require.EqualValues(t, 645, label["cost_cents"])
	want := []Entry{{
		Seq: 1, Kind: Charge, LabelID: label["label_id"].(string), CarrierKey: "carrier:c:k", Reference: "REF1",
		TrackingNo: label["tracking_no"].(string), AmountCents: 645, Currency: "USD", At: testStart,
	}}
	require.Equal(t, want, b.Entries())

	_, raw := b.callRaw(t, "GET", "/_sim/ledger", "")
	var shown Entry
	require.NoError(t, json.Unmarshal(raw, &shown, json.RejectUnknownMembers(true)))
	require.Equal(t, want[0], shown)
}

func TestKeyedMode(t *testing.T) {
	t.Parallel()
	key := []string{"Idempotency-Key", "carrier:c:k"}

	t.Run("SameKeySameBodyIsTheStoredAnswer", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		_, first := b.callRaw(t, "POST", "/labels", orderBody("REF1"), key...)
		status, second := b.callRaw(t, "POST", "/labels", orderBody("REF1"), key...)
		require.Equal(t, 201, status)
		require.Equal(t, string(first), string(second))
		require.Len(t, b.Entries(), 1)
	})
	t.Run("SameKeyOtherBodyConflicts", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		b.buyRef(t, "REF1", key...)
		status, answer := b.buyRef(t, "REF2", key...)
		require.Equal(t, 409, status)
		require.Equal(t, "key_mismatch", answer["code"])
		require.Len(t, b.Entries(), 1)
	})
	t.Run("ManyAtOnceChargeOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		var wg sync.WaitGroup
		answers := make([]string, 32)
		for i := range answers {
			wg.Go(func() {
				_, raw := b.callRaw(t, "POST", "/labels", orderBody("REF1"), key...)
				answers[i] = string(raw)
			})
		}
		wg.Wait()
		require.Len(t, b.Entries(), 1)
		for _, answer := range answers {
			require.Equal(t, answers[0], answer)
		}
	})
	t.Run("StoredAnswerIsNeitherRefusedNorRepriced", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		_, first := b.buyRef(t, "REF1", key...)
		for _, fault := range []Fault{Refuse, OverPrice} {
			require.NoError(t, b.SetFaults(Faults{Rules: []Rule{{Fault: fault}}}))
			_, again := b.buyRef(t, "REF1", key...)
			require.Equal(t, first, again)
		}
	})
	t.Run("KeyIsForgottenAfterItsWindow", func(t *testing.T) {
		t.Parallel()
		b := setup(t, func(c *Config) { c.Faults.KeyWindowMS = 1000 })
		b.buyRef(t, "REF1", key...)
		b.advance(999 * time.Millisecond)
		b.buyRef(t, "REF1", key...)
		require.Len(t, b.Entries(), 1)
		b.advance(time.Millisecond)
		b.buyRef(t, "REF1", key...)
		require.Len(t, b.Entries(), 2)
	})
	t.Run("WithoutKeyEveryCallCharges", func(t *testing.T) {
		t.Parallel()
		b := setup(t, nil)
		b.buyRef(t, "REF1")
		b.buyRef(t, "REF1")
		require.Len(t, b.Entries(), 2)
	})
}

func TestOtherModesIgnoreTheKey(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Lookup, Blind} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			b := setup(t, func(c *Config) { c.Faults.Mode = mode })
			b.buyRef(t, "REF1", "Idempotency-Key", "carrier:c:k")
			b.buyRef(t, "REF1", "Idempotency-Key", "carrier:c:k")
			require.Len(t, b.Entries(), 2)
			require.Equal(t, "carrier:c:k", b.Entries()[1].CarrierKey, "the witness notes it all the same")
			status, _ := b.call(t, "GET", "/labels?reference=REF1", "")
			require.Equal(t, map[Mode]int{Lookup: 200, Blind: 404}[mode], status)
		})
	}
}

func TestLookupShowsWhatIsOldEnough(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Faults = Faults{Mode: Lookup, LookupLagMS: 5000} })
	b.buyRef(t, "REF1")
	b.buyRef(t, "REF2")
	_, found := b.call(t, "GET", "/labels?reference=REF1", "")
	require.Empty(t, found["labels"])
	b.advance(5 * time.Second)
	_, found = b.call(t, "GET", "/labels?reference=REF1", "")
	require.Len(t, found["labels"], 1)
}

func TestVoid(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	_, label := b.buyRef(t, "REF1")
	path := "/labels/" + label["label_id"].(string) + "/void"

	status, answer := b.call(t, "POST", path, "")
	require.Equal(t, 200, status)
	require.Equal(t, "voided", answer["status"])
	_, answer = b.call(t, "POST", path, "")
	require.Equal(t, map[string]any{"status": "refused", "code": "already_voided"}, answer)
	status, _ = b.call(t, "POST", "/labels/lbl_none/void", "")
	require.Equal(t, 404, status)

	require.Len(t, b.Entries(), 2)
	require.Equal(t, Void, b.Entries()[1].Kind)
	_, found := b.call(t, "GET", "/labels?reference=REF1", "")
	require.Equal(t, "voided", found["labels"].([]any)[0].(map[string]any)["status"])
}

func TestBuyRefusesWhatIsNoOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	good := orderBody("REF1")
	for name, body := range map[string]string{
		"NotJSON":        "{",
		"UnknownMember":  strings.Replace(good, `"service"`, `"gift": true, "service"`, 1),
		"NoReference":    strings.Replace(good, "REF1", "", 1),
		"LongReference":  strings.Replace(good, "REF1", strings.Repeat("R", 36), 1),
		"UnknownService": strings.Replace(good, "ground", "teleport", 1),
		"TooHeavy":       strings.Replace(good, "1450", "70001", 1),
		"WeightIsText":   strings.Replace(good, "1450", `"1450"`, 1),
		"UnknownFormat":  strings.Replace(good, "zpl", "gif", 1),
		"NoAddress":      strings.Replace(good, `"ship_to": `+testAddress, `"ship_to": null`, 1),
		"LineTooLong":    strings.Replace(good, `"name": "N"`, `"name": "`+strings.Repeat("N", 36)+`"`, 1),
		"FlatParcel":     strings.Replace(good, `"service"`, `"dimensions_mm": {"length": 1, "width": 1, "height": 0}, "service"`, 1),
		"Huge":           strings.Repeat(" ", maxOrder) + good,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer := b.call(t, "POST", "/labels", body)
			require.Equal(t, 400, status)
			require.Equal(t, "invalid_request", answer["code"])
		})
	}
	t.Run("LongKey", func(t *testing.T) {
		t.Parallel()
		status, _ := b.buyRef(t, "REF1", "Idempotency-Key", strings.Repeat("k", 256))
		require.Equal(t, 400, status)
	})
	t.Cleanup(func() { require.Empty(t, b.Entries()) })
}

func TestSecret(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Secret = "s" })
	status, _ := b.buyRef(t, "REF1")
	require.Equal(t, 401, status)
	status, _ = b.buyRef(t, "REF1", "Authorization", "Bearer t")
	require.Equal(t, 401, status)
	status, _ = b.buyRef(t, "REF1", "Authorization", "Bearer s")
	require.Equal(t, 201, status)
}

// TestOrderIsCarriedOutForAClientThatHasGone is what makes a timeout mean nothing.
func TestOrderIsCarriedOutForAClientThatHasGone(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, "POST", "/labels", strings.NewReader(orderBody("REF1")))
	b.ServeHTTP(httptest.NewRecorder(), req)
	require.Len(t, b.Entries(), 1)
}
