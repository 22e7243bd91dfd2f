package easyship

import (
	"encoding/json/jsontext"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"time"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// Codes of an answer that says 2xx and is not the label that was ordered. All of them are unknown.
const (
	codeNotYet         = "label_not_ready"
	codeNoTracking     = "no_tracking"
	codeWrongReference = "wrong_reference"
	codeWrongCurrency  = "wrong_currency"
	codeWrongService   = "wrong_service"
	codeWrongWeight    = "wrong_weight"
)

// The states of a label (documented). One that is pending, generating or technical_failed may still
// come: Easyship tries again by itself.
var (
	madeStates   = []string{"generated", "printed", "reported", "shipping_document_generated", "void_failed", stateVoided}
	unsoldStates = []string{"not_created", "failed"}
)

const stateVoided = "voided"

// shipment is what Easyship writes of one, in answers to a purchase and in look-ups.
type shipment struct {
	ID        string `json:"easyship_shipment_id"`
	State     string `json:"label_state"`
	CreatedAt string `json:"created_at"` // RFC 3339
	Courier   struct {
		ID string `json:"id"`
	} `json:"courier"`
	Order     orderData `json:"order_data"`
	Trackings []struct {
		Number string `json:"tracking_number"`
	} `json:"trackings"`
	Rates []struct {
		Courier  string         `json:"courier_id"`
		Total    jsontext.Value `json:"total_charge"`
		Currency string         `json:"currency"`
	} `json:"rates"`
	Parcels []struct {
		Weight jsontext.Value `json:"total_actual_weight"`
	} `json:"parcels"`
	Destination *address `json:"destination_address"`
	Failures    []struct {
		Message string `json:"message"`
	} `json:"last_failure_http_response_messages"`

	// Documents are read apart, since a label with a broken document is bought all the same.
	Documents jsontext.Value `json:"shipping_documents"`
}

// createdAt is the zero time if the carrier's cannot be read: what it would only put in order is not worth
// a label.
func (s shipment) createdAt() time.Time {
	at, _ := time.Parse(time.RFC3339, s.CreatedAt)
	return at
}

var (
	// The id goes into a path, so it holds nothing that could make another path of it.
	idPattern        = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	trackingPattern  = regexp.MustCompile(`^[!-~]{1,64}$`)
	referencePattern = regexp.MustCompile(`^[!-~]{1,64}$`)
	servicePattern   = idPattern
)

// weightStepG is a hundredth of a kilogram: how many decimals Easyship keeps is not stated.
const weightStepG = 10

var errNotALabel = errors.New("not a complete label")

// judgeSuccess tells a label from an answer that only says 2xx. Any doubt is unknown, with what was read
// as evidence: the label exists and may have been paid for.
func (a *Adapter) judgeSuccess(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	result := carrier.Result{Outcome: carrier.Unknown, Answered: true}
	var body struct {
		Shipment *shipment `json:"shipment"`
	}
	if !answer.Decode(&body) || body.Shipment == nil || !idPattern.MatchString(body.Shipment.ID) {
		result.Code, result.Message = carrierhttp.CodeMalformed, "the carrier's answer holds no readable shipment"
		return result
	}
	s := *body.Shipment
	label, err := a.label(s, p.Shipment.Format)
	if err == nil {
		result.Label = &label
	}
	switch {
	case answer.Status == http.StatusAccepted || !slices.Contains(madeStates, s.State):
		result.Code = codeNotYet
		result.Message = carrierhttp.Redact("the label is "+s.State+s.lastFailure(), p.Shipment)
	case err != nil:
		result.Code, result.Message = carrierhttp.CodeMalformed, "the carrier's answer holds no complete label"
	default:
		result.Code, result.Message = compare(label, p, a.cfg.Currency)
	}
	if result.Code == "" && answer.TellsError() {
		result.Code, result.Message = carrierhttp.CodeErrors, "the carrier answered with a label and with an error"
	}
	if result.Code == "" {
		result.Outcome = carrier.Bought
	}
	return result
}

func (s shipment) lastFailure() string {
	if len(s.Failures) == 0 {
		return ""
	}
	return ": " + s.Failures[0].Message
}

// label translates a shipment whose label may lack a tracking number, but nothing else.
func (a *Adapter) label(s shipment, format carrier.Format) (carrier.Label, error) {
	cost, err := s.cost()
	if err != nil {
		return carrier.Label{}, err
	}
	weight, err := s.weight()
	if err != nil {
		return carrier.Label{}, err
	}
	l := carrier.Label{
		ID:          s.ID,
		Reference:   s.Order.Number,
		Service:     a.couriers[s.Courier.ID],
		WeightG:     weight,
		WeightStepG: weightStepG,
		Cost:        cost,
		Document:    readDocuments(format, s.Documents),
		Voided:      s.State == stateVoided,
	}
	if l.Service == "" {
		l.Service = s.Courier.ID // not one that we order from
	}
	if len(s.Trackings) > 0 {
		l.TrackingNo = s.Trackings[0].Number
	}
	if s.Destination != nil {
		l.ShipTo = s.Destination.plain()
	}
	if !idPattern.MatchString(l.ID) || !idPattern.MatchString(l.Service) || !referencePattern.MatchString(l.Reference) ||
		l.TrackingNo != "" && !trackingPattern.MatchString(l.TrackingNo) {
		return carrier.Label{}, errNotALabel
	}
	return l, nil
}

// cost is the rate of the courier that was chosen: the answer lists those of the others too.
func (s shipment) cost() (carrier.Money, error) {
	for _, rate := range s.Rates {
		if rate.Courier != s.Courier.ID || !carrier.IsCurrency(rate.Currency) {
			continue
		}
		cents, err := carrierhttp.Cents(rate.Total, rate.Currency)
		if err != nil || cents < 0 {
			return carrier.Money{}, errNotALabel
		}
		return carrier.Money{Cents: cents, Currency: rate.Currency}, nil
	}
	return carrier.Money{}, errNotALabel
}

// weight is that of the one parcel, in the unit that was asked for.
func (s shipment) weight() (int64, error) {
	if len(s.Parcels) != 1 {
		return 0, errNotALabel
	}
	grams, err := units.Kilogram.ToMetric(string(s.Parcels[0].Weight))
	if err != nil || grams < 1 {
		return 0, errNotALabel
	}
	return grams, nil
}

// compare returns a code and a sentence if the label is not the one that was ordered. Easyship says
// nothing of a key that comes with another body, so what comes back is compared.
func compare(l carrier.Label, p carrier.Purchase, currency string) (code, message string) {
	limit := p.Shipment.MaxCostCents
	switch {
	case l.Reference != p.Reference:
		return codeWrongReference, "the label is for another reference"
	case l.TrackingNo == "":
		return codeNoTracking, "the label has no tracking number"
	case l.Voided:
		return codeNotYet, "the label is voided"
	case l.Cost.Currency != currency:
		return codeWrongCurrency, "the price is not in the account's currency"
	case l.Service != p.Shipment.Service:
		return codeWrongService, "the label is for another service"
	case max(l.WeightG-p.Shipment.WeightG, p.Shipment.WeightG-l.WeightG) > l.WeightStepG:
		return codeWrongWeight, "the label is for another weight"
	case limit != nil && l.Cost.Cents > *limit:
		return carrier.CodeOverPrice, "bought above the price limit"
	}
	return "", ""
}
