package easyship

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
	req, err := a.request(ctx, http.MethodPost, "shipments")
	if err != nil {
		return carrierhttp.NotSent("the request could not be prepared")
	}
	if a.cfg.Capabilities.Key != nil {
		req.Header.Set("Idempotency-Key", wireKey(p.CarrierKey))
	}
	answer, failed := a.client.SendOnce(req, carrierhttp.JSON, order)
	if failed != nil {
		return *failed
	}
	return a.judge(p, answer)
}
