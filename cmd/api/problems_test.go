package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"waybill/caller"
	"waybill/internal/problem"
	"waybill/outbox"
)

func TestToRefusal(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		err        error
		want       problem.Code
		retryAfter bool
	}{
		"Refusal":           {refuse(problem.RateLimited, "slow down"), problem.RateLimited, false},
		"Unauthenticated":   {caller.ErrUnauthenticated, problem.Unauthenticated, false},
		"Busy":              {caller.ErrBusy, problem.Overloaded, true},
		"NotFound":          {outbox.ErrNotFound, problem.NotFound, false},
		"Overloaded":        {outbox.ErrOverloaded, problem.Overloaded, true},
		"Unavailable":       {outbox.ErrUnavailable, problem.Unavailable, true},
		"Refused":           {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, problem.Unavailable, true},
		"Reset":             {io.ErrUnexpectedEOF, problem.Unavailable, true},
		"TooSlow":           {context.DeadlineExceeded, problem.Unavailable, true},
		"AdminShutdown":     {&pgconn.PgError{Code: "57P01"}, problem.Unavailable, true},
		"TooManyClients":    {&pgconn.PgError{Code: "53300"}, problem.Unavailable, true},
		"Deadlock":          {&pgconn.PgError{Code: "40P01"}, problem.Unavailable, true},
		"OurStatement":      {&pgconn.PgError{Code: "42601"}, problem.Internal, false},
		"AnythingElse":      {errors.New("a bug"), problem.Internal, false},
		"CancelledByItself": {context.Canceled, problem.Unavailable, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := toRefusal(fmt.Errorf("doing something secret: %w", tt.err))
			require.Equal(t, tt.want, got.document.Code)
			require.Equal(t, tt.retryAfter, got.retryAfter > 0)
			require.NotContains(t, string(got.document.Encode()), "secret")
		})
	}
}

// TestServe proves the wrapper on handlers that do what no handler should.
func TestServe(t *testing.T) {
	t.Parallel()

	for name, h := range map[string]handler{
		"Panic":      func(http.ResponseWriter, *request) error { panic("secret") },
		"PlainError": func(http.ResponseWriter, *request) error { return errors.New("secret") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core, logs := observer.New(zapcore.InfoLevel)
			a := &api{logger: zap.New(core), metrics: newMetrics(prometheus.NewRegistry()), now: time.Now}
			recorder := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			a.serve("GET /", h).ServeHTTP(recorder, r)
			got := answer{status: recorder.Code, header: recorder.Header(), body: recorder.Body.String()}
			got.requireProblem(t, problem.Internal)
			require.NotContains(t, got.body, "secret")
			require.Equal(t, 1, logs.Len())
			require.Contains(t, logs.All()[0].ContextMap()["error"], "secret", "the operator must see it")
		})
	}
}

// TestEveryCodeIsMade finds for each code of the table the place that answers with it; a code that
// nobody makes is a promise nobody keeps.
func TestEveryCodeIsMade(t *testing.T) {
	t.Parallel()

	made := map[problem.Code]string{
		problem.IdempotencyKeyMissing: "idemkey.go",
		problem.IdempotencyKeyInvalid: "idemkey.go",
		problem.MalformedJSON:         "decode.go",
		problem.InvalidRequest:        "submit.go",
		problem.Unauthenticated:       "problems.go",
		problem.Forbidden:             "auth.go",
		problem.NotFound:              "problems.go",
		problem.MethodNotAllowed:      "routes.go",
		problem.RequestTimeout:        "body.go",
		problem.RequestInProgress:     "answer.go",
		problem.PurchaseInDoubt:       "answer.go",
		problem.ParcelAlreadyLabelled: "answer.go",
		problem.LabelVersionConflict:  "submit.go",
		problem.PreconditionFailed:    "revise.go",
		problem.PreconditionRequired:  "etag.go",
		problem.BodyTooLarge:          "body.go",
		problem.UnsupportedMediaType:  "body.go",
		problem.IdempotencyKeyReused:  "answer.go",
		problem.RateLimited:           "limit.go",
		problem.Internal:              "problems.go",
		problem.Overloaded:            "problems.go",
		problem.Unavailable:           "problems.go",
		problem.CarrierRejected:       "saved by outbox",
		problem.CarrierUnavailable:    "saved by outbox",
	}
	for _, code := range problem.Codes() {
		require.Contains(t, made, code)
	}
	require.Len(t, made, len(problem.Codes()))
}
