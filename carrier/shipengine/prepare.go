package shipengine

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Codes of a shipment that is not to be bought.
const (
	codeTooLong      = "reference_too_long"
	codeTaken        = "reference_taken" // by a shipment that is not the ordered one
	codeShipmentErrs = "shipment_has_errors"
)

// maxReference is where ShipEngine cuts an external_shipment_id off without a word [documented]: two
// longer ones could become the same.
const maxReference = 50

// statusSold is the shipment_status of one with a label [documented].
const statusSold = "label_purchased"

// Prepare implements [carrier.Preparer]: it makes a shipment under our reference. A reference that is
// taken is refused by ShipEngine, with a code that is not documented; so whatever is refused is looked
// up by the reference, and a shipment that is what was ordered is what an earlier call has made.
//
// The price is not known before it is bought: ShipEngine would have to be asked for rates, by another
// call, which may change until then. A price above the limit shows in the answer to the purchase.
func (a *Adapter) Prepare(ctx context.Context, p carrier.Purchase) carrier.Preparation {
	if len(p.Reference) > maxReference {
		return refused(carrier.Rejected, codeTooLong, fmt.Sprintf("the carrier takes references of at most %d characters", maxReference))
	}
	order, err := a.encodeOrder(p)
	if err != nil {
		return refused(carrier.Rejected, carrierhttp.CodeUnencodable, "the shipment holds text that is not UTF-8")
	}
	req, err := a.newRequest(ctx, http.MethodPost, "shipments")
	if err != nil {
		return refused(carrier.NotBought, carrierhttp.CodeNotSent, "the request could not be prepared")
	}
	answer, failed := a.client.SendOnce(req, carrierhttp.JSON, order)
	if failed != nil {
		return refused(carrier.NotBought, failed.Code, failed.Message)
	}
	made, recoverable := a.judgePrepared(p, answer)
	if !recoverable {
		return made
	}
	return a.recover(ctx, p, made)
}

func refused(outcome carrier.Outcome, code, message string) carrier.Preparation {
	return carrier.Preparation{Refusal: carrier.Result{Outcome: outcome, Code: code, Message: message}}
}

// judgePrepared reads the answer to the first step, and tells whether the shipment may be there already.
// It never knows an unknown: a shipment that may or may not have been made costs nothing.
func (a *Adapter) judgePrepared(p carrier.Purchase, answer carrierhttp.Answer) (made carrier.Preparation, recoverable bool) {
	if answer.Status != http.StatusOK && answer.Status != http.StatusCreated {
		c := readErrors(answer)
		refusal := c.result(p, answer)
		refusal.Outcome, refusal.AboutOrder = classifyPrepared(answer.Status, c)
		switch answer.Status {
		case http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
			recoverable = len(c) > 0
		}
		return carrier.Preparation{Refusal: refusal}, recoverable
	}
	var body struct {
		HasErrors bool       `json:"has_errors"`
		Shipments []shipment `json:"shipments"`
	}
	if !answer.Decode(&body) || len(body.Shipments) != 1 {
		return refused(carrier.NotBought, carrierhttp.CodeMalformed, "the carrier's answer is not a shipment"), false
	}
	s := body.Shipments[0]
	if body.HasErrors || hasErrors(s.Errors) {
		// The errors are words without a code, and may mean anything: so nothing is final.
		faulty := refused(carrier.NotBought, codeShipmentErrs, carrierhttp.Redact(firstError(s.Errors), p.Shipment))
		faulty.Refusal.AboutOrder = true
		return faulty, true
	}
	return a.judgeShipment(p, s), false
}

// recover looks for the shipment that an earlier call has made. If there is none, the refusal stands.
func (a *Adapter) recover(ctx context.Context, p carrier.Purchase, refusal carrier.Preparation) carrier.Preparation {
	s, err := a.byReference(ctx, p.Reference)
	switch {
	case errors.Is(err, errNoShipment):
		return refusal
	case err != nil:
		return refused(carrier.NotBought, carrierhttp.CodeNoAnswer, "a shipment that may have been made could not be looked up")
	}
	return a.judgeShipment(p, s)
}

// judgeShipment tells whether a shipment is the ordered one. One that is sold is told of as it is, whatever
// was ordered: it is paid for under our reference, and a look-up compares it.
func (a *Adapter) judgeShipment(p carrier.Purchase, s shipment) carrier.Preparation {
	switch {
	case !idPattern.MatchString(s.ShipmentID):
		return refused(carrier.NotBought, carrierhttp.CodeMalformed, "the carrier's answer is not a shipment")
	case s.ExternalShipmentID == p.Reference && s.ShipmentStatus == statusSold:
		return carrier.Preparation{RemoteID: s.ShipmentID, Sold: true}
	case !a.matches(p, s):
		return refused(carrier.Rejected, codeTaken, "the carrier knows the reference with another shipment")
	}
	return carrier.Preparation{RemoteID: s.ShipmentID}
}

// matches compares what a look-up of a label compares too; what the carrier does not show is not.
func (a *Adapter) matches(p carrier.Purchase, s shipment) bool {
	weighed, ordered := grams(s.Packages), grams([]parcels{newParcel(p.Shipment)})
	return s.ExternalShipmentID == p.Reference &&
		(s.CarrierID == "" || s.CarrierID == a.cfg.CarrierID) &&
		(s.ServiceCode == "" || s.ServiceCode == p.Shipment.Service) &&
		samePostalCode(s.ShipTo.PostalCode, p.Shipment.ShipTo.PostalCode) &&
		(weighed == 0 || weighed == ordered)
}

// samePostalCode takes "97205-1234" for "97205", and "K1A 0B1" for "k1a0b1": a carrier that corrects
// addresses makes one of the other.
func samePostalCode(a, b string) bool {
	a, b = plainPostalCode(a), plainPostalCode(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

func plainPostalCode(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(s))
}

var errNoShipment = errors.New("the carrier has no shipment of the reference")

// byReference asks for the one shipment that bears a reference.
func (a *Adapter) byReference(ctx context.Context, reference string) (shipment, error) {
	answer, err := a.get(ctx, "shipments", "external_shipment_id", reference)
	if err != nil {
		return shipment{}, err
	}
	return readByReference(answer, reference)
}

func readByReference(answer carrierhttp.Answer, reference string) (shipment, error) {
	switch {
	case answer.Status == http.StatusNotFound && len(readErrors(answer)) > 0:
		return shipment{}, errNoShipment
	case answer.Status != http.StatusOK:
		return shipment{}, fmt.Errorf("carrier answered with status %d", answer.Status)
	}
	var s shipment
	if !answer.Decode(&s) || !idPattern.MatchString(s.ShipmentID) || s.ExternalShipmentID != reference {
		return shipment{}, errors.New("carrier's answer is not the shipment of the reference")
	}
	return s, nil
}

// hasErrors is true of anything but an absent, null or empty list.
func hasErrors(raw jsontext.Value) bool {
	var list []jsontext.Value
	return len(raw) > 0 && (json.Unmarshal(raw, &list) != nil || len(list) > 0)
}

func firstError(raw jsontext.Value) string {
	var list []string
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return ""
	}
	return list[0]
}
