package fedex

import (
	"context"
	"encoding/json/v2"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// cancellation is the body of PUT /ship/v1/shipments/cancel.
type cancellation struct {
	Account    value  `json:"accountNumber"`
	Control    string `json:"deletionControl"`
	TrackingNo string `json:"trackingNumber"`
}

// codeNotFound is how FedEx says that it has no such shipment. Other pages with 404 say nothing.
const codeNotFound = "NOT.FOUND.ERROR"

// Void implements [carrier.Carrier]. FedEx cancels what has not been handed over yet.
func (a *Adapter) Void(ctx context.Context, carrierLabelID string) carrier.VoidResult {
	if !trackingPattern.MatchString(carrierLabelID) {
		return carrierhttp.VoidOfNoLabel("a tracking number")
	}
	answer, err := a.cancel(ctx, carrierLabelID)
	if err != nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeNoAnswer, err.Error())
	}
	return judgeVoid(answer)
}

func (a *Adapter) cancel(ctx context.Context, trackingNo string) (carrierhttp.Answer, error) {
	body, err := json.Marshal(cancellation{
		Account: value{a.cfg.Account}, Control: "DELETE_ALL_PACKAGES", TrackingNo: trackingNo,
	})
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	token, err := a.tokens.Token(ctx)
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	req, err := a.request(ctx, http.MethodPut, token, "shipments", "cancel")
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	carrierhttp.SetBody(req, carrierhttp.JSON, body)
	answer, err := a.client.Do(req)
	if err == nil && answer.Status == http.StatusUnauthorized {
		a.tokens.Forget(token)
	}
	return answer, err
}

// judgeVoid: either boolean says that the shipment is gone, now or before (second-hand). A refusal is a
// 200 with neither, a 400, or the 404 that is declared for a shipment that is not there (second-hand); both
// with an error body, and no error of the carrier's own.
func judgeVoid(a carrierhttp.Answer) carrier.VoidResult {
	var v struct {
		Errors complaints `json:"errors"`
		Output *struct {
			Shipment bool `json:"cancelledShipment"`
			History  bool `json:"cancelledHistory"`
		} `json:"output"`
	}
	if !a.Decode(&v) {
		return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier's answer is not readable")
	}
	found := readErrors(a)
	switch {
	case a.Status == http.StatusOK && len(v.Errors) == 0 && v.Output != nil:
		if v.Output.Shipment || v.Output.History {
			return carrier.VoidResult{State: carrier.Voided}
		}
		return carrierhttp.VoidRefused("not_cancelled")
	case a.Status == http.StatusBadRequest && classify(a.Status, found) == carrier.Rejected,
		a.Status == http.StatusNotFound && len(found) > 0 && found[0].Code == codeNotFound:
		return carrierhttp.VoidRefused(found.code(a.Status))
	}
	return carrierhttp.VoidUnanswered(found.code(a.Status))
}
