package history_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/internal/history"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seeds is how many histories are invented for each thing to find, calls how long each is: porcupine
// takes ten times as long to refute one that is twice as long.
const (
	seeds = 25
	calls = 150
)

// checkLimit is what a check may take; it takes a small part of it.
const checkLimit = time.Minute

// invent makes a history that did happen: a sequence of calls to a world that obeys the model, each
// stretched at random so that it overlaps its neighbours.
func invent(r *rand.Rand, keys, calls int) []history.Operation {
	w := &world{rand: r, intents: map[string]*fate{}}
	var ops []history.Operation
	at := int64(0)
	for n := range calls {
		at += 10
		op := w.call(fmt.Sprint("k", r.IntN(keys)))
		op.Client, op.Begin, op.End = n%64, at-r.Int64N(400), at+r.Int64N(400)
		if op.Kind == history.Lost {
			op.End = history.Forever
		}
		ops = append(ops, op)
	}
	return ops
}

type fate struct {
	history.Answer

	body string
}

type world struct {
	rand    *rand.Rand
	intents map[string]*fate
}

func (w *world) call(key string) history.Operation {
	if i := w.intents[key]; i != nil && i.Kind == history.Open && w.rand.IntN(12) == 0 {
		i.Kind, i.State, i.Bytes = history.Final, "purchased", "201 of "+key
	}
	if w.rand.IntN(3) == 0 {
		return history.Operation{Request: history.Request{Op: read, Caller: "a", Key: key}, Answer: w.read(key)}
	}
	body := "body"
	if w.rand.IntN(6) == 0 {
		body = "another body"
	}
	op := history.Operation{Request: order("a", key, body, "parcel of "+key), Answer: history.Answer{Kind: history.Refused}}
	if w.rand.IntN(12) > 0 {
		op.Answer = w.submit(key, body)
	}
	if w.rand.IntN(10) == 0 {
		op.Answer = history.Answer{Kind: history.Lost}
	}
	return op
}

func (w *world) submit(key, body string) history.Answer {
	i := w.intents[key]
	switch {
	case i == nil:
		id := fmt.Sprint("i", len(w.intents))
		w.intents[key] = &fate{history.Answer{Kind: history.Open, Intent: id}, body}
		return history.Answer{Kind: history.Accepted, Intent: id}
	case i.body != body:
		return history.Answer{Kind: history.Reused, Intent: i.Intent}
	default:
		return i.Answer
	}
}

func (w *world) read(key string) history.Answer {
	i := w.intents[key]
	if i == nil {
		return history.Answer{Kind: history.NotFound}
	}
	a := i.Answer
	a.Bytes = ""
	return a
}

// lies are answers that no order of the calls explains, planted in a history that did happen.
var lies = map[string]struct {
	of   history.Kind // the answer that is replaced
	with func(*history.Operation)
}{
	"a second acceptance":      {history.Open, func(op *history.Operation) { op.Kind = history.Accepted }},
	"another intent":           {history.Open, func(op *history.Operation) { op.Intent = "i-other" }},
	"an intent that vanished":  {history.Final, func(op *history.Operation) { op.Op, op.Answer = read, history.Answer{Kind: history.NotFound} }},
	"a final state that goes":  {history.Final, func(op *history.Operation) { op.Kind, op.State, op.Bytes = history.Open, "", "" }},
	"another final state":      {history.Final, func(op *history.Operation) { op.State = "failed" }},
	"a byte that changed":      {history.Final, func(op *history.Operation) { op.Op, op.Bytes = submit, "201 of another" }},
	"another body's answer":    {history.Reused, func(op *history.Operation) { op.Kind = history.Open }},
	"a refusal without reason": {history.Accepted, func(op *history.Operation) { op.Kind = history.Reused }},
}

func TestCheck(t *testing.T) {
	t.Parallel()

	t.Run("WhatHappenedIsExplained", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(seeds) {
			require.NoError(t, history.Check(invent(rand.New(rand.NewPCG(seed, 0)), 10, calls), checkLimit))
		}
	})

	for name, lie := range lies {
		t.Run("ALieIsFound/"+name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(seeds) {
				ops := invent(rand.New(rand.NewPCG(seed, 1)), 10, calls)
				n := later(ops, lie.of)
				lie.with(&ops[n])
				require.ErrorContains(t, history.Check(ops, checkLimit), "no order explains", "seed %d", seed)
			}
		})
	}

	// A call that ended before another began cannot come after it.
	t.Run("TimeIsHeeded", func(t *testing.T) {
		t.Parallel()
		look := history.Request{Op: read, Caller: "a", Key: "k"}
		stale := []history.Operation{
			{Request: order("a", "k", "b", "p"), Answer: history.Answer{Kind: history.Accepted, Intent: "i"}, Begin: 0, End: 10},
			{Request: look, Answer: history.Answer{Kind: history.NotFound}, Begin: 11, End: 20},
		}
		require.Error(t, history.Check(stale, checkLimit))
		stale[1].Begin = 9
		require.NoError(t, history.Check(stale, checkLimit), "they overlap")
	})

	// What is not connected by its key is connected by its parcel.
	t.Run("ParcelsConnectKeys", func(t *testing.T) {
		t.Parallel()
		ops := []history.Operation{
			{Request: order("a", "k1", "b", "p"), Answer: history.Answer{Kind: history.Accepted, Intent: "i1"}, Begin: 0, End: 10},
			{Request: order("b", "k2", "b", "p"), Answer: history.Answer{Kind: history.Accepted, Intent: "i2"}, Begin: 5, End: 20},
		}
		err := history.Check(ops, checkLimit)
		require.ErrorContains(t, err, "k1")
		require.ErrorContains(t, err, "k2")
	})
}

// later finds an operation with such an answer that is surely not the first word on its key.
func later(ops []history.Operation, kind history.Kind) int {
	for n := len(ops) - 1; n > 0; n-- {
		if ops[n].Kind != kind || ops[n].End == history.Forever {
			continue
		}
		before := slices.ContainsFunc(ops, func(op history.Operation) bool {
			said := op.Kind == kind || (kind != history.Final && op.Intent != "")
			return said && op.Key == ops[n].Key && op.End < ops[n].Begin
		})
		if before || kind == history.Accepted {
			return n
		}
	}
	panic("no such answer in the history")
}

// TestCheckLongHistory: what is checked is not only short.
func TestCheckLongHistory(t *testing.T) {
	t.Parallel()
	require.NoError(t, history.Check(invent(rand.New(rand.NewPCG(7, 7)), 200, 5_000), checkLimit))
}

// BenchmarkCheck checks a history as long as one of an hour of chaos.
func BenchmarkCheck(b *testing.B) {
	ops := invent(rand.New(rand.NewPCG(7, 7)), 2000, 50_000)
	for b.Loop() {
		if err := history.Check(ops, checkLimit); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRecorder(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	r := history.NewRecorder(func() time.Time { now = now.Add(time.Nanosecond); return now })
	end := r.Begin(1, order("a", "k", "b", "p"))
	r.Begin(2, order("a", "k", "b", "p"))
	unclear := r.Begin(3, order("a", "k", "b", "p"))
	unclear(history.Answer{Kind: history.Lost})
	end(history.Answer{Kind: history.Accepted, Intent: "i"})
	ops := r.Operations()
	slices.SortFunc(ops, func(a, b history.Operation) int { return cmp.Compare(a.Client, b.Client) })
	require.EqualValues(t, 4, ops[0].End)
	require.Equal(t, history.Accepted, ops[0].Kind)
	for _, op := range ops[1:] {
		require.Equal(t, history.Lost, op.Kind)
		require.EqualValues(t, history.Forever, op.End)
	}
	require.NoError(t, history.Check(ops, checkLimit))
}
