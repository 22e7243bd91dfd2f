package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/problem"
)

// source is a body that counts what is read of it. It goes on for ever, or for as long as it is told.
type source struct {
	text string // repeated
	left int
	read int
}

func (s *source) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && s.left > 0 {
		part := copy(p[n:min(len(p), n+s.left)], s.text[s.read%len(s.text):])
		n, s.read, s.left = n+part, s.read+part, s.left-part
	}
	return n, nil
}

func (*source) Close() error { return nil }

// recorder is a response that has a connection's deadlines, as far as the handler can see.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) SetReadDeadline(time.Time) error { return nil }

// TestMemoryStaysFlat counts what one request may cost, in bytes read and in bytes allocated, whatever
// it sends: so many requests at once need so many times that, and no more.
//
//nolint:paralleltest // The allocator's counter is the process's: nothing else may run.
func TestMemoryStaysFlat(t *testing.T) {
	const endless = 1 << 40
	b := setup(t)
	mux := b.api.newMux(b.api.routes())
	for name, tt := range map[string]struct {
		body *source
		code problem.Code
	}{
		"Endless":         {&source{text: " ", left: endless}, problem.BodyTooLarge},
		"TenMegabytes":    {&source{text: validBody, left: 10 << 20}, problem.BodyTooLarge},
		"EndlessBrackets": {&source{text: "[", left: endless}, problem.BodyTooLarge},
		"Brackets":        {&source{text: "[", left: maxBody}, problem.MalformedJSON},
		"EndlessString":   {&source{text: `"`, left: endless}, problem.BodyTooLarge},
		"ManyMembers":     {wholeBody(manyMembers()), problem.InvalidRequest},
		"ManyNulls":       {wholeBody(`[null` + strings.Repeat(",null", 13_000) + `]`), problem.InvalidRequest},
		"OneLongName":     {wholeBody(`{"` + strings.Repeat("é", 30_000) + `": 1}`), problem.InvalidRequest},
		"OneLongNumber":   {wholeBody(`{"order_id": ` + strings.Repeat("9", 60_000) + `}`), problem.InvalidRequest},
		"OneLongText":     {wholeBody(`{"service": "` + strings.Repeat(`\u0041`, 10_000) + `"}`), problem.InvalidRequest},
		"Escapes":         {wholeBody(`{"` + strings.Repeat(`~/`, 30_000) + `": 1}`), problem.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, labelsPath, tt.body)
			r.Header = http.Header{
				"Authorization": {"Bearer " + b.key}, "Content-Type": {"application/json"}, keyHeader: {"memory"},
			}
			w := recorder{httptest.NewRecorder()}
			mux.ServeHTTP(w, r)
			runtime.ReadMemStats(&after)

			answer{w.Code, w.Header(), w.Body.String()}.requireProblem(t, tt.code)
			require.LessOrEqual(t, tt.body.read, maxBody+1, "bytes read of the body")
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes read, %d allocated, %d answered", tt.body.read, allocated, w.Body.Len())
			require.Less(t, allocated, uint64(64*maxBody), "bytes allocated")
			require.Less(t, w.Body.Len(), maxAnswer)
		})
	}
	b.requireNothingStored(t)
}

func wholeBody(text string) *source { return &source{text: text, left: len(text)} }

func manyMembers() string {
	var body strings.Builder
	body.WriteString(`{"a": 1`)
	for i := 0; body.Len() < maxBody-20; i++ {
		fmt.Fprintf(&body, `,"m%x":1`, i)
	}
	body.WriteString("}")
	return body.String()
}
