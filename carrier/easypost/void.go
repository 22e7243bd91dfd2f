package easypost

import (
	"context"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// The states of a refund [documented].
const (
	refundSubmitted     = "submitted"
	refundRefunded      = "refunded"
	refundRejected      = "rejected"
	refundNotApplicable = "not_applicable" // the carrier bills what it has scanned, and nothing else
)

// givenBack tells whether the label is not to be used any more. A refund that is only submitted counts:
// the carrier has taken the label back and checks for weeks (USPS 15 days and more) whether it was
// used. Whoever voids wants to know whether the parcel needs another label, and it does. Whether the
// money came back is for the invoice to say, where a charge without a credit becomes a finding.
func givenBack(refundStatus string) bool {
	return refundStatus == refundSubmitted || refundStatus == refundRefunded
}

// Void implements [carrier.Carrier]: it asks for a refund. What EasyPost refuses is looked at once
// more, because a refund that is already under way is refused as well, and is what we wanted.
func (a *Adapter) Void(ctx context.Context, carrierLabelID string) carrier.VoidResult {
	if !a.cfg.Capabilities.Void {
		return carrierhttp.VoidNotOffered()
	}
	if !shipmentPattern.MatchString(carrierLabelID) {
		return carrierhttp.VoidOfNoLabel("an id")
	}
	req, err := a.newRequest(ctx, http.MethodPost, "shipments", carrierLabelID, "refund")
	if err != nil {
		return carrierhttp.VoidNotSent()
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return carrierhttp.VoidUnknown(carrierhttp.CodeNoAnswer, err.Error())
	}
	result := judgeVoid(answer, carrierLabelID)
	if result.State != carrier.VoidRefused || answer.Status == http.StatusOK {
		return result
	}
	// The refusal stands unless the shipment says that it is given back.
	answer, err = a.get(ctx, "shipments", carrierLabelID)
	if err == nil && judgeVoid(answer, carrierLabelID).State == carrier.Voided {
		return carrier.VoidResult{State: carrier.Voided}
	}
	return result
}

// judgeVoid reads the shipment that a refund is answered with. The message of a refusal is left out:
// it may quote the shipment, which is not at hand here to take out of it.
func judgeVoid(answer carrierhttp.Answer, id string) carrier.VoidResult {
	if answer.Status != http.StatusOK {
		code := carrier.Sanitise(readComplaint(answer).Code)
		switch answer.Status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
			if code != "" {
				return carrier.VoidResult{State: carrier.VoidRefused, Code: code, Message: "the carrier refuses the refund"}
			}
		}
		if code == "" {
			code = noCode(answer.Status)
		}
		return carrierhttp.VoidUnknown(code, "")
	}
	var s shipment
	if !answer.Decode(&s) || s.ID != id {
		return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier's answer is not the shipment")
	}
	switch s.RefundStatus {
	case refundSubmitted, refundRefunded:
		return carrier.VoidResult{State: carrier.Voided}
	case refundRejected, refundNotApplicable:
		return carrier.VoidResult{State: carrier.VoidRefused, Code: s.RefundStatus, Message: "the carrier gives nothing back"}
	default:
		return carrierhttp.VoidUnknown(carrierhttp.CodeMalformed, "the carrier does not say what became of the refund")
	}
}
