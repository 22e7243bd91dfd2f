//go:build overload

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// phone is the way to a carrier that can be cut, and remembers every purchase call, whether it came
// through or not.
type phone struct {
	mu    sync.Mutex
	cut   bool
	calls []time.Time
}

func (p *phone) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		cut := p.cut
		if r.Method == http.MethodPost {
			p.calls = append(p.calls, time.Now())
		}
		p.mu.Unlock()
		if !cut {
			next.ServeHTTP(w, r)
			return
		}
		panic(http.ErrAbortHandler) // the connection ends without a word
	})
}

func (p *phone) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
}

// between are the calls of a time.
func (p *phone) between(from, to time.Time) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.calls), func(t time.Time) bool { return t.Before(from) || !t.Before(to) })
}

// densest is the most calls in any second.
func densest(calls []time.Time) int {
	most, first := 0, 0
	for i, t := range calls {
		for t.Sub(calls[first]) >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// outage takes the carrier away for a while, under load, and gives it back.
func (o *overload) outage() {
	o.t.Helper()
	p := &phone{}
	carrier := startCarrier(o.t, simserver.Faults{LatencyMS: 10}, hooks{around: p.around})
	rate := max(10, int(.3*o.capacity))
	o.worker.close()
	o.worker = o.start("worker-polite", "worker", append(slices.Clone(o.env), "WAYBILL_CARRIERS="+o.limitedCarriers(carrier.url, rate)))
	defer o.watch(o.api, o.worker)()

	p.set(true)
	load := source{o.createKey("outage"), min(.5*float64(rate), .8*fairShare*o.capacity)}
	away, began := o.duration/2, time.Now()
	shots, err := o.load.open(o.t.Context(), away, load)
	require.NoError(o.t, err)
	f := count(shots, 0, away, -1)
	o.phase("while the carrier is away", f)
	backlog := o.pending()
	p.set(false)
	back := time.Now()
	drain := o.drained()
	o.judgeOutage(p, carrier, f, rate, began, back)
	o.note("backlog when the carrier was back; bought within; at least", fmt.Sprintf("%d; %s; %s",
		backlog, drain.Round(100*time.Millisecond), (time.Duration(backlog)*time.Second/time.Duration(rate)).Round(100*time.Millisecond)))
}

func (o *overload) judgeOutage(p *phone, carrier *carrierBox, f figures, rate int, began, back time.Time) {
	o.t.Helper()
	o.row("accepted while the carrier is away", "everything", fmt.Sprintf("%d of %d", f.accepted, f.sent), f.accepted == f.sent)
	// The breaker opens for five seconds and then lets three through; what was under way when it
	// opened had been sent before.
	tried := p.between(began.Add(2*time.Second), back)
	allowed := 3 * (int(back.Sub(began)/(5*time.Second)) + 1)
	o.row("calls to a carrier that is away, after the first 2 s", fmt.Sprintf("at most %d", allowed), len(tried), len(tried) <= allowed)
	calls := p.between(back, time.Now())
	o.row("most calls in a second once it is back", fmt.Sprintf("%d, the account's rate, and a quarter", rate),
		densest(calls), densest(calls) <= rate*5/4)
	charges, twice := carrier.charges(), 0
	for _, entries := range charges {
		if len(entries) > 1 {
			twice++
		}
	}
	o.row("bought once it is back; twice", "everything; none", fmt.Sprintf("%d of %d; %d", len(charges), f.accepted, twice),
		len(charges) == f.accepted && twice == 0)
}

// limitedCarriers is carriers.yaml with a rate.
func (o *overload) limitedCarriers(url string, rate int) string {
	o.t.Helper()
	text, err := os.ReadFile(writeCarriers(o.t, url, simserver.Keyed, 3*time.Second))
	require.NoError(o.t, err)
	path := filepath.Join(o.t.TempDir(), "carriers.yaml")
	limited := strings.Replace(string(text), "class: keyed", fmt.Sprintf("class: keyed, rate_per_second: %d", rate), 1)
	require.NoError(o.t, os.WriteFile(path, []byte(limited), 0o600))
	return path
}
