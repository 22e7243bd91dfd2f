package easypost

import (
	"errors"
	"regexp"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// Codes of an answer that says 200 and is not the label that was ordered. All of them are unknown.
const (
	codeNotSold        = "no_postage_label"
	codeWrongShipment  = "wrong_shipment"
	codeWrongReference = "wrong_reference"
	codeNoTracking     = "no_tracking"
	codeWrongCurrency  = "wrong_currency"
	codeWrongService   = "wrong_service"
	codeRefunded       = "refunded"
)

// judgeSuccess tells a sold shipment from an answer that only says 200. Any doubt is unknown, with what
// was read as evidence: the label exists and may have been paid for.
func (a *Adapter) judgeSuccess(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	var s shipment
	if !answer.Decode(&s) || !shipmentPattern.MatchString(s.ID) {
		return unknown(carrierhttp.CodeMalformed, "the carrier answered without a readable shipment", nil)
	}
	if s.PostageLabel == nil {
		return unknown(codeNotSold, "the carrier answered with a shipment that is not sold", nil)
	}
	if s.check() != nil {
		return unknown(carrierhttp.CodeMalformed, "the carrier answered without a readable label", nil)
	}
	label := s.label()
	code, message := a.compare(s, label, p)
	if code == "" && answer.TellsError() {
		code, message = carrierhttp.CodeErrors, "the carrier answered with a label and with an error"
	}
	if code != "" {
		return unknown(code, message, &label)
	}
	return carrier.Result{Outcome: carrier.Bought, Label: &label}
}

func unknown(code, message string, evidence *carrier.Label) carrier.Result {
	return carrier.Result{Outcome: carrier.Unknown, Code: code, Message: message, Label: evidence}
}

// compare returns a code and a sentence if the label is not the one that was ordered.
func (a *Adapter) compare(s shipment, l carrier.Label, p carrier.Purchase) (code, message string) {
	ordered, _, _ := splitRemoteID(p.RemoteID)
	limit := p.Shipment.MaxCostCents
	switch {
	case s.ID != ordered:
		return codeWrongShipment, "the label is for another shipment"
	case l.Reference != p.Reference:
		return codeWrongReference, "the label is for another reference"
	case l.TrackingNo == "":
		return codeNoTracking, "the label has no tracking number"
	case l.Cost.Currency != a.cfg.Currency:
		return codeWrongCurrency, "the price is not in the account's currency"
	case l.Service != p.Shipment.Service || !a.ours(*s.SelectedRate):
		return codeWrongService, "the label is for another service, or of another carrier"
	case l.Voided:
		return codeRefunded, "the label is given back already"
	case limit != nil && l.Cost.Cents > *limit:
		return carrier.CodeOverPrice, "bought above the price limit"
	}
	return "", ""
}

var (
	trackingNoPattern = regexp.MustCompile(`^[!-~]{0,64}$`)
	referencePattern  = regexp.MustCompile(`^[!-~]{0,64}$`)
)

var errNotALabel = errors.New("not a complete label")

// check finds sold shipments that lack a member, or hold one that must not be stored. A missing
// tracking number passes: it has a code of its own.
func (s shipment) check() error {
	if s.PostageLabel == nil || s.SelectedRate == nil {
		return errNotALabel
	}
	_, priced := s.SelectedRate.cost()
	if priced &&
		shipmentPattern.MatchString(s.ID) &&
		trackingNoPattern.MatchString(s.TrackingCode) &&
		referencePattern.MatchString(s.Reference) &&
		servicePattern.MatchString(s.SelectedRate.Service) {
		return nil
	}
	return errNotALabel
}

// label translates a sold shipment that passed check. Its cost is the postage, which is what max_cost
// limits and the rate told before; the fee of EasyPost itself is a line of its own on the invoice.
//
// ShipTo stays empty: EasyPost shows the address as the carrier corrected it, in capitals and with
// another postal code ("90277-2506" for "90277"), so that comparing it would refuse good labels.
func (s shipment) label() carrier.Label {
	cost, _ := s.SelectedRate.cost()
	l := carrier.Label{
		ID:         s.ID,
		TrackingNo: s.TrackingCode,
		Reference:  s.Reference,
		Service:    s.SelectedRate.Service,
		Cost:       cost,
		Voided:     givenBack(s.RefundStatus),
	}
	if grams, err := units.Ounce.ToMetric(string(s.Parcel.Weight)); err == nil {
		l.WeightG, l.WeightStepG = grams, units.Ounce.Step(decimals)
	}
	return l
}
