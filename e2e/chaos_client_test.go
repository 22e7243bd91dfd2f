package e2e

import (
	"cmp"
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"waybill/internal/history"
)

// The callers. Each has the other's keys in its mouth, and must never see the other's intents.
var chaosCallers = []string{"fulfilment", "returns"}

const (
	// chaosClients submit at once, half of them for each caller.
	chaosClients = 10

	// patience is how long a client waits for an answer: a frozen API must not hold it for ever.
	patience = 4 * time.Second
)

// witness is what all clients together have seen: the history for the checker, a file of it for
// people, and what the laws need beyond.
type witness struct {
	recorder *history.Recorder
	now      func() time.Time
	start    time.Time

	// accepted counts orders that were accepted.
	accepted atomic.Int64

	mu    sync.Mutex
	file  io.Writer
	calls int

	// sent is every valid body that was ever sent under a caller's key; heard is what was answered.
	sent  map[slot][]string
	heard map[slot][]heard

	// said counts answers by status and code; lost those that never came.
	said map[string]int
	lost int

	// crossed are answers that tell a caller of another's intent.
	crossed []string
}

// slot is a key of a caller.
type slot struct{ caller, key string }

// heard is an answer that says what a key stands for.
type heard struct {
	said, intent, body, variant string
	replayed                    bool
}

func newWitness(file *os.File) *witness {
	return &witness{
		recorder: history.NewRecorder(time.Now), now: time.Now, start: time.Now(), file: file,
		sent: map[slot][]string{}, heard: map[slot][]heard{}, said: map[string]int{},
	}
}

// note writes a line of the history for people to read.
func (w *witness) note(fields map[string]any) {
	fields["at"] = w.now().Sub(w.start).Seconds()
	text, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("encoding a line of the history: %v", err)) // Numbers and strings.
	}
	_, _ = w.file.Write(append(text, '\n')) // The history for the checker is in memory.
}

// parcel is one thing to be labelled and the keys that are used for it.
type parcel struct {
	n   int
	key string
}

// client is one program that orders labels. All it does is decided by its random numbers.
type client struct {
	*witness
	world   *realCarrier
	number  int
	random  *rand.Rand
	apis    []*player
	http    *http.Client
	secrets map[string]string // API keys by caller
	caller  string
	owned   []parcel
}

func (c *client) other() string {
	if c.caller == chaosCallers[0] {
		return chaosCallers[1]
	}
	return chaosCallers[0]
}

func (c *client) chance(percent int) bool { return c.random.IntN(100) < percent }

// pause waits, unless the run is over.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// run orders until the time is up. What is under way then is finished.
func (c *client) run(stop context.Context) {
	for stop.Err() == nil {
		c.order()
		for range c.random.IntN(3) {
			c.revisit()
		}
		pause(stop, time.Duration(20+c.random.IntN(100))*time.Millisecond)
	}
}

// order orders one label as clients do when the network is bad and their programmers were in haste.
func (c *client) order() {
	n := c.number*1_000_000 + len(c.owned) + 1
	p := parcel{n: n, key: fmt.Sprintf("chaos:%d:v1", n)}
	c.owned = append(c.owned, p)
	if c.chance(5) {
		c.submit(call{parcel: p, caller: c.caller, key: p.key, variant: "broken"})
	}
	first := call{parcel: p, caller: c.caller, key: p.key, variant: "ground"}
	if c.chance(50) {
		first.wait = 1 + c.random.IntN(2)
	}
	beside := first
	switch {
	case c.chance(10):
		beside.variant = "express" // the same key for something else
	case c.chance(8):
		beside.key += ":again" // a new key on a retry
	case c.chance(6):
		beside.key, beside.variant = beside.key+":again", "express"
	case c.chance(6):
		beside.caller = c.other() // somebody else's parcel
	case c.chance(10): // the same twice
	default:
		c.persist(first)
		return
	}
	if c.chance(50) {
		c.persist(first)
		c.submit(beside)
		return
	}
	var both sync.WaitGroup
	twin := *c
	twin.random = rand.New(rand.NewPCG(c.random.Uint64(), 2))
	both.Go(func() { twin.submit(beside) })
	c.persist(first)
	both.Wait()
}

// persist repeats a request until its answer says something, or the client gives up.
func (c *client) persist(o call) {
	for try := range 2 + c.random.IntN(5) {
		if try > 0 {
			pause(context.Background(), time.Duration(30+c.random.IntN(300))*time.Millisecond)
		}
		if c.chance(8) {
			o.hangUp = time.Duration(1+c.random.IntN(200)) * time.Millisecond
		} else {
			o.hangUp = 0
		}
		if c.submit(o) {
			return
		}
	}
}

// revisit asks again for something ordered before.
func (c *client) revisit() {
	p := c.owned[c.random.IntN(len(c.owned))]
	switch c.random.IntN(5) {
	case 0:
		c.submit(call{parcel: p, caller: c.caller, key: p.key, variant: "express"})
	case 1:
		c.read(c.caller, p.key, "/v1/intents?idempotency_key="+p.key)
	case 2:
		if id := c.known(slot{c.caller, p.key}); id != "" {
			c.read(c.caller, p.key, "/v1/intents/"+id)
			c.read(c.other(), "", "/v1/intents/"+id)
		}
	default:
		c.submit(call{parcel: p, caller: c.caller, key: p.key, variant: "ground"})
	}
}

// known is the intent that a request under this key made. What a replay names may be another key's.
func (c *client) known(s slot) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.heard[s] {
		if h.said == "202" || h.said == "201" && !h.replayed {
			return h.intent
		}
	}
	return ""
}

// call is one submission.
type call struct {
	parcel      parcel
	caller, key string
	variant     string // of the body
	wait        int
	hangUp      time.Duration // the client dies so long after it began; 0: it does not
}

// referenceCarrier is the one that speaks the reference protocol.
var referenceCarrier = realCarrier{service: "ground", other: "express"}

// service is what a variant of a body orders.
func (c *chaos) service(variant string) string {
	world := cmp.Or(c.world, &referenceCarrier)
	if variant == "express" {
		return world.other
	}
	return world.service
}

// body is what is sent to a carrier of the world, or to that of the reference protocol.
func (o call) body(world *realCarrier) string {
	world = cmp.Or(world, &referenceCarrier)
	text := world.order(o.parcel.n).body
	switch o.variant {
	case "express":
		return strings.Replace(text, world.service, world.other, 1)
	case "broken":
		return strings.Replace(text, `"US"`, `"Utopia"`, 1)
	default:
		return text
	}
}

// submit sends one request and records it: first that it is sent, then what came of it. It tells
// whether the answer said anything.
func (c *client) submit(o call) bool {
	s := slot{o.caller, o.key}
	request := history.Request{
		Op: history.Submit, Caller: o.caller, Key: o.key, Body: o.variant, Parcel: fmt.Sprint(o.parcel.n),
	}
	c.mu.Lock()
	c.calls++
	id := c.calls
	if o.variant != "broken" {
		c.sent[s] = append(c.sent[s], o.variant)
	}
	c.note(map[string]any{"call": id, "client": c.number, "caller": o.caller, "key": o.key, "body": o.variant, "wait": o.wait})
	c.mu.Unlock()

	end := c.recorder.Begin(c.number, request)
	after := func(history.Answer) {}
	if o.wait > 0 {
		after = c.recorder.Begin(c.number, request)
	}
	header := []string{"Idempotency-Key", o.key, "Content-Type", "application/json"}
	if o.wait > 0 {
		header = append(header, "Prefer", fmt.Sprintf("wait=%d", o.wait))
	}
	a, err := c.do(o.caller, http.MethodPost, "/v1/labels", o.body(c.world), o.hangUp, header...)
	if err != nil {
		after(history.Answer{Kind: history.Refused})
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lost++
		c.note(map[string]any{"answer": id, "lost": err.Error()})
		return false
	}
	replayed := a.header.Get("Idempotent-Replayed") == "true"
	first, then := answersOf(a, replayed, o.wait > 0)
	if first.Kind == history.Accepted {
		c.accepted.Add(1)
	}
	end(first)
	after(then)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.said[a.said()]++
	c.note(map[string]any{"answer": id, "said": a.said(), "intent": a.intentID(), "replayed": replayed})
	c.heard[s] = append(c.heard[s], heard{
		said: a.said(), intent: a.intentID(), body: string(a.body), variant: o.variant, replayed: replayed,
	})
	return a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests
}

// answersOf reads an answer as the model does: what the order itself was told, and, of a request that
// waited, what a repeat at its end would have been told.
func answersOf(a answer, replayed, waited bool) (first, then history.Answer) {
	refused := history.Answer{Kind: history.Refused}
	of := func(kind history.Kind) history.Answer { return history.Answer{Kind: kind, Intent: a.intentID()} }
	final := func(state string) history.Answer {
		return history.Answer{
			Kind: history.Final, Intent: a.intentID(), State: state, Bytes: fmt.Sprint(a.status, " ", string(a.body)),
		}
	}
	var saved history.Answer
	switch a.said() {
	case "201":
		saved = final("purchased")
	case "422 carrier_rejected":
		saved = final("rejected")
	case "502 carrier_unavailable":
		saved = final("failed")
	case "202":
		return of(history.Accepted), refused
	case "409 request_in_progress":
		return of(history.Open), refused
	case "409 purchase_in_doubt":
		if waited {
			// It does not say whether this very request was the one that was accepted.
			return history.Answer{Kind: history.Lost}, of(history.Open)
		}
		return of(history.Open), refused
	case "409 parcel_already_labelled":
		return of(history.Taken), refused
	case "422 idempotency_key_reused":
		return of(history.Reused), refused
	case "503 unavailable":
		return history.Answer{Kind: history.Lost}, refused
	default:
		return refused, refused
	}
	if !replayed {
		return of(history.Accepted), saved
	}
	return saved, refused
}

// read asks what a key stands for. A stranger, who names no key, must be told nothing.
func (c *client) read(caller, key, path string) {
	end := func(history.Answer) {}
	if key != "" {
		end = c.recorder.Begin(c.number, history.Request{Op: history.Read, Caller: caller, Key: key})
	}
	a, err := c.do(caller, http.MethodGet, path, "", 0)
	if err != nil {
		return // A read that was lost says nothing and does nothing.
	}
	var found struct {
		IntentID string `json:"intent_id"`
		State    string `json:"state"`
	}
	_ = json.Unmarshal(a.body, &found) // What is no JSON names nothing.
	switch {
	case a.status == http.StatusNotFound:
		end(history.Answer{Kind: history.NotFound})
	case a.status != http.StatusOK:
		end(history.Answer{Kind: history.Refused})
	case found.State == "pending", found.State == "in_doubt":
		end(history.Answer{Kind: history.Open, Intent: found.IntentID})
	default:
		end(history.Answer{Kind: history.Final, Intent: found.IntentID, State: found.State})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said["GET "+a.said()]++
	c.note(map[string]any{"read": path, "caller": caller, "said": a.said(), "state": found.State})
	if key == "" && a.status == http.StatusOK {
		c.crossed = append(c.crossed, fmt.Sprintf("%s reads %s: %s", caller, path, a.body))
	}
}

// errNobody is what a client sees while no API listens.
var errNobody = fmt.Errorf("nobody listens")

// do sends one request to an API of its choice.
func (c *client) do(caller, method, path, body string, hangUp time.Duration, header ...string) (answer, error) {
	api := c.apis[c.random.IntN(len(c.apis))].address()
	if api == "" {
		return answer{}, errNobody
	}
	limit := patience
	if hangUp > 0 {
		limit = hangUp
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	sender := stack{client: c.http, key: c.secrets[caller]}
	return sender.do(ctx, method, api+path, body, header...)
}
