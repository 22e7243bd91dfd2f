package sim

import (
	"context"
	"encoding/json/v2"
	"net/http"

	"waybill/carrier"
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
		return carrier.VoidResult{State: carrier.VoidRefused, Code: "not_offered", Message: "this carrier voids no labels"}
	}
	if !labelIDPattern.MatchString(carrierLabelID) {
		return carrier.VoidResult{State: carrier.VoidRefused, Code: "not_a_label_id", Message: "not an id of this carrier"}
	}
	req, err := a.newRequest(ctx, http.MethodPost, "labels", carrierLabelID, "void")
	if err != nil {
		return carrier.VoidResult{State: carrier.VoidUnknown, Code: codeNotSent, Message: "the request could not be prepared"}
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return carrier.VoidResult{
			State:   carrier.VoidUnknown,
			Code:    codeNoAnswer,
			Message: carrier.Sanitise(describe(ctx, err)),
		}
	}
	defer resp.Body.Close()
	return judgeVoid(readAnswer(resp))
}

func judgeVoid(a answer) carrier.VoidResult {
	var v struct {
		Status  string `json:"status"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	readable := a.whole && a.isJSON() && json.Unmarshal(a.body, &v) == nil
	result := carrier.VoidResult{
		State:   carrier.VoidUnknown,
		Code:    carrier.Sanitise(v.Code),
		Message: carrier.Sanitise(v.Message),
	}
	switch {
	case !readable:
		return carrier.VoidResult{State: carrier.VoidUnknown, Code: codeMalformed, Message: "the carrier's answer is not readable"}
	case a.status == http.StatusOK && v.Status == statusVoided,
		a.status == http.StatusOK && v.Status == statusRefused && v.Code == codeAlreadyVoided:
		result.State = carrier.Voided
	case a.status == http.StatusOK && v.Status == statusRefused,
		a.status == http.StatusNotFound && v.Code != "":
		result.State = carrier.VoidRefused
	}
	return result
}
