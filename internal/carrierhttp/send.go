package carrierhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"

	"waybill/carrier"
)

// Codes of our own, where the carrier said nothing that could be used as one.
const (
	CodeUnencodable = "unencodable"      // the shipment cannot be written in the carrier's format
	CodeNotSent     = "not_sent"         // the request never left
	CodeNoAnswer    = "no_answer"        // the request left, and nothing came back
	CodeMalformed   = "malformed_answer" // what came back says success, and cannot be read
)

// SendOnce sends a request with a body at most once, however the connection fails. Without an answer
// it returns what that proves as a result: that nothing was bought, because no byte of the body was
// ever read; or nothing.
func (c *Client) SendOnce(req *http.Request, contentType string, body []byte) (Answer, *carrier.Result) {
	sealed := newSealedBody(body)
	req.Body, req.ContentLength = sealed, int64(len(body))
	// net/http sends a POST with an Idempotency-Key again, by itself, when a reused connection
	// dies: a second order behind our back. It cannot without GetBody.
	req.GetBody = nil
	req.Header.Set("Content-Type", contentType)
	resp, err := c.http.Do(req) //nolint:gosec // G704: the address is the operator's, and what follows it was escaped.
	if err != nil {
		return Answer{}, noAnswer(req.Context(), sealed, err)
	}
	defer resp.Body.Close()
	return readAnswer(resp), nil
}

// NotSent is the result of a purchase that could not even be prepared.
func NotSent(message string) carrier.Result {
	return carrier.Result{Outcome: carrier.NotBought, Code: CodeNotSent, Message: carrier.Sanitise(message)}
}

// noAnswer tells a request that never left from one whose answer never came.
func noAnswer(ctx context.Context, body *sealedBody, err error) *carrier.Result {
	if body.Seal() {
		// Whoever never had the order has nothing of it to say, so the error's text is safe.
		result := NotSent("not sent: " + reason(err))
		return &result
	}
	return &carrier.Result{
		Outcome: carrier.Unknown,
		Code:    CodeNoAnswer,
		Message: carrier.Sanitise("sent, but not answered: " + describe(ctx, err)),
	}
}

// reason leaves out the method and the address that net/http puts before its errors.
func reason(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err.Error()
	}
	return err.Error()
}

// Do makes a call that may be repeated: a look-up, or one that costs nothing. Its error says why
// there is no answer; it is the context's own where that has ended.
func (c *Client) Do(req *http.Request) (Answer, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		if ended := req.Context().Err(); ended != nil {
			return Answer{}, ended
		}
		return Answer{}, errors.New(describe(req.Context(), err))
	}
	defer resp.Body.Close()
	return readAnswer(resp), nil
}

// describe says why a call brought no answer, in words that hold nothing of the answer: net/http
// quotes a malformed one in its error text.
func describe(ctx context.Context, err error) string {
	if cause := ctx.Err(); cause != nil {
		return cause.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	return "connection lost, or not an HTTP answer"
}
