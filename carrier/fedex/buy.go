package fedex

import (
	"context"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Buy implements [carrier.Carrier]. The order goes out at most once however the connection fails.
func (a *Adapter) Buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	order, err := a.encodeOrder(p)
	if err != nil {
		return carrier.Result{
			Outcome: carrier.Rejected,
			Code:    carrierhttp.CodeUnencodable,
			Message: "the shipment holds text that is not UTF-8",
		}
	}
	token, err := a.tokens.Token(ctx)
	if err != nil {
		return carrierhttp.NotSent(err.Error())
	}
	req, err := a.request(ctx, http.MethodPost, token, "shipments")
	if err != nil {
		return carrierhttp.NotSent("the request could not be prepared")
	}
	req.Header.Set("X-Customer-Transaction-Id", p.Reference)
	answer, failed := a.client.SendOnce(req, carrierhttp.JSON, order)
	if failed != nil {
		return *failed
	}
	if answer.Status == http.StatusUnauthorized {
		a.tokens.Forget(token)
	}
	return judge(p, a.cfg.Currency, answer)
}
