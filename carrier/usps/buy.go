package usps

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Buy implements [carrier.Carrier]. The order goes out at most once however the connection fails.
func (a *Adapter) Buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	keyed := a.cfg.Capabilities.Key != nil
	// Where a key is honoured a passed date goes out all the same: an earlier call may have bought, and
	// only the carrier can say so.
	if !isDate(p.RemoteID) || !keyed && a.expired(p.RemoteID) {
		return runOut()
	}
	order, err := encodeOrder(p)
	if err != nil {
		return carrier.Result{
			Outcome: carrier.Rejected,
			Code:    carrierhttp.CodeUnencodable,
			Message: "the shipment holds text that is not UTF-8",
		}
	}
	tokens, err := a.authorise(ctx)
	if err != nil {
		return carrierhttp.NotSent(err.Error())
	}
	req, err := a.request(ctx, http.MethodPost, tokens, "label")
	if err != nil {
		return carrierhttp.NotSent("the request could not be prepared")
	}
	if keyed {
		req.Header.Set("X-Idempotency-Key", wireKey(p.CarrierKey))
	}
	answer, failed := a.client.SendOnce(req, carrierhttp.JSON, order)
	if failed != nil {
		return *failed
	}
	if answer.Status == http.StatusUnauthorized {
		a.forget(tokens)
	}
	result := judge(p, answer)
	if result.Outcome == carrier.Rejected && a.expired(p.RemoteID) {
		return runOut() // refused for its date, as far as anybody can tell
	}
	return result
}

// keySpace makes our keys UUIDs of a name space of their own (RFC 9562, section 5.5).
var keySpace = uuid.MustParse("0b8b4c1e-6d0f-5f0a-9a52-3f2f4e6d7c11")

// wireKey is the carrier key as USPS takes it, a UUID: the same on every attempt.
func wireKey(carrierKey string) string { return uuid.NewSHA1(keySpace, []byte(carrierKey)).String() }
