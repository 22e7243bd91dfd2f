package e2e

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// rawClient is a client that can hang up in the middle of a word.
type rawClient struct {
	t    *testing.T
	conn *net.TCPConn
}

func dial(t *testing.T, api *process) *rawClient {
	t.Helper()
	u, err := url.Parse(api.url)
	require.NoError(t, err)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", u.Host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{t: t, conn: conn.(*net.TCPConn)}
}

func (c *rawClient) send(text string) {
	c.t.Helper()
	_, err := c.conn.Write([]byte(text))
	require.NoError(c.t, err)
}

// begin sends a head that expects to be asked for the body, and returns when it is: the API has
// begun with the request, and a reset cannot make it unread any more.
func (c *rawClient) begin(head string) {
	c.t.Helper()
	c.send(head)
	text, err := bufio.NewReader(c.conn).ReadString('\n')
	require.NoError(c.t, err)
	require.Contains(c.t, text, " 100 ")
}

// hangUp closes the connection: with a reset, as a client that crashed, or in good order.
func (c *rawClient) hangUp(reset bool) {
	c.t.Helper()
	if reset {
		require.NoError(c.t, c.conn.SetLinger(0))
	}
	require.NoError(c.t, c.conn.Close())
}

// head is everything of an order's request before its body.
func (s *stack) head(o order, requestID string, header ...string) string {
	lines := append([]string{
		"POST /v1/labels HTTP/1.1",
		"Host: api",
		"Authorization: Bearer " + s.key,
		"Idempotency-Key: " + o.key,
		"Content-Type: application/json",
		"X-Request-Id: " + requestID,
		fmt.Sprintf("Content-Length: %d", len(o.body)),
	}, header...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// TestClientGone: wherever in its request a client is lost, the order is there or provably not, and
// repeating it leads to the one truth.
func TestClientGone(t *testing.T) {
	t.Parallel()
	type gone int
	const (
		mustNot gone = iota // what was never sent cannot be accepted
		may
		must // it was seen to be accepted
	)
	expect := []string{"Expect: 100-continue"}
	for n, tc := range []struct {
		name     string
		header   []string
		reset    bool
		leave    func(c *rawClient, head string, o order, hold *gate)
		accepted gone
	}{
		{"BeforeTheBody", nil, false, func(c *rawClient, head string, _ order, _ *gate) {
			c.send(head)
		}, mustNot},
		{"InTheBody", expect, true, func(c *rawClient, head string, o order, _ *gate) {
			c.begin(head)
			c.send(o.body[:len(o.body)/2])
		}, mustNot},
		{"OneByteShort", nil, false, func(c *rawClient, head string, o order, _ *gate) {
			c.send(head + o.body[:len(o.body)-1])
		}, mustNot},
		{"AfterTheBody", nil, false, func(c *rawClient, head string, o order, _ *gate) {
			c.send(head + o.body)
		}, may},
		{"AfterTheBodyByReset", expect, true, func(c *rawClient, head string, o order, _ *gate) {
			c.begin(head)
			c.send(o.body)
		}, may},
		{"WhileWaiting", []string{"Prefer: wait=30"}, true, func(c *rawClient, head string, o order, hold *gate) {
			c.send(head + o.body)
			<-hold.reached // the carrier has it
		}, must},
		{"AfterTheFirstByteOfTheAnswer", nil, true, func(c *rawClient, head string, o order, _ *gate) {
			c.send(head + o.body)
			_, err := bufio.NewReaderSize(c.conn, 1).ReadByte()
			require.NoError(c.t, err)
		}, must},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hold := newGate()
			s := newStack(t, startCarrier(t, simserver.Faults{}, hooks{gate: hold}), settings{})
			api := s.startAPI()
			s.startWorker()
			o, requestID := orderOf(n+1), "gone-"+tc.name

			client := dial(t, api)
			tc.leave(client, s.head(o, requestID, tc.header...), o, hold)
			client.hangUp(tc.reset)
			api.awaitLine("the end of the request", func(l line) bool { return l.RequestID == requestID })

			found, err := s.do(t.Context(), http.MethodGet, api.url+"/v1/intents?idempotency_key="+o.key, "")
			require.NoError(t, err)
			switch tc.accepted {
			case mustNot:
				require.Equal(t, "404 not_found", found.said())
			case may:
				require.Contains(t, []int{http.StatusOK, http.StatusNotFound}, found.status)
			case must:
				require.Equal(t, http.StatusOK, found.status, string(found.body))
			}
			repeated, err := s.post(t.Context(), api, o)
			require.NoError(t, err)
			if found.status == http.StatusOK {
				require.Equal(t, "409 request_in_progress", repeated.said())
				require.Equal(t, found.intentID(), repeated.intentID())
			} else {
				// Not there when it was asked for; a request that was still on its way may have
				// come in between.
				require.Contains(t, []string{"202", "409 request_in_progress"}, repeated.said())
			}
			hold.open()
			require.Equal(t, ended{purchased: 1}, requireTruth(s))
			require.Len(t, s.carrier.charges(), 1)
		})
	}
}
