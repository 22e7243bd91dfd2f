package easypost

import (
	"context"
	"encoding/json/v2"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Buy implements [carrier.Carrier]: it buys the rate that Prepare found. The order goes out at most
// once however the connection fails.
func (a *Adapter) Buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	shipmentID, rateID, ok := splitRemoteID(p.RemoteID)
	if !ok {
		result := carrierhttp.NotSent("what was prepared is not a shipment and a rate of this carrier")
		result.Renew, result.AboutOrder = true, true
		return result
	}
	var order struct {
		Rate struct {
			ID string `json:"id"`
		} `json:"rate"`
	}
	order.Rate.ID = rateID
	body, err := json.Marshal(order)
	if err != nil {
		return carrierhttp.NotSent("the request could not be written")
	}
	req, err := a.newRequest(ctx, http.MethodPost, "shipments", shipmentID, "buy")
	if err != nil {
		return carrierhttp.NotSent("the request could not be prepared")
	}
	answer, failed := a.client.SendOnce(req, carrierhttp.JSON, body)
	if failed != nil {
		return *failed
	}
	return a.judge(p, answer)
}
