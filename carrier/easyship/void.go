package easyship

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"net/http"
	"strconv"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Void implements [carrier.Carrier]. Easyship refuses to cancel what is voided already (documented), with
// no code of its own for it: after a refusal the shipment is read, and its state decides.
func (a *Adapter) Void(ctx context.Context, carrierLabelID string) carrier.VoidResult {
	if !idPattern.MatchString(carrierLabelID) {
		return carrierhttp.VoidOfNoLabel("an id")
	}
	req, err := a.request(ctx, http.MethodPost, "shipments", carrierLabelID, "cancel")
	if err != nil {
		return carrierhttp.VoidNotSent()
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeNoAnswer, err.Error())
	}
	result := judgeVoid(answer)
	if result.State != carrier.VoidRefused {
		return result
	}
	if s, err := a.get(ctx, carrierLabelID); err == nil && s.State == stateVoided {
		return carrier.VoidResult{State: carrier.Voided}
	}
	return result
}

// judgeVoid: a refusal is documented with 400, 404 and 422, always with a code.
func judgeVoid(a carrierhttp.Answer) carrier.VoidResult {
	var v struct {
		Success jsontext.Value `json:"success"`
	}
	c := readComplaint(a)
	code := cmp.Or(carrier.Sanitise(c.Code), "http_"+strconv.Itoa(a.Status))
	switch a.Status {
	case http.StatusOK:
		if a.Decode(&v) && v.Success.Kind() == '{' && c.Code == "" {
			return carrier.VoidResult{State: carrier.Voided}
		}
		return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier's answer is not readable")
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		if c.Code != "" && c.Code != "api_error" {
			return carrierhttp.VoidRefused(code)
		}
	}
	return carrierhttp.VoidUnanswered(code)
}
