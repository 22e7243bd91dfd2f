package carriertest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func buys(t *testing.T, b Bench) {
	p := b.purchase("1")
	require.Empty(t, b.Carrier.Check(p.Shipment))

	r := b.buy(t.Context(), p)

	requireBought(t, r)
	require.Equal(t, p.Reference, r.Label.Reference)
	require.Equal(t, p.Shipment.Service, r.Label.Service)
	if _, apart := b.Carrier.(carrier.Documents); !apart {
		require.Equal(t, p.Shipment.Format, r.Label.Document.Format)
		require.NotEmpty(t, r.Label.Document.Content)
	}
	require.NotEmpty(t, r.Label.ID)
	require.False(t, r.Label.Voided)
	want := []Charge{{TrackingNo: r.Label.TrackingNo, Cost: r.Label.Cost}}
	require.Empty(t, gocmp.Diff(want, b.Charges(p.Reference)))
}

// sent is what one purchase put on the wire.
type sent struct {
	header http.Header
	body   []byte
}

// capture buys once and takes the order away before the carrier sees it.
func (b Bench) capture(t *testing.T, p carrier.Purchase) sent {
	t.Helper()
	var s sent
	b.Intercept(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.header = r.Header.Clone()
		s.body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	require.Equal(t, carrier.Unknown, b.Carrier.Buy(t.Context(), p).Outcome)
	require.NotEmpty(t, s.body)
	return s
}

func sameBytes(t *testing.T, b Bench) {
	p := b.prepared(t, b.purchase("1"))
	first, second := b.capture(t, p), b.capture(t, p)
	require.Equal(t, string(first.body), string(second.body))
	require.Equal(t, first.header, second.header)
	if p.RemoteID == "" {
		require.Contains(t, string(first.body), p.Reference)
	}
}

// keyHeader looks for the two headers that make net/http send a POST again by itself.
func keyHeader(t *testing.T, b Bench) {
	short, long := b.purchase("1"), b.purchase("2")
	long.CarrierKey = "carrier:fulfilment:" + strings.Repeat("k", 255)
	for _, p := range []carrier.Purchase{short, long} {
		s := b.capture(t, b.prepared(t, p))
		if b.Carrier.Capabilities().Key == nil {
			require.NotContains(t, s.header, "Idempotency-Key")
			require.NotContains(t, s.header, "X-Idempotency-Key")
			require.False(t, bytes.Contains(s.body, []byte(p.CarrierKey)), "the key is in the body")
			continue
		}
		name := cmp.Or(b.KeyHeader, "Idempotency-Key")
		require.Len(t, s.header.Values(name), 1)
		require.LessOrEqual(t, len(s.header.Get(name)), 255)
	}
}

func sameKey(t *testing.T, b Bench) {
	if b.Carrier.Capabilities().Key == nil {
		return // the promise is not made
	}
	for _, p := range []carrier.Purchase{b.purchase("1"), withLongKey(b.purchase("2"))} {
		first := b.buy(t.Context(), p)
		second := b.buy(t.Context(), p)
		requireBought(t, first)
		require.Empty(t, gocmp.Diff(first, second))
		require.Len(t, b.Charges(p.Reference), 1)
	}

	lost := b.purchase("3")
	b.Fail(ResetAfterCharge)
	require.Equal(t, carrier.Unknown, b.buy(t.Context(), lost).Outcome)
	requireBought(t, b.buy(t.Context(), lost))
	require.Len(t, b.Charges(lost.Reference), 1)

	other := lost
	other.Shipment.WeightG += 1000
	r := b.buy(t.Context(), other)
	require.NotEqual(t, carrier.Bought, r.Outcome, "the key was used with another body")
	require.Len(t, b.Charges(lost.Reference), 1)
}

func withLongKey(p carrier.Purchase) carrier.Purchase {
	p.CarrierKey += strings.Repeat("k", 300)
	return p
}

func rateLimit(t *testing.T, b Bench) {
	p := b.purchase("1")
	b.Fail(RateLimited)
	r := b.buy(t.Context(), p)
	require.Equal(t, carrier.NotBought, r.Outcome)
	require.Positive(t, r.RetryAfter)
	require.Empty(t, b.Charges(p.Reference))
	requireBought(t, b.buy(t.Context(), p))
}

// dyingConnection is the regression test for net/http, which repeats a POST that bears a key when
// a reused connection dies before it was answered: one call, two charges and no error.
func dyingConnection(t *testing.T, b Bench) {
	requireBought(t, b.buy(t.Context(), b.purchase("1"))) // leaves a connection to reuse

	charged := b.prepared(t, b.purchase("2"))
	b.Fail(ResetAfterCharge)
	require.Equal(t, carrier.Unknown, b.buy(t.Context(), charged).Outcome)
	require.Len(t, b.Charges(charged.Reference), 1)

	requireBought(t, b.buy(t.Context(), b.purchase("3")))

	closed := b.prepared(t, b.purchase("4"))
	b.Intercept(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler) // closed without an answer
	}))
	require.Equal(t, carrier.Unknown, b.buy(t.Context(), closed).Outcome)
	require.Empty(t, b.Charges(closed.Reference), "the order was sent a second time")
}

func redirect(t *testing.T, b Bench) {
	var calls atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		p := b.prepared(t, b.purchase("1"))
		b.Intercept(http.RedirectHandler(elsewhere.URL, status))
		require.Equal(t, carrier.Unknown, b.buy(t.Context(), p).Outcome, "status %d", status)
		require.Empty(t, b.Charges(p.Reference))
	}
	require.Zero(t, calls.Load(), "an order was carried to another host")
}

func unreachable(t *testing.T, b Bench) {
	r := b.Unreachable.Buy(t.Context(), b.prepared(t, b.purchase("1")))
	require.Equal(t, carrier.NotBought, r.Outcome)
	require.NotEmpty(t, r.Code)
	require.NotEmpty(t, r.Message)
}

func endedBefore(t *testing.T, b Bench) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := b.prepared(t, b.purchase("1"))
	require.Equal(t, carrier.NotBought, b.buy(ctx, p).Outcome)
	require.Empty(t, b.Charges(p.Reference))
}

func requireBought(t *testing.T, r carrier.Result) {
	t.Helper()
	require.Equal(t, carrier.Bought, r.Outcome, "%s: %s", r.Code, r.Message)
	require.NotNil(t, r.Label)
	require.NotEmpty(t, r.Label.TrackingNo)
}

// Nowhere is the address of a port that nobody listens at: for [Bench.Unreachable].
func Nowhere(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}
