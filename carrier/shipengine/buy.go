package shipengine

import (
	"context"
	"encoding/json/v2"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// purchase is the body of POST /labels/shipment/{id}. It never asks for a test_label: look-ups do not
// show those, so that they would look like labels which were not bought [documented].
type purchase struct {
	LabelFormat       string `json:"label_format"`
	LabelLayout       string `json:"label_layout"`
	LabelDownloadType string `json:"label_download_type"`
}

// Buy implements [carrier.Carrier]: it buys a label for the shipment that Prepare has made. The order
// goes out at most once however the connection fails.
func (a *Adapter) Buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	if !idPattern.MatchString(p.RemoteID) {
		result := carrierhttp.NotSent("what was prepared is not a shipment of this carrier")
		result.Renew, result.AboutOrder = true, true
		return result
	}
	body, err := json.Marshal(purchase{
		LabelFormat:       string(p.Shipment.Format),
		LabelLayout:       "4x6",
		LabelDownloadType: "url",
	})
	if err != nil {
		return carrierhttp.NotSent("the request could not be written")
	}
	req, err := a.newRequest(ctx, http.MethodPost, "labels", "shipment", p.RemoteID)
	if err != nil {
		return carrierhttp.NotSent("the request could not be prepared")
	}
	answer, failed := a.client.SendOnce(req, carrierhttp.JSON, body)
	if failed != nil {
		return *failed
	}
	return a.judge(p, answer)
}
