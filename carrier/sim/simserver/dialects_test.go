package simserver

import (
	"context"
	"encoding/json/v2"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is one dialect as the tests of all dialects use it.
type wire struct {
	// order makes a purchase ready to be sent: what comes before it has been done.
	order func(t *testing.T, b *testBundle, reference string) *http.Request

	// reference and tracking read a good answer.
	reference func(map[string]any) any
	tracking  func(map[string]any) any

	// status is of a good answer, refused of the one to an address where nothing is delivered, late
	// of the one that comes before a late charge.
	status, refused, late int

	// lookup counts the labels that a look-up shows; nil if there is none.
	lookup func(t *testing.T, b *testBundle, reference string) int
}

// request builds a call that is not sent yet.
func (b *testBundle) request(t *testing.T, method, path, body string, header ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// send returns status 0 if the answer did not come, or not whole.
func send(t *testing.T, req *http.Request) (int, http.Header, map[string]any) {
	t.Helper()
	req.GetBody = nil // else net/http sends a POST with a key again by itself
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, nil
	}
	var members map[string]any
	if json.Unmarshal(raw, &members) != nil {
		return resp.StatusCode, resp.Header, nil
	}
	return resp.StatusCode, resp.Header, members
}

// at follows members and indexes into an answer; it is nil where they lead nowhere.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// testWire holds every fault against the answer it must have, and against the ledger.
func testWire(t *testing.T, mode Mode, w wire) {
	for _, tt := range []struct {
		fault   Fault
		status  int
		charges int
	}{
		{"", w.status, 1},
		{Refuse, w.refused, 0},
		{RateLimited, 429, 0},
		{ErrorBeforeCharge, 500, 0},
		{ErrorAfterCharge, 500, 1},
		{ResetBeforeCharge, 0, 0},
		{ResetAfterCharge, 0, 1},
		{HangBeforeCharge, 0, 0},
		{HangAfterCharge, 0, 1},
		{Malformed, w.status, 1},
		{Truncated, 0, 1},
		{WrongReference, w.status, 1},
		{NoTracking, w.status, 1},
		{OverPrice, w.status, 1},
		{ChargeLate, w.late, 0},
	} {
		t.Run("Fault/"+string(tt.fault), func(t *testing.T) {
			t.Parallel()
			hanging := make(chan struct{}, 1)
			b := setup(t, func(c *Config) {
				c.Faults = Faults{Mode: mode, LateMS: 3_600_000}
				c.OnHang = func() { hanging <- struct{}{} }
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				select {
				case <-hanging:
					cancel()
				case <-ctx.Done():
				}
			}()
			req := w.order(t, b, "REF1").WithContext(ctx)
			if tt.fault != "" {
				require.NoError(t, b.SetFaults(Faults{LateMS: 3_600_000, Rules: []Rule{{Fault: tt.fault, Count: 1}}}))
			}

			status, header, answer := send(t, req)

			require.Equal(t, tt.status, status, "%v", answer)
			require.Len(t, b.Entries(), tt.charges)
			switch tt.fault {
			case "", OverPrice:
				require.Equal(t, b.Entries()[0].TrackingNo, w.tracking(answer))
				if w.reference != nil {
					require.Equal(t, "REF1", w.reference(answer))
				}
				require.Equal(t, tt.fault == OverPrice, b.Entries()[0].AmountCents > surchargeCents)
				if w.lookup != nil {
					require.Equal(t, 1, w.lookup(t, b, "REF1"))
					require.NoError(t, b.SetFaults(Faults{LookupLagMS: 1000}))
					require.Zero(t, w.lookup(t, b, "REF1"))
					b.advance(time.Second)
					require.Equal(t, 1, w.lookup(t, b, "REF1"))
				}
			case RateLimited:
				require.NotEmpty(t, header.Get("Retry-After"))
			case Malformed:
				require.Nil(t, answer)
			case NoTracking:
				require.Contains(t, []any{nil, ""}, w.tracking(answer))
			case WrongReference:
				if w.reference != nil {
					require.Equal(t, "XEF1X", w.reference(answer))
				}
			case ChargeLate:
				b.Drain()
				b.late.Wait()
				require.Len(t, b.Entries(), 1)
			default: // the status and the ledger say it all
			}
		})
	}
}
