package usps

import (
	"context"
	"net/http"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Void implements [carrier.Carrier]. A label that is in a manifest already is not cancelled: its refund
// is asked for, and decided later.
func (a *Adapter) Void(ctx context.Context, carrierLabelID string) carrier.VoidResult {
	if !trackingPattern.MatchString(carrierLabelID) {
		return carrierhttp.VoidOfNoLabel("a tracking number")
	}
	tokens, err := a.authorise(ctx)
	if err != nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeNotSent, err.Error())
	}
	req, err := a.request(ctx, http.MethodDelete, tokens, "label", carrierLabelID)
	if err != nil {
		return carrierhttp.VoidNotSent()
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeNoAnswer, err.Error())
	}
	if answer.Status == http.StatusUnauthorized {
		a.forget(tokens)
	}
	return judgeVoid(answer)
}

// The states of a cancellation (second-hand).
const (
	statusCanceled = "CANCELED"
	statusDisputed = "DISPUTED"
)

func judgeVoid(a carrierhttp.Answer) carrier.VoidResult {
	if a.Status == http.StatusOK {
		return judgeCancelled(a)
	}
	c, documented := readComplaint(a)
	result := carrier.VoidResult{
		State:   carrier.VoidUnknown,
		Code:    c.code(a.Status),
		Message: carrier.Sanitise(c.message()),
	}
	switch {
	case a.Status != http.StatusBadRequest || !documented:
	case c.saysAlready():
		result.State = carrier.Voided
	default:
		result.State = carrier.VoidRefused
	}
	return result
}

func judgeCancelled(a carrierhttp.Answer) carrier.VoidResult {
	var v struct {
		Status    string `json:"status"`
		DisputeID string `json:"disputeId"`
	}
	switch {
	case !a.Decode(&v):
	case v.Status == statusCanceled:
		return carrier.VoidResult{State: carrier.Voided, Code: statusCanceled}
	case v.Status == statusDisputed:
		return carrier.VoidResult{
			State: carrier.Voided, Code: statusDisputed,
			Message: carrier.Sanitise("refund asked for, dispute " + v.DisputeID),
		}
	}
	return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier's answer is not readable")
}

// saysAlready finds the refusal of a second cancellation. USPS has no code of its own for it, so its
// words decide (second-hand: "has already been submitted today"). Should they change, the void is
// refused, and a person looks.
func (c complaint) saysAlready() bool {
	return strings.Contains(strings.ToLower(c.message()), " already ")
}
