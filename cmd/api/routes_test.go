package main

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/caller"
	"waybill/internal/problem"
)

// TestRoutesByScope visits every route with a key of every single scope, with a revoked key and with
// none: the list comes from the router, so that a new route is visited too.
func TestRoutesByScope(t *testing.T) {
	t.Parallel()
	b := setup(t)
	revoked, err := b.api.keys.Create(t.Context(), "fulfilment", caller.AllScopes())
	require.NoError(t, err)
	require.NoError(t, b.api.keys.Revoke(t.Context(), revoked.ID()))

	for _, rt := range b.api.routes() {
		path := strings.NewReplacer("{label_id}", uuid.NewString(), "{intent_id}", uuid.NewString()).Replace(rt.path)
		for _, scope := range caller.AllScopes() {
			key := b.newKey(t, "fulfilment", scope)
			t.Run(rt.method+" "+rt.path+" with "+string(scope), func(t *testing.T) {
				t.Parallel()
				got := b.do(t, rt.method, path, "", as(key))
				switch rt.scope {
				case "", scope:
					require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, got.status, got.body)
				default:
					require.Contains(t, got.requireProblem(t, problem.Forbidden).Detail, string(rt.scope))
				}
			})
		}
		for name, c := range map[string]change{"NoKey": without("Authorization"), "RevokedKey": as(revoked.Reveal())} {
			t.Run(rt.method+" "+rt.path+" with "+name, func(t *testing.T) {
				t.Parallel()
				got := b.do(t, rt.method, path, "", c)
				if rt.scope == "" {
					require.Equal(t, http.StatusOK, got.status)
					return
				}
				got.requireProblem(t, problem.Unauthenticated)
			})
		}
	}
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("404NotFound", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/", "/v1", "/v1/", "/v2/labels", "/v1/labels/", "//v1/labels", "/v1/../v1/labels", "/metrics", "/debug/pprof/"} {
			got := b.do(t, http.MethodPost, path, "{}")
			got.requireProblem(t, problem.NotFound)
		}
	})

	t.Run("405MethodNotAllowed", func(t *testing.T) {
		t.Parallel()
		for _, method := range []string{"PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			got := b.do(t, method, labelsPath, "")
			got.requireProblem(t, problem.MethodNotAllowed)
			require.Equal(t, "GET, HEAD, POST", got.header.Get("Allow"))
		}
		require.Equal(t, "GET, HEAD", b.do(t, http.MethodPost, intentsPath, "").header.Get("Allow"))
		override := b.do(t, http.MethodGet, "/healthz", "", header("X-HTTP-Method-Override", "DELETE"))
		require.Equal(t, http.StatusOK, override.status)
	})

	t.Run("HeadIsGetWithoutABody", func(t *testing.T) {
		t.Parallel()
		got := b.do(t, http.MethodHead, "/healthz", "")
		require.Equal(t, http.StatusOK, got.status)
		require.Empty(t, got.body)
	})
}

func TestEveryAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("BearsTheSecurityHeaders", func(t *testing.T) {
		t.Parallel()
		for _, got := range []answer{
			b.get(t, "/healthz"), b.get(t, "/nowhere"), b.post(t, b.order()), b.do(t, "PUT", labelsPath, ""),
			b.get(t, labelsPath+"?order_id=1"), b.get(t, labelsPath, without("Authorization")),
		} {
			require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
			require.Equal(t, "no-store", got.header.Get("Cache-Control"))
			require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'")
			require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
		}
	})

	t.Run("BearsTheRequestsId", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "a-Z.0_9", b.get(t, "/healthz", header(requestIDHeader, "a-Z.0_9")).header.Get(requestIDHeader))
		for _, bad := range []string{"", "a b", "ä", strings.Repeat("x", 65), `"x"`} {
			id, err := uuid.Parse(b.get(t, "/healthz", header(requestIDHeader, bad)).header.Get(requestIDHeader))
			require.NoError(t, err, bad)
			require.EqualValues(t, 7, id.Version())
		}
	})
}

func TestReads(t *testing.T) {
	t.Parallel()
	b := setup(t)

	t.Run("AnIntentPendingThenPurchased", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		id := b.accepted(t, o)
		got := b.get(t, intentsPath+"/"+id.String())
		require.Equal(t, http.StatusOK, got.status)
		require.Contains(t, got.body, `"state":"pending"`)
		require.NotContains(t, got.body, "finished_at")
		got.requireRetryAfter(t)

		_, labelID := b.purchase(t, id, "")
		got = b.get(t, intentsPath+"/"+id.String())
		require.Contains(t, got.body, `"state":"purchased"`)
		require.Contains(t, got.body, `"label_id":"`+labelID.String()+`"`)
		require.Empty(t, got.header.Get("Retry-After"))
		for _, spelled := range []string{o.key, "%22" + o.key + "%22"} {
			require.Equal(t, got.body, b.get(t, intentsPath+"?idempotency_key="+spelled).body)
		}
	})

	t.Run("AnIntentInDoubtSaysWhoDecides", func(t *testing.T) {
		t.Parallel()
		id := b.accepted(t, b.order())
		b.doubt(t, id)
		got := b.get(t, intentsPath+"/"+id.String())
		require.Contains(t, got.body, `"state":"in_doubt","settled_by":"person"`)
		got.requireRetryAfter(t)
	})

	t.Run("AnIntentTellsWhatBecameOfIt", func(t *testing.T) {
		t.Parallel()
		id := b.accepted(t, b.order())
		require.NotContains(t, b.get(t, intentsPath+"/"+id.String()).body, "timeline")
		b.doubt(t, id)
		_, err := b.pool.Exec(t.Context(), `
			INSERT INTO carrier_calls (intent_id, kind, outcome, reason, carrier_code, carrier_message, actor)
			VALUES ($1, 'buy', 'unknown', 'outcome_unknown', 'http_500', 'secret', 'secret')`, id)
		require.NoError(t, err)
		got := b.get(t, intentsPath+"/"+id.String()).body
		require.Contains(t, got, `"kind":"buy","outcome":"unknown","reason":"outcome_unknown","carrier_code":"http_500"}]`)
		require.NotContains(t, got, "secret")
	})

	t.Run("AnIntentByKeyNeedsOneKey", func(t *testing.T) {
		t.Parallel()
		b.get(t, intentsPath).requireProblem(t, problem.IdempotencyKeyMissing)
		b.get(t, intentsPath+"?idempotency_key=").requireProblem(t, problem.IdempotencyKeyInvalid)
		b.get(t, intentsPath+"?idempotency_key=a&idempotency_key=a").requireProblem(t, problem.IdempotencyKeyInvalid)
		b.get(t, intentsPath+"?idempotency_key=nobody").requireProblem(t, problem.NotFound)
	})

	t.Run("ALabelAndItsDocument", func(t *testing.T) {
		t.Parallel()
		saved, id := b.purchase(t, b.accepted(t, b.order()), "%PDF-1.7")
		got := b.get(t, labelsPath+"/"+id.String())
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, strings.TrimSuffix(saved, "}")+`,"void_state":"none","held":false,"revision":1}`, got.body)

		got = b.get(t, labelsPath+"/"+id.String()+"/document")
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, "%PDF-1.7", got.body)
		require.Equal(t, "application/pdf", got.header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="label-`+id.String()+`.pdf"`, got.header.Get("Content-Disposition"))
	})

	t.Run("ALabelWithoutADocument", func(t *testing.T) {
		t.Parallel()
		_, id := b.purchase(t, b.accepted(t, b.order()), "")
		told := b.get(t, labelsPath+"/"+id.String()+"/document").requireProblem(t, problem.NotFound)
		require.Contains(t, told.Detail, "do not order it again")
	})

	t.Run("LabelsOfAnOrderInOrder", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		second := order{o.id, strings.Replace(o.body, `"parcel_no": 1`, `"parcel_no": 2`, 1), o.key + ":2"}
		_, two := b.purchase(t, b.accepted(t, second), "")
		_, one := b.purchase(t, b.accepted(t, o), "")
		got := b.get(t, labelsPath+"?order_id="+strconv.FormatInt(o.id, 10))
		require.Equal(t, http.StatusOK, got.status)
		first := b.get(t, labelsPath+"/"+one.String()).body
		require.Equal(t, `{"labels":[`+first+`,`+b.get(t, labelsPath+"/"+two.String()).body+`]}`, got.body)
		require.Equal(t, `{"labels":[]}`, b.get(t, labelsPath+"?order_id=9223372036854775807").body)
	})

	t.Run("LabelsOfAnOrderNeedOneOrder", func(t *testing.T) {
		t.Parallel()
		for _, query := range []string{
			"?order_id=", "?order_id=0", "?order_id=-1", "?order_id=1e3", "?order_id=%2B1",
			"?order_id=01", "?order_id=9223372036854775808", "?order_id=1&order_id=1",
		} {
			b.get(t, labelsPath+query).requireProblem(t, problem.InvalidRequest)
		}
	})

	t.Run("AnothersIdIsAnsweredLikeAnUnknownOne", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		intentID := b.accepted(t, o)
		_, labelID := b.purchase(t, intentID, "%PDF-1.7")
		id := header(requestIDHeader, "same")
		for _, path := range []string{
			intentsPath + "/" + intentID.String(), labelsPath + "/" + labelID.String(),
			labelsPath + "/" + labelID.String() + "/document", intentsPath + "?idempotency_key=" + o.key,
		} {
			require.Equal(t, http.StatusOK, b.get(t, path).status)
			foreign := b.get(t, path, as(b.other), id)
			foreign.requireProblem(t, problem.NotFound)
			unknown := strings.NewReplacer(intentID.String(), uuid.NewString(), labelID.String(), uuid.NewString(),
				o.key, "unknown").Replace(path)
			for _, other := range []answer{b.get(t, unknown, id), b.get(t, malformedID(path), id)} {
				foreign.header.Del("Date")
				other.header.Del("Date")
				require.Equal(t, foreign, other, path)
			}
		}
		require.Equal(t, `{"labels":[]}`, b.get(t, labelsPath+"?order_id="+strconv.FormatInt(o.id, 10), as(b.other)).body)
	})

	t.Run("OnlyTheCanonicalSpellingOfAnIdNamesIt", func(t *testing.T) {
		t.Parallel()
		id := b.accepted(t, b.order()).String()
		for _, spelled := range []string{strings.ToUpper(id), "urn:uuid:" + id, "%7B" + id + "%7D", strings.ReplaceAll(id, "-", ""), "x"} {
			b.get(t, intentsPath+"/"+spelled).requireProblem(t, problem.NotFound)
		}
	})
}

// malformedID shortens the id in a path, or the key in a query.
func malformedID(path string) string {
	if strings.Contains(path, "?") {
		return path + "-unknown"
	}
	parts := strings.Split(path, "/")
	parts[3] = parts[3][1:]
	return strings.Join(parts, "/")
}

func TestRequestLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	o := b.order()
	intent := b.accepted(t, o, header(requestIDHeader, "r-1")).String()
	b.post(t, o, header(requestIDHeader, "r-2"))
	b.get(t, "/nowhere", header(requestIDHeader, "r-3"))

	// The line is written after the answer, so the client may be faster.
	require.Eventually(t, func() bool { return b.logs.FilterMessage("request").Len() == 3 },
		20*time.Second, 5*time.Millisecond)
	var lines []map[string]any
	for _, entry := range b.logs.FilterMessage("request").All() {
		lines = append(lines, entry.ContextMap())
	}
	slices.SortFunc(lines, func(x, y map[string]any) int {
		return strings.Compare(x["request_id"].(string), y["request_id"].(string))
	})
	for _, line := range lines {
		require.Contains(t, line, "duration")
		delete(line, "duration")
		delete(line, "key_id")
	}
	require.Equal(t, []map[string]any{
		{"request_id": "r-1", "route": "POST /v1/labels", "status": int64(202), "caller_id": "fulfilment", "intent_id": intent},
		{"request_id": "r-2", "route": "POST /v1/labels", "status": int64(409), "caller_id": "fulfilment", "intent_id": intent, "code": "request_in_progress"},
		{"request_id": "r-3", "route": "unknown", "status": int64(404), "code": "not_found"},
	}, lines)
	for _, entry := range b.logs.All() {
		for name, field := range entry.ContextMap() {
			text, _ := field.(string)
			for _, private := range []string{"Bob", "Low St", "example.com", o.key, b.key} {
				require.NotContains(t, text, private, name)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()

	t.Run("ReadyUntilTheServiceStops", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		require.JSONEq(t, `{"status": "ready"}`, b.get(t, "/readyz", without("Authorization")).body)
		b.api.ready.Stop()
		b.get(t, "/readyz").requireProblem(t, problem.Unavailable)
		require.JSONEq(t, `{"status": "alive"}`, b.get(t, "/healthz", without("Authorization")).body)
	})

	t.Run("NotReadyWithoutTheDatabase", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.pool.Close()
		got := b.get(t, "/readyz")
		require.NotContains(t, got.body, "closed pool")
		got.requireProblem(t, problem.Unavailable)
	})
}

func TestRevokedKeyStopsWithinSeconds(t *testing.T) {
	t.Parallel()

	var offset time.Duration
	b := setup(t)
	b.api.keys = caller.New(b.pool, func() time.Time { return time.Now().Add(offset) })
	key, err := b.api.keys.Create(t.Context(), "fulfilment", caller.Scopes{caller.LabelsRead})
	require.NoError(t, err)
	path := labelsPath + "?order_id=1"
	require.Equal(t, http.StatusOK, b.get(t, path, as(key.Reveal())).status)
	require.NoError(t, b.api.keys.Revoke(t.Context(), key.ID()))
	offset = 2 * time.Second
	b.get(t, path, as(key.Reveal())).requireProblem(t, problem.Unauthenticated)
}
