package simserver

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFaultsOverHTTP(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Faults.Mode = Lookup })

	status, answer := b.call(t, "PUT", "/_sim/faults", `{"mode": "blind", "rules": [{"fault": "refuse", "count": 2}]}`)
	require.Equal(t, 200, status)
	require.Equal(t, "blind", answer["mode"])
	status, answer = b.buyRef(t, "REF1")
	require.Equal(t, 422, status)
	require.Equal(t, "address_undeliverable", answer["code"])
	_, answer = b.call(t, "GET", "/_sim/faults", "")
	require.EqualValues(t, 1, answer["rules"].([]any)[0].(map[string]any)["count"], "one is left")

	status, _ = b.call(t, "PUT", "/_sim/faults", `{"latency_ms": 0}`)
	require.Equal(t, 200, status)
	_, answer = b.call(t, "GET", "/_sim/faults", "")
	require.Equal(t, map[string]any{"mode": "blind"}, answer, "the mode is kept, the rules are replaced")

	status, _ = b.call(t, "DELETE", "/_sim/faults", "")
	require.Equal(t, 204, status)
	_, answer = b.call(t, "GET", "/_sim/faults", "")
	require.Equal(t, map[string]any{"mode": "lookup"}, answer, "as the server was started")
}

func TestFaultsAreValidated(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for name, body := range map[string]string{
		"NotJSON":          `[`,
		"UnknownMember":    `{"latency": 5}`,
		"UnknownMode":      `{"mode": "magic"}`,
		"NegativeLatency":  `{"latency_ms": -1}`,
		"UnknownFault":     `{"rules": [{"fault": "explode"}]}`,
		"LargeProbability": `{"rules": [{"fault": "refuse", "probability": 1.1}]}`,
		"NegativeCount":    `{"rules": [{"fault": "refuse", "count": -1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, answer := b.call(t, "PUT", "/_sim/faults", body)
			require.Equal(t, 400, status)
			require.NotEmpty(t, answer["message"])
		})
	}
	_, err := Open(Config{Now: time.Now, Faults: Faults{Mode: "magic"}})
	require.ErrorContains(t, err, "magic")
}

func TestDraw(t *testing.T) {
	t.Parallel()
	newBoard := func(seed uint64, rules ...Rule) *switchboard {
		return newSwitchboard(Faults{Rules: rules}, rand.New(rand.NewPCG(seed, 0)))
	}
	draws := func(b *switchboard, n int) (drawn []Fault) {
		for range n {
			drawn = append(drawn, b.draw())
		}
		return drawn
	}

	inOrder := newBoard(1, Rule{Fault: Refuse, Count: 2}, Rule{Fault: Malformed, Count: 1})
	require.Equal(t, []Fault{Refuse, Refuse, Malformed, "", ""}, draws(inOrder, 5))

	always := newBoard(1, Rule{Fault: Refuse})
	require.Equal(t, []Fault{Refuse, Refuse, Refuse}, draws(always, 3))

	sometimes := []Rule{{Fault: Refuse, Probability: 0.25}}
	first := draws(newBoard(7, sometimes...), 1000)
	require.Equal(t, first, draws(newBoard(7, sometimes...), 1000), "the same seed draws alike")
	hits := 0
	for _, f := range first {
		if f == Refuse {
			hits++
		}
	}
	require.InDelta(t, 250, hits, 60)
}

func TestLatency(t *testing.T) {
	t.Parallel()
	b := newSwitchboard(Faults{LatencyMS: 100, LatencySpreadMS: 50}, rand.New(rand.NewPCG(1, 0)))
	for range 1000 {
		d := b.latency()
		require.GreaterOrEqual(t, d, 100*time.Millisecond)
		require.LessOrEqual(t, d, 150*time.Millisecond)
	}
}

func TestLateChargeComesAfterItsAnswer(t *testing.T) {
	t.Parallel()
	charged := make(chan Entry, 1)
	b := setup(t, func(c *Config) {
		c.OnCharge = func(e Entry) { charged <- e }
		c.Faults = Faults{Mode: Lookup, LateMS: 3_600_000, Rules: []Rule{{Fault: ChargeLate, Count: 1}}}
	})
	status, answer := b.buyRef(t, "REF1")
	require.Equal(t, 504, status)
	require.Equal(t, "timeout", answer["code"])
	require.Empty(t, b.Entries())
	_, found := b.call(t, "GET", "/labels?reference=REF1", "")
	require.Empty(t, found["labels"], "a look-up made too early sees nothing")

	b.Drain() // ends the hour of waiting
	require.Equal(t, "REF1", (<-charged).Reference)
	_, found = b.call(t, "GET", "/labels?reference=REF1", "")
	require.Len(t, found["labels"], 1)
}

func TestDrainEndsHangs(t *testing.T) {
	t.Parallel()
	hanging := make(chan struct{})
	b := setup(t, func(c *Config) {
		c.OnHang = func() { close(hanging) }
		c.Faults.Rules = []Rule{{Fault: HangBeforeCharge}}
	})
	go func() {
		<-hanging
		b.Drain()
	}()
	req, err := http.NewRequestWithContext(t.Context(), "POST", b.url+"/labels", strings.NewReader(orderBody("REF1")))
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(req) //nolint:bodyclose // there is no answer
	require.Error(t, err)
	require.Empty(t, b.Entries())
}
