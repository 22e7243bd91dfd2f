package e2e

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

// tap counts the pieces of data that pass a link in one direction: whether a toxic met any traffic
// at all.
type tap struct {
	passed atomic.Int64
}

// Pipe implements toxics.Toxic.
func (t *tap) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			t.passed.Add(1)
			stub.Output <- c
		}
	}
}

func init() {
	toxics.Register("tap", new(tap))
	// Some of its parts write to a logger of the package's.
	zerolog.SetGlobalLevel(zerolog.Disabled)
}

// link is one way between two programs, which trouble can be made on.
type link struct {
	proxy *toxiproxy.Proxy
	taps  map[string]*tap // by direction
}

// newLink puts a proxy before an address.
func newLink(t *testing.T, name, upstream string) *link {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &link{proxy: toxiproxy.NewProxy(server, name, "127.0.0.1:0", upstream), taps: map[string]*tap{}}
	require.NoError(t, l.proxy.Start())
	t.Cleanup(l.proxy.Stop)
	for _, direction := range directions {
		w, err := l.add("tap-"+direction, "tap", direction, map[string]int{})
		require.NoError(t, err)
		l.taps[direction] = w.Toxic.(*tap)
	}
	return l
}

func (l *link) add(name, kind, direction string, attributes map[string]int) (*toxics.ToxicWrapper, error) {
	text, err := json.Marshal(map[string]any{
		"name": name, "type": kind, "stream": direction, "attributes": attributes,
	})
	if err != nil {
		return nil, err
	}
	w, err := l.proxy.Toxics.AddToxicJson(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("making trouble %s: %w", name, err)
	}
	return w, nil
}

// trouble makes a toxic last for as long as it is told, and says how much traffic met it.
func (l *link) trouble(ctx context.Context, x toxic, which int, done <-chan struct{}) (int64, error) {
	name := x.kind + "-" + x.direction
	before := l.taps[x.direction].passed.Load()
	if _, err := l.add(name, x.kind, x.direction, attributesOf(x, which)); err != nil {
		return 0, err
	}
	<-done
	met := l.taps[x.direction].passed.Load() - before
	if err := l.proxy.Toxics.RemoveToxic(ctx, name); err != nil {
		return met, fmt.Errorf("ending trouble %s: %w", name, err)
	}
	return met, nil
}

// attributesOf is how bad the trouble is; which chooses between two degrees. What is delayed is
// delayed by less than the quiet period: a network that holds an order back for longer breaks what
// the carrier promises of its processing time.
func attributesOf(x toxic, which int) map[string]int {
	switch x.kind {
	case "latency":
		return map[string]int{"latency": 50 + 200*which, "jitter": 50}
	case "reset_peer":
		return map[string]int{"timeout": 0}
	case "timeout":
		return map[string]int{"timeout": 300 * which} // 0: a black hole until the trouble ends
	case "limit_data":
		return map[string]int{"bytes": 200 + 2000*which}
	case "slicer":
		return map[string]int{"average_size": 64, "size_variation": 32, "delay": 200}
	case "bandwidth":
		return map[string]int{"rate": 2 + 20*which}
	default:
		panic("unknown kind of trouble " + x.kind)
	}
}
