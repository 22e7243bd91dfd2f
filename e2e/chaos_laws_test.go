package e2e

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"waybill/carrier/sim/simserver"
	"waybill/internal/history"
)

const (
	// alertLimit is how long a doubt may take to show in the gauges, in scaled time.
	alertLimit = 12 * time.Second

	// checkLimit bounds the search for an order that explains a history.
	checkLimit = 60 * time.Second

	// leakedMost and grownMost are what may stay after a run that rest does not take back at once:
	// idle connections to Postgres and the carrier, and the heap's own pace.
	leakedMost = 60
	grownMost  = 96 << 20
)

// violations are broken laws, by number; index 0 is not used.
type violations [11][]string

func (v *violations) add(law int, format string, args ...any) {
	v[law] = append(v[law], fmt.Sprintf(format, args...))
}

// finding is everything that a run is judged by.
type finding struct {
	violations violations
	intents    map[slot]chaosIntent
	states     map[string]int
	charges    int
	purchases  int
	seen       sights
	unknown    []string
	checked    int // operations of the history
}

// chaosIntent is an intent as the database holds it in the end.
type chaosIntent struct {
	ID           uuid.UUID
	Caller, Key  string
	Reference    string
	State        string
	SettledBy    string
	Service      string
	Leased       bool
	HasKey       bool
	CarrierLabel string
	TrackingNo   string
	CostCents    int64
	LabelCaller  string
}

// judge ends the faults, waits until everything is settled, and holds what is there against the laws.
func (c *chaos) judge() {
	c.t.Helper()
	f := &finding{states: map[string]int{}}
	c.quiesce(f)
	c.lap("settling")
	f.seen = c.look()
	c.repeatEverything(f)
	c.lap("repeats")
	c.readIntents(f)
	c.checkStates(f)
	c.checkLedger(f)
	c.checkCalls(f)
	c.checkAnswers(f)
	c.lap("laws")
	c.checkHygiene(f)
	c.lap("hygiene")
	c.checkLogs(f)
	c.lap("stop")
	f.unknown = append(f.unknown, c.missing(over)...)
	c.report(f)
}

// quiesce makes everything right again and measures how long it takes to settle: law L8.
func (c *chaos) quiesce(f *finding) {
	c.t.Helper()
	ctx := c.t.Context()
	for _, l := range c.links {
		require.NoError(c.t, l.open(ctx)) // It is, unless its deed was cut short.
	}
	require.Eventually(c.t, func() bool { return c.tellCarrier(ctx, nil) == nil }, startTimeout, 5*poll)
	for _, p := range c.services() {
		require.True(c.t, c.nemesis.awaitReady(ctx, p, castTimeout), "%s is ready again", p.name)
	}
	begin := time.Now()
	open := func() (pending, doubtful int) {
		err := c.db.QueryRow(ctx, `
			SELECT count(*) FILTER (WHERE state = 'pending' OR settled_by = 'lookup'), count(*) FILTER (WHERE settled_by = 'person')
			FROM label_intents WHERE state IN ('pending', 'in_doubt')`).Scan(&pending, &doubtful)
		if err != nil {
			return -1, -1
		}
		return pending, doubtful
	}
	// A clock that leapt ends to be a fault when what it wrote is the past.
	limit := settleLimit + max(0, time.Until(c.nemesis.echo))
	left := -1
	for time.Since(begin) < limit {
		if left, _ = open(); left == 0 {
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	c.settled = time.Since(begin)
	if left != 0 {
		f.violations.add(8, "%d intents are not settled after %s", left, limit)
	}
	begin = time.Now()
	for _, p := range c.workers {
		shown := -1
		for time.Since(begin) < alertLimit {
			_, doubtful := open()
			_, values, err := p.now().measure(ctx)
			if shown = int(values[`waybill_intents{state="in_doubt"}`]); err == nil && shown == doubtful {
				break
			}
			pause(ctx, 100*time.Millisecond)
		}
		if _, doubtful := open(); shown != doubtful {
			f.violations.add(8, "%s shows %d intents in doubt after %s, and there are %d", p.name, shown, alertLimit, doubtful)
		}
	}
	c.alerted = time.Since(begin)
	c.awaitSweep()
}

// awaitSweep waits until the keys that were aged are gone, so that repeats from now on come late. If they
// are not in time, the run is unknown.
func (c *chaos) awaitSweep() {
	var aged int
	for begin := time.Now(); time.Since(begin) < alertLimit; pause(c.t.Context(), 100*time.Millisecond) {
		err := c.db.QueryRow(c.t.Context(), `
			SELECT count(*) FROM idempotency_keys WHERE state = 'completed' AND expires_at < now()`).Scan(&aged)
		if err == nil && aged == 0 {
			return
		}
	}
}

// repeatEverything sends every order that may have been accepted once more, as law L5 asks; some keys
// are gone by now.
func (c *chaos) repeatEverything(f *finding) {
	c.t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	defer transport.CloseIdleConnections()
	var group errgroup.Group
	group.SetLimit(8)
	c.witness.mu.Lock()
	slots := slices.Collect(maps.Keys(c.witness.sent))
	c.witness.mu.Unlock()
	for i, s := range slots {
		var n int
		if _, err := fmt.Sscanf(s.key, "chaos:%d:", &n); err != nil {
			c.t.Fatal(err)
		}
		group.Go(func() error {
			one := &client{
				world:   c.world,
				witness: c.witness, number: chaosClients + 1 + i%8,
				random: randomOf(c.seed, c.class, forClients+uint64(chaosClients+i)),
				apis:   c.apis, http: &http.Client{Transport: transport}, secrets: c.secrets, caller: s.caller,
			}
			if _, err := one.intentOf(s); err != nil {
				return nil //nolint:nilerr // It never became an intent; sent now it would become one.
			}
			c.witness.mu.Lock()
			variant := c.witness.sent[s][0]
			c.witness.mu.Unlock()
			for range 5 {
				if one.submit(call{parcel: parcel{n, s.key}, caller: s.caller, key: s.key, variant: variant}) {
					return nil
				}
			}
			return fmt.Errorf("key %s is not answered though nothing fails any more", s.key)
		})
	}
	if err := group.Wait(); err != nil {
		f.violations.add(8, "%s", err)
	}
}

// errNoIntent means that a key names none.
var errNoIntent = errors.New("the key names no intent")

// intentOf asks an API which intent a key names.
func (c *client) intentOf(s slot) (string, error) {
	for range 5 {
		a, err := c.do(s.caller, http.MethodGet, "/v1/intents?idempotency_key="+s.key, "", 0)
		switch {
		case err != nil, a.status == http.StatusServiceUnavailable:
		case a.status == http.StatusOK:
			return a.intentID(), nil
		default:
			return "", errNoIntent
		}
	}
	return "", errNoIntent
}

func (c *chaos) readIntents(f *finding) {
	c.t.Helper()
	rows, err := c.db.Query(c.t.Context(), `
		SELECT
			i.intent_id, i.caller_id, i.idem_key, i.reference, i.state, coalesce(i.settled_by, ''),
			coalesce(i.request ->> 'service', i.request ->> 'Service', ''),
			k.lease_token IS NOT NULL, k.idem_key IS NOT NULL,
			coalesce(l.carrier_label_id, ''), coalesce(l.tracking_no, ''), coalesce(l.cost_cents, 0), coalesce(l.caller_id, '')
		FROM label_intents AS i
		LEFT JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		LEFT JOIN labels AS l ON l.intent_id = i.intent_id`)
	require.NoError(c.t, err)
	f.intents = map[slot]chaosIntent{}
	var i chaosIntent
	_, err = pgx.ForEachRow(rows, []any{
		&i.ID, &i.Caller, &i.Key, &i.Reference, &i.State, &i.SettledBy, &i.Service,
		&i.Leased, &i.HasKey, &i.CarrierLabel, &i.TrackingNo, &i.CostCents, &i.LabelCaller,
	}, func() error {
		if _, twice := f.intents[slot{i.Caller, i.Key}]; twice {
			f.violations.add(4, "key %s of %s has two intents, or an intent two labels", i.Key, i.Caller)
		}
		f.intents[slot{i.Caller, i.Key}] = i
		return nil
	})
	require.NoError(c.t, err)
}

// checkStates: L1, and that nothing crosses callers in the tables (L7).
func (c *chaos) checkStates(f *finding) {
	for s, i := range f.intents {
		f.states[i.State]++
		switch {
		case i.State == "pending", i.State == "in_doubt" && i.SettledBy != "person":
			f.violations.add(1, "%s of %s is %s %s", s.key, s.caller, i.State, i.SettledBy)
		case i.State == "in_doubt" && !i.HasKey:
			f.violations.add(1, "%s of %s is in doubt and its key is gone", s.key, s.caller)
		case i.Leased:
			f.violations.add(1, "%s of %s is %s and leased", s.key, s.caller, i.State)
		}
		if _, known := c.witness.sent[s]; !known {
			f.violations.add(6, "%s of %s is an intent, and nobody ordered it", s.key, s.caller)
		}
		if i.State == "purchased" && i.LabelCaller != i.Caller {
			f.violations.add(7, "%s of %s has a label of %s", s.key, s.caller, i.LabelCaller)
		}
	}
	for _, crossed := range c.witness.crossed {
		f.violations.add(7, "%s", crossed)
	}
}

// charged is a line of the ledger, with what was ordered.
type charged struct {
	simserver.Entry

	Order struct {
		Service string `json:"service"`
	} `json:"order"`
}

// checkLedger: L2, L3, L6 and L9, from the carrier's own file.
func (c *chaos) checkLedger(f *finding) {
	c.t.Helper()
	content, err := os.ReadFile(c.ledger)
	require.NoError(c.t, err)
	byReference := map[string]chaosIntent{}
	var ours, theirs int64
	for _, i := range f.intents {
		byReference[i.Reference] = i
		if i.State == "purchased" {
			ours += i.CostCents
		}
	}
	seen := map[string][]charged{}
	for text := range strings.Lines(string(content)) {
		var e charged
		require.NoError(c.t, json.Unmarshal([]byte(text), &e))
		seen[e.Reference] = append(seen[e.Reference], e)
		f.charges++
	}
	for reference, entries := range seen {
		i, known := byReference[reference]
		if len(entries) > 1 {
			f.violations.add(2, "%s of %s (%s, %s) was charged %d times: %s", i.Key, i.Caller, reference, i.State, len(entries), timesOf(entries))
		}
		switch {
		case !known:
			f.violations.add(3, "the carrier charged for %s, which is no intent", reference)
			continue
		case i.State == "purchased":
			theirs += entries[0].AmountCents
		case i.State != "in_doubt":
			f.violations.add(3, "%s of %s was charged and is %s", i.Key, i.Caller, i.State)
		}
		if i.State == "purchased" && !slices.ContainsFunc(entries, func(e charged) bool {
			// Carriers of the world name their labels otherwise than their ledger does.
			return (e.LabelID == i.CarrierLabel || c.world != nil) && e.TrackingNo == i.TrackingNo && e.AmountCents == i.CostCents
		}) {
			f.violations.add(3, "the label of %s of %s is not the one that was charged", i.Key, i.Caller)
		}
		if got := entries[0].Order.Service; got != i.Service {
			f.violations.add(6, "%s of %s orders %s and %s was bought", i.Key, i.Caller, i.Service, got)
		}
	}
	for _, i := range f.intents {
		if i.State == "purchased" && len(seen[i.Reference]) == 0 {
			f.violations.add(3, "%s of %s has a label that was never charged", i.Key, i.Caller)
		}
	}
	if ours != theirs {
		f.violations.add(9, "our labels cost %d cents, and the ledger says %d", ours, theirs)
	}
}

func timesOf(entries []charged) string {
	var times []string
	for _, e := range entries {
		times = append(times, e.At.Format("15:04:05.000"))
	}
	return strings.Join(times, ", ")
}

// purchase is the carrier's own note of one call.
type purchase struct {
	Msg       string          `json:"msg"`
	Reference string          `json:"reference"`
	Fault     simserver.Fault `json:"fault"`
}

// purchases reads the carrier's logs.
func (c *chaos) purchases(each func(purchase)) {
	for _, l := range c.box.all() {
		_ = l.lines(func(text string) bool { // A life that could not begin has no log.
			var p purchase
			if json.Unmarshal([]byte(text), &p) == nil && p.Msg == "purchase" {
				each(p)
			}
			return true
		})
	}
}

// checkCalls: the second half of L2, from what the carrier wrote down of its calls. A blind carrier
// gets no call after one that may have bought.
func (c *chaos) checkCalls(f *finding) {
	open := map[string]bool{}
	c.purchases(func(p purchase) {
		f.purchases++
		if c.class == simserver.Blind && open[p.Reference] {
			f.violations.add(2, "%s was sent to the blind carrier again after an unknown", p.Reference)
		}
		if p.Fault != simserver.RateLimited {
			open[p.Reference] = true
		}
	})
}

// checkAnswers: L4 and L5 by the model, and by what clients kept; L6: no refusal had an effect.
func (c *chaos) checkAnswers(f *finding) {
	ops := c.witness.recorder.Operations()
	f.checked = len(ops)
	err := history.Check(ops, checkLimit)
	switch {
	case errors.Is(err, history.ErrUndecided):
		f.unknown = append(f.unknown, "the history was not decided in time")
	case err != nil:
		f.violations.add(5, "%s", err)
	}
	first := map[string]heard{}
	for s, answers := range c.witness.heard {
		for _, h := range answers {
			switch h.said {
			case "201", "202", "422 carrier_rejected", "502 carrier_unavailable":
			case "500 internal":
				f.violations.add(10, "%s of %s was answered with an internal error", s.key, s.caller)
				continue
			default:
				continue
			}
			kind := h.intent + " " + h.said
			if known, told := first[kind]; told && known.body != h.body {
				f.violations.add(4, "%s of %s got two answers %s:\n%s\n%s", s.key, s.caller, h.said, known.body, h.body)
			}
			first[kind] = h
			i, mine := f.intents[s]
			switch {
			case mine && i.ID.String() == h.intent && i.Service != c.service(h.variant):
				f.violations.add(6, "%s of %s was accepted with %s and is %s", s.key, s.caller, c.service(h.variant), i.Service)
			case mine && i.ID.String() == h.intent:
			case !h.replayed:
				f.violations.add(5, "%s of %s was answered %s with intent %s, which is not its own", s.key, s.caller, h.said, h.intent)
			}
		}
		c.checkLast(f, s, answers)
	}
}

// checkLast: the last answer, given when nothing failed any more, says what the intent is.
func (c *chaos) checkLast(f *finding, s slot, answers []heard) {
	i, accepted := f.intents[s]
	if !accepted {
		return
	}
	last := answers[len(answers)-1]
	want := map[string]string{
		"purchased": "201", "rejected": "422 carrier_rejected",
		"failed": "502 carrier_unavailable", "in_doubt": "409 purchase_in_doubt",
	}[i.State]
	if c.service(last.variant) != i.Service {
		want = "422 idempotency_key_reused"
	}
	if last.said != want {
		f.violations.add(5, "%s of %s is %s, and its last answer is %s", s.key, s.caller, i.State, last.said)
	}
}

// checkHygiene: L10, what programs take up.
func (c *chaos) checkHygiene(f *finding) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), startTimeout)
	defer cancel()
	for _, p := range c.services() {
		var complaint string
		for ctx.Err() == nil {
			if complaint = c.grown(ctx, p); complaint == "" {
				break
			}
			pause(ctx, 250*time.Millisecond)
		}
		if complaint != "" {
			f.violations.add(10, "%s: %s", p.name, complaint)
		}
	}
	var idle int
	require.NoError(c.t, c.db.QueryRow(c.t.Context(), `
		SELECT count(*) FROM pg_stat_activity
		WHERE state LIKE 'idle in transaction%' AND state_change < now() - interval '2 seconds'`).Scan(&idle))
	if idle > 0 {
		f.violations.add(10, "%d transactions are open and idle", idle)
	}
}

func (c *chaos) grown(ctx context.Context, p *player) string {
	v, _, err := p.now().measure(ctx)
	base := c.base[p.name]
	switch {
	case err != nil:
		return err.Error()
	case v.goroutines > base.goroutines+leakedMost:
		return fmt.Sprintf("%d goroutines, and %d before", v.goroutines, base.goroutines)
	case v.descriptors > base.descriptors+leakedMost:
		return fmt.Sprintf("%d descriptors, and %d before", v.descriptors, base.descriptors)
	case v.resident > 2*base.resident+grownMost:
		return fmt.Sprintf("%d MiB of memory, and %d before", v.resident>>20, base.resident>>20)
	default:
		return ""
	}
}

// checkLogs stops everything and reads all logs: L10, and what they say.
func (c *chaos) checkLogs(f *finding) {
	var stopping sync.WaitGroup
	for _, p := range c.services() {
		stopping.Go(p.close)
	}
	stopping.Wait()
	c.box.close()
	for _, p := range c.players() {
		for n, l := range p.all() {
			if l.byItself() {
				f.violations.add(10, "%s ended by itself in its life %d: %s", p.name, n+1, l.cmd.ProcessState)
			}
			err := l.lines(func(text string) bool {
				for _, bad := range []string{"panic", "DATA RACE", "fatal error"} {
					if strings.Contains(text, bad) {
						f.violations.add(10, "%s, life %d: %s", p.name, n+1, strings.TrimSpace(text))
					}
				}
				return true
			})
			require.NoError(c.t, err)
		}
	}
}
