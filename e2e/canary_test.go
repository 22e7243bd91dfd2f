package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// canaries are personal data that nothing but the request itself and its label may hold.
var canaries = map[string]string{
	"name":        "Canary Quillfeather",
	"company":     "Zugunruhe Holdings",
	"street1":     "77 Tattletale Crescent",
	"street2":     "Flat Gossamer",
	"city":        "Whistleburgh",
	"postal_code": "QZ98765",
	"phone":       "+15550199271",
	"email":       "tattle.tale@canary.example",
}

func canaryOrder(n int) order {
	var members []string
	for name, value := range canaries {
		members = append(members, fmt.Sprintf("%q: %q", name, value))
	}
	o := orderOf(n)
	o.key = fmt.Sprintf("canarykey-%d", n)
	o.body = o.body[:strings.Index(o.body, `"ship_to"`)] +
		`"ship_to": {` + strings.Join(members, ", ") + `, "country": "US"}}`
	return o
}

// gossip is a carrier that repeats the order in everything it says: refusals, errors, nonsense. All
// but the refusal it says once.
func gossip(next http.Handler) http.Handler {
	var told sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all []string
		for _, value := range canaries {
			all = append(all, value)
		}
		words := strings.Join(all, " ")
		turn := r.Header.Get("Idempotency-Key")
		_, again := told.LoadOrStore(turn, true)
		switch {
		case strings.HasSuffix(turn, "-1"):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, `{"code": "undeliverable", "message": "Nobody lives at %s, %s"}`, words, strings.ToUpper(words))
		case again:
			next.ServeHTTP(w, r)
		case strings.HasSuffix(turn, "-2"):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"code": "internal", "message": "while printing for %s"}`, words)
		case strings.HasSuffix(turn, "-3"):
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, "<p>Dear %s</p>", words)
		case strings.HasSuffix(turn, "-4"):
			w.Header().Set("Location", "/labels?who="+strings.ReplaceAll(words, " ", "+"))
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// TestNobodyTalks: personal data, callers' keys and API keys are in no log, no metric, no problem, no
// job and no evidence, whatever went wrong.
func TestNobodyTalks(t *testing.T) {
	t.Parallel()
	carrier := startCarrier(t, simserver.Faults{Rules: everyFault(1, 0.5)}, hooks{around: gossip})
	s := newStack(t, carrier, settings{
		lease: shortLease, timeout: shortTimeout, env: []string{"WAYBILL_LOG_LEVEL=debug"},
	})
	s.startAll()
	const orders = 40
	answers, err := s.together(orders, func(ctx context.Context, i int) (answer, error) {
		return s.submit(ctx, canaryOrder(i+1), "Prefer", "wait=2")
	})
	require.NoError(t, err)
	answers = append(answers, s.mistakes()...)
	got := requireTruth(s)
	require.Equal(t, orders, got.purchased+got.rejected+got.inDoubt)

	var told strings.Builder
	for _, a := range answers {
		if a.status >= http.StatusBadRequest {
			told.Write(a.body)
		}
	}
	require.NotEmpty(t, told.String())
	places := map[string]string{
		"problems": told.String(),
		"jobs":     s.text(`SELECT coalesce(string_agg(j::text, E'\n'), '') FROM river_job AS j`),
		"evidence": s.text(`SELECT coalesce(string_agg(c::text, E'\n'), '') FROM carrier_calls AS c`),
	}
	require.Contains(t, places["evidence"], "(redacted)", "the gossip was heard, and not repeated")
	for i, p := range s.programs {
		places[fmt.Sprintf("metrics of %s %d", p.name, i)] = s.metrics(p)
		p.terminate()
		places[fmt.Sprintf("log of %s %d", p.name, i)] = p.log.String()
	}
	secrets := []string{s.key, s.key[len(s.key)-20:], "canarykey-"}
	for _, value := range canaries {
		secrets = append(secrets, value)
	}
	for place, text := range places {
		require.NotEmpty(t, text, place)
		for _, secret := range secrets {
			require.NotContains(t, strings.ToLower(text), strings.ToLower(secret), place)
		}
	}
}

// mistakes are requests that are refused, each for another reason.
func (s *stack) mistakes() []answer {
	s.t.Helper()
	good := canaryOrder(1).body
	var answers []answer
	for i, body := range []string{
		strings.Replace(good, `"US"`, `"USA"`, 1),
		strings.Replace(good, `"order_id": 1`, `"order_id": "`+canaries["name"]+`"`, 1),
		strings.Replace(good, `"weight_g": 1500`, `"weight_g": 1e99`, 1),
		strings.Replace(good, `"service": "ground"`, `"service": "`+canaries["email"]+`"`, 1),
		good[:len(good)-20],
		good + good,
		strings.Replace(good, canaries["city"], canaries["city"]+strings.Repeat("x", 300), 1),
		strings.Replace(good, canaries["city"], canaries["city"]+`\u0000`, 1),
		canaryOrder(5).other().body,
	} {
		a, err := s.post(s.t.Context(), s.api(), order{key: fmt.Sprintf("canarykey-mistake-%d", i), body: body})
		require.NoError(s.t, err)
		require.GreaterOrEqual(s.t, a.status, http.StatusBadRequest, body)
		answers = append(answers, a)
	}
	reused, err := s.post(s.t.Context(), s.api(), canaryOrder(6).other())
	require.NoError(s.t, err)
	require.Equal(s.t, "422 idempotency_key_reused", reused.said())
	wrong, err := s.do(s.t.Context(), http.MethodGet, s.api().url+"/v1/labels?order_id=1", "",
		"Authorization", "Bearer "+s.key[:len(s.key)-1]+"!")
	require.NoError(s.t, err)
	require.Equal(s.t, "401 unauthenticated", wrong.said())
	return append(answers, reused, wrong)
}

// text reads one text from the database.
func (s *stack) text(query string) string {
	s.t.Helper()
	var text string
	require.NoError(s.t, s.db.QueryRow(s.t.Context(), query).Scan(&text))
	return text
}

// metrics reads what a program shows to operators.
func (s *stack) metrics(p *process) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, p.admin+"/metrics", nil)
	require.NoError(s.t, err)
	resp, err := s.client.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return string(text)
}
