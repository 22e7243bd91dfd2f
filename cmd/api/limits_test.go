package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/problem"
)

// raw sends bytes as they are, which no HTTP client would, and reads the answers until the server
// closes or has answered as often as it should.
func (b *testBundle) raw(t *testing.T, text string, answers int) []answer {
	t.Helper()
	return b.exchange(t, text, answers, false)
}

// exchange is raw; halfClosed ends the client's half of the connection when all is sent.
func (b *testBundle) exchange(t *testing.T, text string, answers int, halfClosed bool) []answer {
	t.Helper()
	conn := b.dial(t)
	_, _ = io.WriteString(conn, text) // the server may close before it has read everything
	if halfClosed {
		require.NoError(t, conn.CloseWrite())
	}
	reader := bufio.NewReader(conn)
	var got []answer
	for range answers {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			break
		}
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		got = append(got, answer{response.StatusCode, response.Header, string(body)})
	}
	if len(got) > 0 && got[0].header.Get(requestIDHeader) != "" { // else net/http has refused what is no HTTP
		line := strings.Fields(text)
		r, err := http.NewRequestWithContext(t.Context(), line[0], line[1], nil)
		require.NoError(t, err)
		requireContract(t, r, "", got[0])
	}
	return got
}

// dial opens a connection that ends with the test, and with a test that hangs.
func (b *testBundle) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", b.server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn.(*net.TCPConn)
}

// serveWith is the same API behind a server with other settings.
func (b *testBundle) serveWith(t *testing.T, change func(*http.Server)) *testBundle {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = b.api.mainServer()
	change(server.Config)
	server.Start()
	t.Cleanup(server.Close)
	return &testBundle{api: b.api, pool: b.pool, server: server, key: b.key, other: b.other}
}

func (b *testBundle) head(o order, lines ...string) string {
	return "POST /v1/labels HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer " + b.key +
		"\r\nIdempotency-Key: " + o.key + "\r\nContent-Type: application/json\r\n" +
		strings.Join(lines, "\r\n") + "\r\n\r\n"
}

func TestRawRequests(t *testing.T) {
	t.Parallel()
	b := setup(t, func(a *api) { a.bodyTimeout = 300 * time.Millisecond })

	t.Run("ASlowBodyIsAnswered408", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		got := b.raw(t, b.head(o, fmt.Sprint("Content-Length: ", len(o.body)))+o.body[:10], 2)
		require.Len(t, got, 1, "the connection is closed")
		got[0].requireProblem(t, problem.RequestTimeout)
		intents, _ := b.stored(t, o)
		require.Zero(t, intents)
	})

	t.Run("ASlowBodyUnderAKnownKeyIsNoOtherBody", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.accepted(t, o)
		got := b.raw(t, b.head(o, fmt.Sprint("Content-Length: ", len(o.body)))+o.body[:10], 1)
		require.Len(t, got, 1)
		got[0].requireProblem(t, problem.RequestTimeout)
	})

	// A client may end its half of the connection and read on. It must hear the truth, or that the
	// truth is not known; never a success that was none.
	t.Run("AHalfClosedClientHearsNoEmptySuccess", func(t *testing.T) {
		t.Parallel()
		for _, prefer := range []string{"X-Nothing: 1", "Prefer: wait=1"} {
			o := b.order()
			got := b.exchange(t, b.head(o, prefer, fmt.Sprint("Content-Length: ", len(o.body)))+o.body, 1, true)
			require.Len(t, got, 1)
			require.Contains(t, []int{http.StatusAccepted, http.StatusServiceUnavailable}, got[0].status)
			require.NotEmpty(t, got[0].body)
		}
	})

	t.Run("ABodyCutOffUnderAKnownKeyIsNoOtherBody", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.accepted(t, o)
		got := b.exchange(t, b.head(o, fmt.Sprint("Content-Length: ", len(o.body)))+o.body[:10], 1, true)
		require.Len(t, got, 1)
		require.NotEqual(t, http.StatusUnprocessableEntity, got[0].status)
	})

	t.Run("TwoKeyLinesAreRefused", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		got := b.raw(t, b.head(o, "idempotency-key: "+o.key, fmt.Sprint("Content-Length: ", len(o.body)))+o.body, 1)
		require.Len(t, got, 1)
		got[0].requireProblem(t, problem.IdempotencyKeyInvalid)
	})

	t.Run("AHeaderFloodIsAnswered431", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		for _, flood := range []string{
			"Cookie: " + strings.Repeat("x", 64<<10),
			strings.Repeat("X-Flood: "+strings.Repeat("x", 50)+"\r\n", 1000) + "X-End: 1",
		} {
			got := b.raw(t, b.head(o, flood, "Content-Length: 0"), 1)
			if len(got) == 1 { // or the connection was reset while we still sent
				require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, got[0].status)
			}
		}
		intents, _ := b.stored(t, o)
		require.Zero(t, intents)
	})

	t.Run("AnEndlessBodyIsCutOff", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		chunk := fmt.Sprintf("%x\r\n%s\r\n", 8<<10, strings.Repeat(" ", 8<<10))
		got := b.raw(t, b.head(o, "Transfer-Encoding: chunked")+strings.Repeat(chunk, 9), 1)
		require.Len(t, got, 1)
		got[0].requireProblem(t, problem.BodyTooLarge)
	})

	t.Run("AmbiguousLengthsSmuggleNothing", func(t *testing.T) {
		t.Parallel()
		o, smuggled := b.order(), b.order()
		inner := b.head(smuggled, fmt.Sprint("Content-Length: ", len(smuggled.body))) + smuggled.body
		chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(o.body), o.body)
		for _, text := range []string{
			// By Content-Length the body ends early and a second request follows in its place.
			b.head(o, "Content-Length: 0", "Content-Length: 5") + inner,
			b.head(o, "Content-Length: 4", "Transfer-Encoding: identity, chunked") + chunked,
			b.head(o, "Transfer-Encoding: chunked", "Transfer-Encoding: identity") + chunked,
			b.head(o, "Content-Length: +4") + inner,
			b.head(o, "Transfer-Encoding : chunked") + chunked,
		} {
			got := b.raw(t, text, 2)
			require.Len(t, got, 1, text[:20])
			require.Contains(t, []int{http.StatusBadRequest, http.StatusNotImplemented}, got[0].status)
		}
		intents, _ := b.stored(t, o)
		require.Zero(t, intents)
		intents, _ = b.stored(t, smuggled)
		require.Zero(t, intents)
	})

	t.Run("ChunksGoBeforeALength", func(t *testing.T) {
		t.Parallel()
		// RFC 9112 lets a server take the chunks, if nothing else: one request, one answer.
		o := b.order()
		chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(o.body), o.body)
		got := b.raw(t, b.head(o, "Content-Length: 4", "Transfer-Encoding: chunked", "Connection: close")+chunked, 2)
		require.Len(t, got, 1)
		require.Equal(t, http.StatusAccepted, got[0].status)
	})
}
