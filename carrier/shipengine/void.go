package shipengine

import (
	"cmp"
	"context"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// reasonAlreadyVoided is how a second void is refused [documented]: what we wanted is so.
const reasonAlreadyVoided = "label_already_voided"

// Void implements [carrier.Carrier]. ShipEngine answers 200 to a refusal too.
func (a *Adapter) Void(ctx context.Context, carrierLabelID string) carrier.VoidResult {
	if !a.cfg.Capabilities.Void {
		return carrierhttp.VoidNotOffered()
	}
	if !idPattern.MatchString(carrierLabelID) {
		return carrierhttp.VoidOfNoLabel("an id")
	}
	req, err := a.newRequest(ctx, http.MethodPut, "labels", carrierLabelID, "void")
	if err != nil {
		return carrierhttp.VoidNotSent()
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeNoAnswer, err.Error())
	}
	return judgeVoid(answer)
}

// judgeVoid leaves the carrier's message out: its reason_code says as much.
func judgeVoid(answer carrierhttp.Answer) carrier.VoidResult {
	if answer.Status != http.StatusOK {
		c := readErrors(answer)
		result := c.result(carrier.Purchase{}, answer)
		if answer.Status == http.StatusNotFound && len(c) > 0 {
			return carrierhttp.VoidRefused(result.Code)
		}
		return carrierhttp.VoidUnanswered(result.Code)
	}
	var v struct {
		// Approved is a pointer because an answer without it is no refusal.
		Approved   *bool  `json:"approved"`
		ReasonCode string `json:"reason_code"`
	}
	if !answer.Decode(&v) || v.Approved == nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier's answer is not readable")
	}
	switch {
	case *v.Approved, v.ReasonCode == reasonAlreadyVoided:
		return carrier.VoidResult{State: carrier.Voided}
	default:
		return carrierhttp.VoidRefused(cmp.Or(v.ReasonCode, "not_approved"))
	}
}
