package sim

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"waybill/carrier"
)

// Codes of our own, where the carrier said nothing that could be used as one.
const (
	codeUnencodable = "unencodable"
	codeNotSent     = "not_sent"
	codeNoAnswer    = "no_answer"
)

// Buy implements [carrier.Carrier]. The order goes out at most once however the connection fails.
func (a *Adapter) Buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	order, err := encodeOrder(p)
	if err != nil {
		return carrier.Result{
			Outcome: carrier.Rejected,
			Code:    codeUnencodable,
			Message: "the shipment holds text that is not UTF-8",
		}
	}
	req, err := a.newRequest(ctx, http.MethodPost, "labels")
	if err != nil {
		return carrier.Result{Outcome: carrier.NotBought, Code: codeNotSent, Message: "the request could not be prepared"}
	}
	body := newSealedBody(order)
	req.Body, req.ContentLength = body, int64(len(order))
	// net/http sends a POST with an Idempotency-Key again, by itself, when a reused connection
	// dies: a second order behind our back. It cannot without GetBody.
	req.GetBody = nil
	req.Header.Set("Content-Type", jsonType)
	if a.cfg.Capabilities.Key != nil {
		req.Header.Set("Idempotency-Key", wireKey(p.CarrierKey))
	}

	resp, err := a.client.Do(req)
	if err != nil {
		return noAnswer(ctx, body, err)
	}
	defer resp.Body.Close()
	return judge(p, a.cfg.Currency, readAnswer(resp))
}

// noAnswer tells a request that never left from one whose answer never came.
func noAnswer(ctx context.Context, body *sealedBody, err error) carrier.Result {
	if body.Seal() {
		return carrier.Result{
			Outcome: carrier.NotBought,
			Code:    codeNotSent,
			// Whoever never had the order has nothing of it to say, so the error's text is safe.
			Message: carrier.Sanitise("not sent: " + reason(err)),
		}
	}
	return carrier.Result{
		Outcome: carrier.Unknown,
		Code:    codeNoAnswer,
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
