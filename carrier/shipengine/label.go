package shipengine

import (
	"encoding/json/jsontext"
	"errors"
	"regexp"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// The states of a label [documented].
const (
	statusCompleted  = "completed"
	statusProcessing = "processing"
	statusError      = "error" // "could not be created due to an error"
	statusVoided     = "voided"
)

// Codes of an answer that says 200 and is not the label that was ordered. All are unknown but one:
// label_error says that no label was made.
const (
	codeProcessing     = "label_processing"
	codeLabelError     = "label_error"
	codeVoided         = "label_voided"
	codeWrongShipment  = "wrong_shipment"
	codeWrongReference = "wrong_reference"
	codeNoTracking     = "no_tracking"
	codeWrongCurrency  = "wrong_currency"
	codeWrongService   = "wrong_service"
)

// wireLabel is a label as ShipEngine writes it, in an answer to a purchase and in a look-up.
type wireLabel struct {
	LabelID    string `json:"label_id"`
	Status     string `json:"status"`
	ShipmentID string `json:"shipment_id"`

	// ExternalShipmentID is a pointer because older versions do not show it.
	ExternalShipmentID *string `json:"external_shipment_id"`
	TrackingNumber     string  `json:"tracking_number"`
	CarrierID          string  `json:"carrier_id"`
	ServiceCode        string  `json:"service_code"`

	// The total is the sum of the two [documented]; we never ask for insurance.
	ShipmentCost  amount  `json:"shipment_cost"`
	InsuranceCost *amount `json:"insurance_cost"`

	Voided        bool           `json:"voided"`
	Packages      []parcels      `json:"packages"`
	LabelFormat   string         `json:"label_format"`
	LabelDownload *labelDownload `json:"label_download"`
	Errors        jsontext.Value `json:"errors"`
}

type labelDownload struct {
	Href string `json:"href"`
	PDF  string `json:"pdf"`
	PNG  string `json:"png"`
	ZPL  string `json:"zpl"`
}

// judgeSuccess tells a label from an answer that only says 200. Any doubt is unknown, with what was
// read as evidence: the label exists and may have been paid for.
func (a *Adapter) judgeSuccess(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	var w wireLabel
	if !answer.Decode(&w) {
		return unknown(carrierhttp.CodeMalformed, "the carrier answered without a readable label", nil)
	}
	switch {
	case w.Status == statusProcessing:
		return unknown(codeProcessing, "the label is still being made", nil)
	case w.failed() && w.ShipmentID == p.RemoteID:
		// Nothing was made, says the carrier's own documentation. Why is not said, so it may be tried again.
		return carrier.Result{
			Outcome: carrier.NotBought, AboutOrder: true,
			Code: codeLabelError, Message: "the carrier could not make the label",
		}
	case w.check() != nil:
		return unknown(carrierhttp.CodeMalformed, "the carrier answered without a readable label", nil)
	}
	label := w.label(p.Reference)
	if code, message := a.compare(w, label, p); code != "" {
		return unknown(code, message, &label)
	}
	return carrier.Result{Outcome: carrier.Bought, Label: &label}
}

func unknown(code, message string, evidence *carrier.Label) carrier.Result {
	return carrier.Result{Outcome: carrier.Unknown, Code: code, Message: message, Label: evidence}
}

// failed is true of a label that was not made. One with a tracking number contradicts itself.
func (w wireLabel) failed() bool {
	return w.Status == statusError && w.TrackingNumber == "" && idPattern.MatchString(w.LabelID)
}

// ours tells whether the label is of the configured account with a carrier, as far as it says.
func (a *Adapter) ours(w wireLabel) bool { return w.CarrierID == "" || w.CarrierID == a.cfg.CarrierID }

// compare returns a code and a sentence if the label is not the one that was ordered.
func (a *Adapter) compare(w wireLabel, l carrier.Label, p carrier.Purchase) (code, message string) {
	limit := p.Shipment.MaxCostCents
	switch {
	case w.ShipmentID != p.RemoteID:
		return codeWrongShipment, "the label is for another shipment"
	case l.Reference != p.Reference:
		return codeWrongReference, "the label is for another reference"
	case l.Voided:
		return codeVoided, "the label is void already"
	case w.Status != statusCompleted:
		return codeLabelError, "the carrier does not say that the label is complete"
	case hasErrors(w.Errors):
		return carrierhttp.CodeErrors, "the carrier answered with a label and with errors"
	case l.TrackingNo == "":
		return codeNoTracking, "the label has no tracking number"
	case l.Cost.Currency != a.cfg.Currency:
		return codeWrongCurrency, "the price is not in the account's currency"
	case l.Service != p.Shipment.Service || !a.ours(w):
		return codeWrongService, "the label is for another service, or of another carrier"
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

// check finds labels that lack a member, or hold one that must not be stored. A missing tracking
// number passes: it has a code of its own.
func (w wireLabel) check() error {
	_, priced := w.cost()
	if priced &&
		idPattern.MatchString(w.LabelID) &&
		idPattern.MatchString(w.ShipmentID) &&
		trackingNoPattern.MatchString(w.TrackingNumber) &&
		(w.ExternalShipmentID == nil || referencePattern.MatchString(*w.ExternalShipmentID)) &&
		servicePattern.MatchString(w.ServiceCode) {
		return nil
	}
	return errNotALabel
}

func (w wireLabel) cost() (carrier.Money, bool) {
	total, ok := w.ShipmentCost.money()
	if !ok || w.InsuranceCost == nil {
		return total, ok
	}
	insurance, ok := w.InsuranceCost.money()
	if insurance.Cents != 0 && insurance.Currency != total.Currency {
		return carrier.Money{}, false
	}
	total.Cents += insurance.Cents
	return total, ok
}

// label translates a label that passed check. The reference is that of the shipment, under which we
// have made it, where the label does not show it.
func (w wireLabel) label(reference string) carrier.Label {
	if w.ExternalShipmentID != nil {
		reference = *w.ExternalShipmentID
	}
	cost, _ := w.cost()
	l := carrier.Label{
		ID:         w.LabelID,
		TrackingNo: w.TrackingNumber,
		Reference:  reference,
		Service:    w.ServiceCode,
		WeightG:    grams(w.Packages),
		Cost:       cost,
		Voided:     w.Voided || w.Status == statusVoided,
	}
	if l.WeightG != 0 {
		l.WeightStepG = units.Ounce.Step(decimals)
	}
	return l
}
