//go:build overload

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// quietCallers send four fifths of their share each.
	quietCallers = 4

	// fairShare is the part of the capacity that one caller may use.
	fairShare = .1

	// turns is how often quiet and noise take turns: both see the same machine, whatever it does.
	turns = 6
)

// noise lets one caller send ten times its share, and looks at the others. Compared is with the same
// caller keeping to its share, what it may send being nobody's noise, while what it sends beyond goes to
// a bare server that refuses everything: sending, and refusing, cost the one machine the same both times.
func (o *overload) noise() {
	o.t.Helper()
	o.api.close()
	o.api = o.start("api-shares", "api", append([]string{
		fmt.Sprintf("WAYBILL_CALLER_RATE=%.1f", fairShare*o.capacity),
	}, o.env...), "serve")
	defer o.watch(o.api, o.worker)()
	var err error
	o.load, err = newLoader(o.api.address(), o.load.order.Load())
	require.NoError(o.t, err)
	sources := make([]source, quietCallers+1)
	for i := range sources {
		sources[i] = source{o.createKey(fmt.Sprintf("caller-%d", i)), .8 * fairShare * o.capacity}
	}
	// A caller may begin with two seconds' worth; whoever floods has none of that left.
	shares := sources[0].perSecond / .8
	o.noiseFor(sources, 10*shares, 4*time.Second)
	elsewhere := o.refuseEverything()

	slice := max(o.duration/(2*turns), 3*time.Second)
	var quiet, loud []time.Duration
	var noisy, others figures
	for range turns {
		var beyond sync.WaitGroup
		beyond.Go(func() { _, _ = elsewhere.open(o.t.Context(), slice, source{sources[0].key, 9.2 * shares}) })
		_, rest := o.noiseFor(sources, .8*shares, slice)
		beyond.Wait()
		quiet = append(quiet, rest.accepts...)
		others.refused += rest.refused
		mine, rest := o.noiseFor(sources, 10*shares, slice)
		loud = append(loud, rest.accepts...)
		noisy.sent, noisy.refused = noisy.sent+mine.sent, noisy.refused+mine.refused
		noisy.mute, others.refused = noisy.mute+mine.mute, others.refused+rest.refused
	}
	o.drained()
	slices.Sort(quiet)
	slices.Sort(loud)
	before, after := quantile(quiet, .99), quantile(loud, .99)
	o.row("p99 of the others beside a caller at 10 times its share", "moves by less than 0.1",
		fmt.Sprintf("%+.2f (%s, %s)", after.Seconds()/before.Seconds()-1, ms(before), ms(after)),
		after < before*11/10)
	o.row("refused of that caller, with Retry-After", "about 0.9",
		fmt.Sprintf("%.2f, %d without", float64(noisy.refused)/float64(noisy.sent), noisy.mute),
		noisy.refused > noisy.sent*8/10 && noisy.mute == 0)
	o.row("refused of the others", "none", others.refused, others.refused == 0)
}

// noiseFor lets all callers send, the first one at a rate of its own, and returns what it saw and what
// the others did.
func (o *overload) noiseFor(sources []source, first float64, duration time.Duration) (figures, figures) {
	o.t.Helper()
	sources = slices.Clone(sources)
	sources[0].perSecond = first
	shots, err := o.load.open(o.t.Context(), duration, sources...)
	require.NoError(o.t, err)
	mine := count(shots, warmUp, duration, 0)
	rest := count(slices.DeleteFunc(shots, func(s shot) bool { return s.source == 0 }), warmUp, duration, -1)
	o.phase(fmt.Sprintf("others beside %.0f/s", first), rest)
	return mine, rest
}

// refuseEverything starts a server that does nothing but refuse, and returns a load for it.
func (o *overload) refuseEverything() *loader {
	o.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // Its loss would show as a connection that is closed.
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	}))
	o.t.Cleanup(server.Close)
	elsewhere, err := newLoader(server.URL, 0)
	require.NoError(o.t, err)
	return elsewhere
}
