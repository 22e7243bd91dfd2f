package sim

import (
	"context"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

const (
	statusVoided  = "voided"
	statusRefused = "refused"

	// codeAlreadyVoided is how the carrier refuses a second void: what we wanted is so.
	codeAlreadyVoided = "already_voided"
)

// Void implements [carrier.Carrier].
func (a *Adapter) Void(ctx context.Context, carrierLabelID string) carrier.VoidResult {
	if !a.cfg.Capabilities.Void {
		return carrierhttp.VoidNotOffered()
	}
	if !labelIDPattern.MatchString(carrierLabelID) {
		return carrierhttp.VoidOfNoLabel("an id")
	}
	req, err := a.newRequest(ctx, http.MethodPost, "labels", carrierLabelID, "void")
	if err != nil {
		return carrierhttp.VoidNotSent()
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeNoAnswer, err.Error())
	}
	return judgeVoid(answer)
}

func judgeVoid(a carrierhttp.Answer) carrier.VoidResult {
	var v struct {
		Status string `json:"status"`
		Code   string `json:"code"`
	}
	switch {
	case !a.Decode(&v):
		return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier's answer is not readable")
	case a.Status == http.StatusOK && v.Status == statusVoided,
		a.Status == http.StatusOK && v.Status == statusRefused && v.Code == codeAlreadyVoided:
		return carrier.VoidResult{State: carrier.Voided, Code: carrier.Sanitise(v.Code)}
	case a.Status == http.StatusOK && v.Status == statusRefused,
		a.Status == http.StatusNotFound && v.Code != "":
		return carrierhttp.VoidRefused(v.Code)
	}
	return carrierhttp.VoidUnanswered(v.Code)
}
