package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/internal/history"
)

const (
	submit = history.Submit
	read   = history.Read
)

func order(caller, key, body, parcel string) history.Request {
	return history.Request{Op: submit, Caller: caller, Key: key, Body: body, Parcel: parcel}
}

// step is one call of a story.
type step struct {
	history.Request
	history.Answer
}

// TestStep tells stories of which the last answer is right or wrong.
func TestStep(t *testing.T) {
	t.Parallel()
	var (
		a1    = order("a", "k1", "body", "p1")
		other = order("a", "k1", "another body", "p2")
		again = order("a", "k2", "body", "p1")
		taken = order("a", "k2", "another body", "p1")
		alien = order("b", "k1", "body", "p1")
		look  = history.Request{Op: read, Caller: "a", Key: "k1"}

		accepted = history.Answer{Kind: history.Accepted, Intent: "i1"}
		known    = history.Answer{Kind: history.Known, Intent: "i1"}
		open     = history.Answer{Kind: history.Open, Intent: "i1"}
		bought   = history.Answer{Kind: history.Final, Intent: "i1", State: "purchased", Bytes: "201 {}"}
		state    = history.Answer{Kind: history.Final, Intent: "i1", State: "purchased"}
		reused   = history.Answer{Kind: history.Reused, Intent: "i1"}
		occupied = history.Answer{Kind: history.Taken, Intent: "i1"}
		lost     = history.Answer{Kind: history.Lost}
		refused  = history.Answer{Kind: history.Refused}
		notFound = history.Answer{Kind: history.NotFound}
	)
	second := accepted
	second.Intent = "i2"
	altered := bought
	altered.Bytes = "201 { }"
	failed := history.Answer{Kind: history.Final, Intent: "i1", State: "failed"}

	first := step{a1, accepted}
	for name, tt := range map[string]struct {
		story []step
		want  bool
	}{
		"a new key is accepted":                      {[]step{first}, true},
		"a repeat is open":                           {[]step{first, {a1, open}}, true},
		"a repeat is final":                          {[]step{first, {a1, bought}}, true},
		"a repeat is known":                          {[]step{first, {a1, known}}, true},
		"a repeat is not accepted again":             {[]step{first, {a1, accepted}}, false},
		"one key is one intent":                      {[]step{first, {a1, second}}, false},
		"a repeat does not name another intent":      {[]step{first, {a1, history.Answer{Kind: history.Open, Intent: "i2"}}}, false},
		"a replay is byte-identical":                 {[]step{first, {a1, bought}, {a1, altered}}, false},
		"a verdict stays":                            {[]step{first, {look, state}, {look, failed}}, false},
		"a verdict stays, told by an answer":         {[]step{first, {a1, bought}, {look, failed}}, false},
		"final stays final":                          {[]step{first, {a1, bought}, {a1, open}}, false},
		"final says what it is":                      {[]step{first, {a1, history.Answer{Kind: history.Final, Intent: "i1"}}}, false},
		"an accepted key is found":                   {[]step{first, {look, notFound}}, false},
		"an unknown key is not":                      {[]step{{look, notFound}}, true},
		"an unknown key has no state":                {[]step{{look, open}}, false},
		"another body is refused":                    {[]step{first, {other, reused}}, true},
		"another body is refused at the end too":     {[]step{first, {a1, bought}, {other, reused}}, true},
		"another body gets no answer":                {[]step{first, {a1, bought}, {other, bought}}, false},
		"another body does not run":                  {[]step{first, {other, second}}, false},
		"the same body is not refused":               {[]step{first, {a1, reused}}, false},
		"a free key is not reused":                   {[]step{{a1, reused}}, false},
		"a reused key names its intent":              {[]step{first, {other, history.Answer{Kind: history.Reused, Intent: "i2"}}}, false},
		"a parcel is ordered once":                   {[]step{first, {taken, occupied}}, true},
		"a parcel is not ordered twice":              {[]step{first, {taken, second}}, false},
		"a free parcel is not taken":                 {[]step{{a1, occupied}}, false},
		"the same order under another key":           {[]step{first, {again, open}}, true},
		"the same order under another key, final":    {[]step{first, {a1, bought}, {again, bought}}, true},
		"another key of the parcel stays free":       {[]step{first, {taken, occupied}, {history.Request{Op: read, Caller: "a", Key: "k2"}, notFound}}, true},
		"another caller is told nothing":             {[]step{first, {alien, history.Answer{Kind: history.Taken}}}, true},
		"another caller hears of no intent":          {[]step{first, {alien, occupied}}, false},
		"another caller gets no answer":              {[]step{first, {a1, bought}, {alien, bought}}, false},
		"two callers' equal keys":                    {[]step{first, {order("b", "k1", "x", "p9"), second}}, true},
		"two intents have two ids":                   {[]step{first, {order("b", "k1", "x", "p9"), accepted}}, false},
		"a refusal has no effect":                    {[]step{{a1, refused}, {look, notFound}}, true},
		"a refusal is no acceptance":                 {[]step{{a1, refused}, {look, open}}, false},
		"a lost call may have run":                   {[]step{{a1, lost}, {a1, open}}, true},
		"a lost call that ran names its intent once": {[]step{{a1, lost}, {a1, open}, {look, history.Answer{Kind: history.Open, Intent: "i2"}}}, false},
		"a lost call does not run over another":      {[]step{first, {other, lost}, {a1, open}}, true},
		"a lost look has no effect":                  {[]step{{look, lost}, {look, notFound}}, true},
		"an answer is one of those there are":        {[]step{first, {a1, history.Answer{Kind: "maybe"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, ok := history.State{}, true
			for i, s := range tt.story {
				require.True(t, ok, "step %d", i)
				state, ok = state.Step(s.Request, s.Answer)
			}
			require.Equal(t, tt.want, ok)
		})
	}
}
