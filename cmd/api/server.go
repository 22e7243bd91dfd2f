package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"waybill/caller"
	"waybill/carrier/catalog"
	"waybill/internal/problem"
	"waybill/internal/service"
	"waybill/outbox"
)

const requestIDHeader = "X-Request-Id"

// statusClientGone is logged and counted for requests whose client hung up before the answer, as
// other servers do. What is sent, should anybody read it, is 503.
const statusClientGone = 499

// api answers the HTTP contract. Everything it needs is given to it.
type api struct {
	outbox   *outbox.Outbox
	keys     *caller.Keys
	carriers *catalog.Catalog
	limits   *limiter
	waiting  places
	ready    *service.Readiness
	metrics  *metrics
	logger   *zap.Logger
	refusals *zap.Logger // of requests that are turned away because there are too many
	now      func() time.Time

	// bodyTimeout is how long a body may take to arrive.
	bodyTimeout time.Duration

	// stopping ends when the process begins to stop: whoever waits is then answered at once.
	stopping context.Context //nolint:containedctx // It is the process's life, not a request's.
}

// handler answers one request, or returns what is wrong with it.
type handler func(w http.ResponseWriter, r *request) error

// request is an HTTP request and what became known of it on the way.
type request struct {
	*http.Request

	id     string
	caller caller.Caller

	// intent is the label intent that the request turned out to be about; uuid.Nil if none.
	intent uuid.UUID
}

// response notes the status, for the log and the metrics.
type response struct {
	http.ResponseWriter

	status int
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serve wraps a handler: request id, headers, error to problem document, panic to 500, one log line
// and one count. It is the only place that does any of these.
func (a *api) serve(route string, h handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, hr *http.Request) {
		started := a.now()
		w := &response{ResponseWriter: rw}
		r := &request{Request: hr, id: requestID(hr.Header)}
		setHeaders(w.Header(), r.id)
		closeAfterAmbiguity(w.Header(), hr)

		var refused *refusal
		if err := a.guarded(h, w, r); err != nil {
			refused = toRefusal(err)
			// The request's end may be what went wrong. A client that only ended its half of the
			// connection reads on, and must not be left with net/http's 200 for want of an answer.
			gone := w.status == 0 && hr.Context().Err() != nil && !errors.As(err, new(*refusal))
			if w.status == 0 {
				writeRefusal(w, r, refused)
			}
			if gone {
				w.status = statusClientGone
			}
		}
		a.metrics.requests.WithLabelValues(strconv.Itoa(w.status), route).Inc()
		a.log(route, r, w.status, refused, a.now().Sub(started))
	})
}

// guarded turns a panic into an internal error: one request fails, not the process.
func (a *api) guarded(h handler, w http.ResponseWriter, r *request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return h(w, r)
}

// log writes the request's one line. It names nobody's data and no key.
func (a *api) log(route string, r *request, status int, refused *refusal, took time.Duration) {
	fields := []zap.Field{
		zap.String("request_id", r.id),
		zap.String("route", route),
		zap.Int("status", status),
		zap.Duration("duration", took),
	}
	if r.caller.ID != "" {
		fields = append(fields, zap.String("caller_id", r.caller.ID), zap.String("key_id", r.caller.KeyID))
	}
	if r.intent != uuid.Nil {
		fields = append(fields, zap.Stringer("intent_id", r.intent))
	}
	if refused != nil {
		fields = append(fields, zap.String("code", string(refused.document.Code)))
		if refused.cause != nil {
			fields = append(fields, zap.Error(refused.cause))
		}
	}
	switch {
	case refused != nil && tooMany(refused.document.Code):
		a.refusals.Info("request", fields...)
	case refused != nil && status >= http.StatusInternalServerError:
		a.logger.Error("request", fields...)
	default:
		a.logger.Info("request", fields...)
	}
}

// tooMany tells the refusals of which there may be thousands a second, by no fault of ours.
func tooMany(code problem.Code) bool {
	return code == problem.Overloaded || code == problem.RateLimited
}

const (
	// refusalsLogged is how many refusals for want of room are logged each second: enough to see who is
	// turned away. All of them are counted.
	refusalsLogged = 50

	// refusalLoggedEach is which of the others are logged too.
	refusalLoggedEach = 1000
)

// newRefusalLogger keeps a flood from flooding the log as well: what it would write costs more than
// the refusals themselves.
func newRefusalLogger(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Second, refusalsLogged, refusalLoggedEach)
	}))
}

// setHeaders sets what every answer bears: it is data for a program, never a page, and nobody's but
// the caller's.
func setHeaders(h http.Header, id string) {
	h.Set(requestIDHeader, id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
}

// closeAfterAmbiguity ends a connection after a request whose end a proxy in front may have seen
// elsewhere. Of chunks beside a Content-Length, and of chunks in HTTP/1.0, net/http takes one and
// tells nobody of the other; what follows on the connection could then be somebody's smuggled request
// (RFC 9112, section 6.1). Clients that send chunks are few, and pay a handshake.
func closeAfterAmbiguity(h http.Header, r *http.Request) {
	if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
		h.Set("Connection", "close")
	}
}

// requestID takes the client's id if it can stand in a log, else makes one.
func requestID(h http.Header) string {
	if id := h.Get(requestIDHeader); validRequestID(id) {
		return id
	}
	id, err := uuid.NewV7()
	if err != nil {
		panic(fmt.Sprintf("making a request id: %v", err)) // the system is out of random numbers
	}
	return id.String()
}

func validRequestID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

func writeRefusal(w http.ResponseWriter, r *request, refused *refusal) {
	document := refused.document
	document.Instance = r.id
	if refused.retryAfter > 0 {
		setRetryAfter(w.Header(), refused.retryAfter)
	}
	if document.Code == problem.Unauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeBody(w, document.Status, document.Encode())
}

// setRetryAfter asks the client to come back after about d: spread, so that those who were turned
// away together do not come back together.
func setRetryAfter(h http.Header, d time.Duration) {
	spread := d + rand.N(d+time.Second) //nolint:gosec // G404: who guesses it has guessed nothing.
	h.Set("Retry-After", strconv.Itoa(int(spread/time.Second)))
}

// writeBody sends a whole answer; errors are problem documents, everything else is plain JSON.
func writeBody(w http.ResponseWriter, status int, body []byte) {
	contentType := "application/json"
	if status >= http.StatusBadRequest {
		contentType = problem.ContentType
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// A client that is gone hears nothing; the answer is saved where it matters.
	_, _ = w.Write(body)
}
