package usps

import (
	"context"
	"net/http"
	"regexp"

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
	return judgeVoid(answer, carrierLabelID)
}

// The states of a cancellation (second-hand).
const (
	statusCanceled = "CANCELED"
	statusDisputed = "DISPUTED"
)

const codeWrongLabel = "wrong_label"

func judgeVoid(a carrierhttp.Answer, trackingNo string) carrier.VoidResult {
	if a.Status == http.StatusOK {
		return judgeCancelled(a, trackingNo)
	}
	c, documented := readComplaint(a)
	switch {
	case a.Status != http.StatusBadRequest || !documented:
		return carrierhttp.VoidUnanswered(c.code(a.Status))
	case alreadyAsked.MatchString(c.message()):
		return carrier.VoidResult{State: carrier.Voided, Code: c.code(a.Status)}
	default:
		return carrierhttp.VoidRefused(c.code(a.Status))
	}
}

func judgeCancelled(a carrierhttp.Answer, trackingNo string) carrier.VoidResult {
	var v struct {
		TrackingNo string `json:"trackingNumber"`
		Status     string `json:"status"`
		DisputeID  string `json:"disputeId"`
	}
	switch {
	case !a.Decode(&v):
	case v.TrackingNo != "" && v.TrackingNo != trackingNo:
		return carrierhttp.VoidUnknown(codeWrongLabel, "the carrier's answer is about another label")
	case v.Status == statusCanceled:
		return carrier.VoidResult{State: carrier.Voided, Code: statusCanceled}
	case v.Status == statusDisputed && digits.MatchString(v.DisputeID):
		return carrier.VoidResult{State: carrier.Voided, Code: statusDisputed, Message: "refund asked for, dispute " + v.DisputeID}
	case v.Status == statusDisputed:
		return carrier.VoidResult{State: carrier.Voided, Code: statusDisputed, Message: "refund asked for"}
	}
	return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier's answer is not readable")
}

// alreadyAsked finds the refusal of a second cancellation. USPS has no code of its own for it, so its
// words decide (second-hand: "A refund request for this order has already been submitted today"; the
// other is inferred from the state's name). A label that was used already is refused too, and is not void.
// Should the words change, the void is refused, and a person looks.
var alreadyAsked = regexp.MustCompile(`(?i)\brefund request\b.*\balready been submitted\b|\balready (been )?cancell?ed\b`)
