package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/internal/problem"
)

// TestContract holds what belongs to no single status: what is the same request, and what a repeat of
// it is told.
func TestContract(t *testing.T) {
	t.Parallel()
	b := setup(t)

	// Of every route, not of a layer in front of them: a route that is added must be safe to repeat too.
	t.Run("WhateverChangesSomethingIsSafeToRepeat", func(t *testing.T) {
		t.Parallel()
		for _, rt := range b.api.routes() {
			path := strings.NewReplacer("{label_id}", uuid.NewString(), "{intent_id}", uuid.NewString()).Replace(rt.path)
			o := b.order()
			got := b.do(t, rt.method, path, o.body, header("Content-Type", "application/json"))
			switch rt.method {
			case http.MethodGet:
			case http.MethodPost:
				got.requireProblem(t, problem.IdempotencyKeyMissing)
				for range 4 {
					b.post(t, o)
				}
				intents, jobs := b.stored(t, o)
				require.Equal(t, []int{1, 1}, []int{intents, jobs}, rt.path)
			case http.MethodPatch:
				got.requireProblem(t, problem.PreconditionRequired)
			case http.MethodDelete: // Asked for once; TestVoid repeats it.
				require.Equal(t, labelsPath+"/{label_id}", rt.path)
			case http.MethodPut: // Absolute; TestHold repeats it.
				require.Equal(t, labelsPath+"/{label_id}/hold", rt.path)
			default:
				require.Fail(t, "who says that it is safe?", "%s %s", rt.method, rt.path)
			}
		}
	})

	t.Run("OneMethodAndOnePathMakeARequest", func(t *testing.T) {
		t.Parallel()
		wire := mustDecode(t, validBody)
		require.Equal(t, sha256.Sum256([]byte("POST\n/v1/labels\n"+string(wire.canonical()))), wire.fingerprint())
		o := b.order()
		for _, path := range []string{"/v1/labels/", "//v1/labels", "/v1/./labels", "/v1/Labels", "/v1/labels%2F"} {
			got := b.do(t, http.MethodPost, path, o.body, header("Content-Type", "application/json"), header(keyHeader, o.key))
			require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, got.status, path)
		}
		intents, _ := b.stored(t, o)
		require.Zero(t, intents)
	})

	t.Run("OrderCountsAtNoDepth", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		saved, _ := b.purchase(t, b.accepted(t, o), "")
		o.body = strings.NewReplacer(
			`"length": 300, "width": 200, "height": 120`, `"height": 120, "length": 300, "width": 200`,
			`"name": "Bob", "street1": "2 Low St", "street2": "Flat 3"`, `"street2": "Flat 3", "street1": "2 Low St", "name": "Bob"`,
		).Replace(o.body)
		require.Equal(t, saved, b.post(t, o).body)
	})

	// A kilobyte of one letter compresses, a random one does not: an index refuses only the latter.
	t.Run("LongKeysAreAllRefusedAlike", func(t *testing.T) {
		t.Parallel()
		random := ""
		for len(random) < 8<<10 {
			random += uuid.NewString()
		}
		for _, key := range []string{strings.Repeat("a", 8<<10), random[:8<<10]} {
			b.post(t, b.order(), header(keyHeader, key)).requireProblem(t, problem.IdempotencyKeyInvalid)
			b.get(t, intentsPath+"?idempotency_key="+key).requireProblem(t, problem.IdempotencyKeyInvalid)
		}
		o := b.order()
		o.key = random[:maxKeyLen]
		b.accepted(t, o)
		b.post(t, o).requireProblem(t, problem.RequestInProgress)
	})

	t.Run("AHeadersNameHasNoCaseAndItsValueHas", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		send := func(name, key string) answer {
			text := strings.Replace(b.head(order{key: key}, fmt.Sprint("Content-Length: ", len(o.body))), keyHeader, name, 1) + o.body
			require.Contains(t, text, "\r\n"+name+": "+key)
			got := b.raw(t, text, 1)
			require.Len(t, got, 1)
			return got[0]
		}
		require.Equal(t, http.StatusAccepted, send("idempotency-key", o.key).status)
		for _, name := range []string{"IDEMPOTENCY-KEY", "Idempotency-Key", "idempotency-KEY"} {
			send(name, o.key).requireProblem(t, problem.RequestInProgress)
		}
		// Another key for the parcel, of the same caller, with the same body.
		require.Equal(t, http.StatusConflict, send(keyHeader, strings.ToUpper(o.key)).status)
		require.Equal(t, http.StatusNotFound, b.get(t, intentsPath+"?idempotency_key="+strings.ToUpper(o.key)).status)
	})

	t.Run("AReplayIsWhatWasSavedWhateverHappenedSince", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		saved, id := b.purchase(t, b.accepted(t, o), "")
		first := b.post(t, o)
		_, err := b.pool.Exec(t.Context(), `
			UPDATE labels
			SET void_state = 'voided', voided_at = now(), held = true, note = 'changed', revision = 2
			WHERE label_id = $1`, id)
		require.NoError(t, err)
		requireSame := func(again answer) {
			require.Equal(t, saved, again.body)
			for _, name := range []string{"Location", "ETag", "Content-Type", "Content-Length", "Idempotent-Replayed"} {
				require.NotEmpty(t, first.header.Get(name))
				require.Equal(t, first.header.Get(name), again.header.Get(name), name)
			}
			require.NotEqual(t, first.header.Get(requestIDHeader), again.header.Get(requestIDHeader))
		}
		requireSame(b.post(t, o))
		b.purge(t, o.key) // now the answer is made again
		requireSame(b.post(t, o))
		require.Contains(t, b.get(t, first.header.Get("Location")).body, `"void_state":"voided"`)
	})

	// "Come back with the same" and "never with that" are cures that exclude each other.
	t.Run("OnlyWhatMayBeRepeatedSaysWhen", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.accepted(t, o)
		got := b.post(t, o)
		got.requireProblem(t, problem.RequestInProgress)
		got.requireRetryAfter(t)

		other := o
		other.body = strings.Replace(o.body, "1450", "1451", 1)
		got = b.post(t, other)
		got.requireProblem(t, problem.IdempotencyKeyReused)
		require.Empty(t, got.header.Get("Retry-After"))
		other.key += ":again"
		got = b.post(t, other)
		got.requireProblem(t, problem.ParcelAlreadyLabelled)
		require.Empty(t, got.header.Get("Retry-After"))
	})

	t.Run("HowLongAKeyCountsIsSaidInTheAnswer", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		b.purchase(t, b.accepted(t, o), "")
		b.purge(t, o.key)
		o.body = strings.Replace(o.body, "1450", "1451", 1)
		require.Contains(t, b.post(t, o).requireProblem(t, problem.IdempotencyKeyReused).Detail, "for ever")
	})

	// NUL is refused wherever it could come in, and what only looks like one is kept as it is.
	t.Run("NULNeverReachesTheDatabase", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{
			intentsPath + "?idempotency_key=a%00b", intentsPath + "/%00", labelsPath + "?order_id=1%00", labelsPath + "/a%00b",
		} {
			got := b.get(t, path)
			require.GreaterOrEqual(t, got.status, 400, path)
			require.Less(t, got.status, 500, path)
		}
		for _, escape := range []string{`\u0000`, `\ud800`, `\udc00\ud800`} {
			o := b.order()
			o.body = strings.Replace(o.body, "2 Low St", "2 Low"+escape+"St", 1)
			require.Equal(t, http.StatusBadRequest, b.post(t, o).status, escape)
			intents, _ := b.stored(t, o)
			require.Zero(t, intents)
		}
		o := b.order()
		o.body = strings.Replace(o.body, "2 Low St", `2 Low\\u0000 St \\ud800`, 1)
		b.accepted(t, o)
		var stored carrier.Shipment
		require.NoError(t, b.pool.QueryRow(t.Context(), `
			SELECT request
			FROM label_intents
			WHERE order_id = $1`, o.id).Scan(&stored))
		require.Equal(t, `2 Low\u0000 St \ud800`, stored.ShipTo.Street1)
	})
}
