package usps

import (
	"encoding/json/jsontext"
	"errors"
	"regexp"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
	"waybill/internal/units"
)

// Codes of an answer that says 200 and is not the label that was ordered. All of them are unknown.
const (
	codeNoTracking  = "no_tracking"
	codeWrongWeight = "wrong_weight"
)

// wireLabel is the answer to a purchase. Our reference and the mail class are not in it.
type wireLabel struct {
	TrackingNo string         `json:"trackingNumber"`
	Postage    jsontext.Value `json:"postage"`
	Extras     []charge       `json:"extraServices"`
	Fees       []charge       `json:"fees"`
	WeightUOM  string         `json:"weightUOM"`
	Weight     jsontext.Value `json:"weight"`

	// Image is read apart, since a label with a broken document is bought all the same.
	Image jsontext.Value `json:"labelImage"`
}

type charge struct {
	Price jsontext.Value `json:"price"`
}

var errNotALabel = errors.New("not a complete label")

// trackingPattern holds nothing that could make another path of it.
var trackingPattern = regexp.MustCompile(`^[A-Za-z0-9]{1,34}$`)

// judgeSuccess tells a label from an answer that only says 200. Any doubt is unknown, with what was
// read as evidence: the label exists and may have been paid for.
func judgeSuccess(p carrier.Purchase, a carrierhttp.Answer) carrier.Result {
	label, err := readLabel(p, a)
	if err != nil {
		return carrier.Result{
			Outcome:  carrier.Unknown,
			Label:    readTrackingNo(p, a),
			Code:     carrierhttp.CodeMalformed,
			Message:  "the carrier answered 200 without a readable label",
			Answered: true,
		}
	}
	code, message := compare(label, p)
	if code == "" && a.TellsError() {
		code, message = carrierhttp.CodeErrors, "the carrier answered with a label and with an error"
	}
	if code != "" {
		return carrier.Result{Outcome: carrier.Unknown, Label: &label, Code: code, Message: message, Answered: true}
	}
	return carrier.Result{Outcome: carrier.Bought, Label: &label, Answered: true}
}

// readTrackingNo is what a person needs of a label that is not readable otherwise, to find what was paid
// for; nil if there is none.
func readTrackingNo(p carrier.Purchase, a carrierhttp.Answer) *carrier.Label {
	var w struct {
		TrackingNo string `json:"trackingNumber"`
	}
	if !a.Decode(&w) || !trackingPattern.MatchString(w.TrackingNo) {
		return nil
	}
	return &carrier.Label{ID: w.TrackingNo, TrackingNo: w.TrackingNo, Reference: p.Reference}
}

func readLabel(p carrier.Purchase, a carrierhttp.Answer) (carrier.Label, error) {
	var w wireLabel
	if !a.Decode(&w) || w.TrackingNo != "" && !trackingPattern.MatchString(w.TrackingNo) {
		return carrier.Label{}, errNotALabel
	}
	cents, err := w.total()
	if err != nil {
		return carrier.Label{}, err
	}
	weight, err := w.weight()
	if err != nil {
		return carrier.Label{}, err
	}
	return carrier.Label{
		ID:          w.TrackingNo,
		TrackingNo:  w.TrackingNo,
		Reference:   p.Reference, // the carrier echoes none: it is the answer to this very order
		Service:     p.Shipment.Service,
		WeightG:     weight,
		WeightStepG: units.Pound.Step(poundDecimals),
		Cost:        carrier.Money{Cents: cents, Currency: "USD"},
		Document:    readImage(p.Shipment.Format, w.Image),
	}, nil
}

// total is postage and everything on top of it: the postage alone is not what is charged.
func (w wireLabel) total() (int64, error) {
	sum, err := carrierhttp.Cents(w.Postage, "USD")
	if err != nil || sum < 0 {
		return 0, errNotALabel
	}
	for _, list := range [][]charge{w.Extras, w.Fees} {
		for _, c := range list {
			cents, err := carrierhttp.Cents(c.Price, "USD")
			if err != nil || cents < 0 {
				return 0, errNotALabel
			}
			sum += cents
		}
	}
	return sum, nil
}

// weight is 0 if the answer does not say it in pounds.
func (w wireLabel) weight() (int64, error) {
	if len(w.Weight) == 0 || w.Weight.Kind() == 'n' || w.WeightUOM != "lb" && w.WeightUOM != "LB" {
		return 0, nil
	}
	grams, err := units.Pound.ToMetric(string(w.Weight))
	if err != nil {
		return 0, errNotALabel
	}
	return grams, nil
}

// roundedUpG is a pound. USPS calls what it answers "the package weight", and does not say whether as it was
// sent or as it is charged for: up to a pound more is not another order.
const roundedUpG = 454

// compare returns a code and a sentence if the label is not the one that was ordered. An answer of
// another weight is one to another order: what a key was used for before.
func compare(l carrier.Label, p carrier.Purchase) (code, message string) {
	limit := p.Shipment.MaxCostCents
	off := l.WeightG - p.Shipment.WeightG
	switch {
	case l.TrackingNo == "":
		return codeNoTracking, "the label has no tracking number"
	case l.WeightG != 0 && (off < -l.WeightStepG || off > roundedUpG):
		return codeWrongWeight, "the label is for another weight"
	case limit != nil && l.Cost.Cents > *limit:
		return carrier.CodeOverPrice, "bought above the price limit"
	}
	return "", ""
}

// readImage returns the empty document for anything that could not be printed.
func readImage(format carrier.Format, raw jsontext.Value) carrier.Document {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return carrier.Document{}
	}
	return carrierhttp.DocumentOfBase64(format, string(text))
}
