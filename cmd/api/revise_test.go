package main

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/caller"
	"waybill/internal/problem"
)

// bought is a label that was just bought, and its path.
func (b *testBundle) bought(t *testing.T) (id uuid.UUID, path string) {
	t.Helper()
	_, id = b.purchase(t, b.accepted(t, b.order()), "")
	return id, labelsPath + "/" + id.String()
}

func ifMatch(tag string) change { return header("If-Match", tag) }

func (b *testBundle) patch(t *testing.T, path, body string, changes ...change) answer {
	t.Helper()
	return b.do(t, http.MethodPatch, path, body, append([]change{header("Content-Type", "application/json")}, changes...)...)
}

func (b *testBundle) hold(t *testing.T, path, body string, changes ...change) answer {
	t.Helper()
	return b.do(t, http.MethodPut, path+"/hold", body, append([]change{header("Content-Type", "application/json")}, changes...)...)
}

func (a answer) requireLabel(t *testing.T, tag string, members ...string) {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, tag, a.header.Get("ETag"), a.body)
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	for _, member := range members {
		require.Contains(t, a.body, member)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("AnyNumberOfRepeatsEndsInTheSameState", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		first := b.hold(t, path, `{"on": true}`)
		first.requireLabel(t, `"v2"`, `"held":true`, `"revision":2`)
		for range 3 {
			require.Equal(t, first.body, b.hold(t, path, `{"on":true}`).body)
		}
		require.Equal(t, first.body, b.get(t, path).body)
		b.hold(t, path, `{"on": false}`).requireLabel(t, `"v3"`, `"held":false`)
		b.hold(t, path, `{"on": false}`).requireLabel(t, `"v3"`, `"held":false`)
	})

	t.Run("ManyAtOnceAreOneChange", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		for _, got := range b.atOnce(t, 8, func(int) answer { return b.hold(t, path, `{"on": true}`) }) {
			got.requireLabel(t, `"v2"`, `"held":true`)
		}
	})

	t.Run("MayRestOnARevision", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		b.hold(t, path, `{"on": true}`, ifMatch(`"v7"`)).requireProblem(t, problem.PreconditionFailed)
		b.hold(t, path, `{"on": true}`, ifMatch(`"v1"`)).requireLabel(t, `"v2"`)
		b.hold(t, path, `{"on": false}`, ifMatch(`"v1"`)).requireProblem(t, problem.PreconditionFailed)
		b.hold(t, path, `{"on": false}`, ifMatch(`*`)).requireLabel(t, `"v3"`)
	})

	for name, tt := range map[string]struct {
		body    string
		code    problem.Code
		pointer string
	}{
		"Nothing":       {`{}`, problem.InvalidRequest, "/on"},
		"Null":          {`{"on": null}`, problem.InvalidRequest, "/on"},
		"ANumber":       {`{"on": 1}`, problem.InvalidRequest, "/on"},
		"AString":       {`{"on": "true"}`, problem.InvalidRequest, "/on"},
		"OtherCase":     {`{"On": true}`, problem.InvalidRequest, "/On"},
		"UnknownMember": {`{"on": true, "until": "noon"}`, problem.InvalidRequest, "/until"},
		"Twice":         {`{"on": true, "on": false}`, problem.MalformedJSON, ""},
		"NoObject":      {`true`, problem.InvalidRequest, ""},
		"Empty":         {``, problem.MalformedJSON, ""},
	} {
		t.Run("Refuses"+name, func(t *testing.T) {
			t.Parallel()
			_, path := b.bought(t)
			document := b.hold(t, path, tt.body).requireProblem(t, tt.code)
			if tt.code == problem.InvalidRequest {
				require.Contains(t, pointers(document), tt.pointer)
			}
			b.get(t, path).requireLabel(t, `"v1"`, `"held":false`)
		})
	}
}

// atOnce sends n requests together and returns their answers.
func (b *testBundle) atOnce(t *testing.T, n int, send func(i int) answer) []answer {
	t.Helper()
	answers := make([]answer, n)
	var sending sync.WaitGroup
	for i := range n {
		sending.Go(func() { answers[i] = send(i) })
	}
	sending.Wait()
	return answers
}

func TestPatch(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("ChangesWhatItNamesAndNothingElse", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		b.patch(t, path, `{"note": "gift, ring twice"}`, ifMatch(`"v1"`)).requireLabel(t, `"v2"`, `"note":"gift, ring twice"`)
		b.patch(t, path, `{"custom_reference": "PO 17", "weight_g": 1500}`, ifMatch(`"v2"`)).
			requireLabel(t, `"v3"`, `"note":"gift, ring twice","custom_reference":"PO 17","weight_g":1500,"revision":3`)
		got := b.patch(t, path, `{"note": ""}`, ifMatch(`"v0", "v3"`))
		got.requireLabel(t, `"v4"`, `"custom_reference":"PO 17"`)
		require.NotContains(t, got.body, `"note"`)
		require.Equal(t, got.body, b.get(t, path).body)
	})

	t.Run("ARepeatWhoseAnswerWasLostSucceedsAlike", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		first := b.patch(t, path, `{"weight_g": 1500}`, ifMatch(`"v1"`))
		for range 3 {
			again := b.patch(t, path, `{"weight_g": 1500}`, ifMatch(`"v1"`))
			again.requireLabel(t, `"v2"`)
			require.Equal(t, first.body, again.body)
		}
		b.patch(t, path, `{"weight_g": 1600}`, ifMatch(`"v2"`)).requireLabel(t, `"v3"`)
		got := b.patch(t, path, `{"weight_g": 1500}`, ifMatch(`"v1"`))
		got.requireProblem(t, problem.PreconditionFailed)
		require.Equal(t, `"v3"`, got.header.Get("ETag"))
	})

	t.Run("OfTwoThatHaveReadTheSameOneWins", func(t *testing.T) {
		t.Parallel()
		for range 5 {
			_, path := b.bought(t)
			won, note := 0, ""
			answers := b.atOnce(t, 4, func(i int) answer {
				return b.patch(t, path, fmt.Sprintf(`{"note": "writer %d"}`, i), ifMatch(`"v1"`))
			})
			for i, got := range answers {
				if got.status != http.StatusOK {
					got.requireProblem(t, problem.PreconditionFailed)
					continue
				}
				won, note = won+1, fmt.Sprintf(`"note":"writer %d"`, i)
			}
			require.Equal(t, 1, won)
			b.get(t, path).requireLabel(t, `"v2"`, note)
		}
	})

	t.Run("WantsTheRevisionThatWasRead", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		for tag, code := range map[string]problem.Code{
			`*`:                      problem.PreconditionRequired,
			`"v2"`:                   problem.PreconditionFailed,
			`"v0"`:                   problem.PreconditionFailed,
			`"v01"`:                  problem.PreconditionFailed,
			`W/"v1"`:                 problem.PreconditionFailed,
			`"1"`:                    problem.PreconditionFailed,
			`""`:                     problem.PreconditionFailed,
			`"v9223372036854775808"`: problem.PreconditionFailed,
			`v1`:                     problem.InvalidRequest,
			`"v1`:                    problem.InvalidRequest,
			`"v1"x`:                  problem.InvalidRequest,
			`*, "v1"`:                problem.InvalidRequest,
			``:                       problem.InvalidRequest,
		} {
			b.patch(t, path, `{"note": "never"}`, ifMatch(tag)).requireProblem(t, code)
		}
		b.patch(t, path, `{"note": "never"}`).requireProblem(t, problem.PreconditionRequired)
		b.patch(t, path, `{"note": "never"}`, ifMatch(`"v1"`), header("If-None-Match", `"v2"`)).
			requireProblem(t, problem.InvalidRequest)
		// What it is already is no reason to accept a revision that never was.
		b.patch(t, path, `{"note": ""}`, ifMatch(`"v2"`)).requireProblem(t, problem.PreconditionFailed)
		b.get(t, path).requireLabel(t, `"v1"`)
	})

	for name, tt := range map[string]struct{ body, pointer string }{
		"NoMember":      {`{}`, ""},
		"Null":          {`{"note": null}`, "/note"},
		"AFraction":     {`{"weight_g": 1.0}`, "/weight_g"},
		"NoWeight":      {`{"weight_g": 0}`, "/weight_g"},
		"TooHeavy":      {`{"weight_g": 1000001}`, "/weight_g"},
		"ANumberAsNote": {`{"note": 1}`, "/note"},
		"AControl":      {`{"note": "a\u0007b"}`, "/note"},
		"LongNote":      {`{"note": "` + strings.Repeat("é", maxNote+1) + `"}`, "/note"},
		"LongReference": {`{"custom_reference": "` + strings.Repeat("x", maxCustomReference+1) + `"}`, "/custom_reference"},
		"WhatIsFixed":   {`{"note": "a", "tracking_no": "1Z"}`, "/tracking_no"},
		"ADifference":   {`{"weight_g": "+100"}`, "/weight_g"},
		"Held":          {`{"held": true}`, "/held"},
	} {
		t.Run("Refuses"+name, func(t *testing.T) {
			t.Parallel()
			_, path := b.bought(t)
			document := b.patch(t, path, tt.body, ifMatch(`"v1"`)).requireProblem(t, problem.InvalidRequest)
			require.Contains(t, pointers(document), tt.pointer)
			b.get(t, path).requireLabel(t, `"v1"`)
		})
	}

	t.Run("RefusesAnotherMediaType", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		b.patch(t, path, `{"note": "a"}`, ifMatch(`"v1"`), header("Content-Type", "text/plain")).
			requireProblem(t, problem.UnsupportedMediaType)
	})

	t.Run("TakesAsMuchAsItSays", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		body, err := json.Marshal(map[string]any{
			"note": strings.Repeat("é", maxNote), "custom_reference": strings.Repeat("x", maxCustomReference), "weight_g": maxWeightG,
		})
		require.NoError(t, err)
		b.patch(t, path, string(body), ifMatch(`"v1"`)).requireLabel(t, `"v2"`)
	})

	t.Run("ReachesNobodyElsesLabel", func(t *testing.T) {
		t.Parallel()
		id, path := b.bought(t)
		for _, p := range []string{path, labelsPath + "/" + uuid.NewString(), labelsPath + "/x"} {
			who := as(b.other)
			b.patch(t, p, `{"note": "theirs"}`, ifMatch(`"v1"`), who).requireProblem(t, problem.NotFound)
			b.hold(t, p, `{"on": true}`, who).requireProblem(t, problem.NotFound)
			got := b.get(t, p, header("If-None-Match", `"v1"`), who)
			got.requireProblem(t, problem.NotFound)
			require.Empty(t, got.header.Get("ETag"))
		}
		b.get(t, path).requireLabel(t, `"v1"`, id.String())
		reader := b.newKey(t, "fulfilment", caller.LabelsRead)
		b.hold(t, path, `{"on": true}`, as(reader)).requireProblem(t, problem.Forbidden)
	})
}

func TestETag(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("TellsWhatTheClientHas", func(t *testing.T) {
		t.Parallel()
		_, path := b.bought(t)
		for _, tag := range []string{`"v1"`, `W/"v1"`, `*`, `"x", "v1"`, `,"v1",`} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				got := b.do(t, method, path, "", header("If-None-Match", tag))
				require.Equal(t, http.StatusNotModified, got.status, tag)
				require.Equal(t, `"v1"`, got.header.Get("ETag"))
				require.Empty(t, got.body)
			}
		}
		b.get(t, path, header("If-None-Match", `"v2"`)).requireLabel(t, `"v1"`)
		b.get(t, path, header("If-None-Match", `v1`)).requireProblem(t, problem.InvalidRequest)
		b.hold(t, path, `{"on": true}`)
		b.get(t, path, header("If-None-Match", `"v1"`)).requireLabel(t, `"v2"`)
	})

	t.Run("ComesWithThePurchase", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.purchase(t, b.accepted(t, o), "")
		got := b.post(t, o)
		require.Equal(t, http.StatusCreated, got.status)
		require.Equal(t, `"v1"`, got.header.Get("ETag"))
		b.patch(t, got.header.Get("Location"), `{"note": "at once"}`, ifMatch(got.header.Get("ETag"))).requireLabel(t, `"v2"`)
		require.Equal(t, got.body, b.post(t, o).body)
	})
}
