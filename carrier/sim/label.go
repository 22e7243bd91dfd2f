package sim

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"regexp"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Codes of an answer that says 201 and is not the label that was ordered. All of them are unknown.
const (
	codeNoTracking     = "no_tracking"
	codeWrongReference = "wrong_reference"
	codeWrongCurrency  = "wrong_currency"
	codeWrongService   = "wrong_service"
)

// wireLabel is a label as the carrier writes it, in an answer to a purchase and in a look-up.
type wireLabel struct {
	LabelID    string `json:"label_id"`
	Reference  string `json:"reference"`
	TrackingNo string `json:"tracking_no"`

	// CostCents is a pointer because a label may cost nothing, but an absent price is not one.
	CostCents *int64 `json:"cost_cents"`
	Currency  string `json:"currency"`
	Service   string `json:"service"`
	WeightG   int64  `json:"weight_g"`

	// Document is read apart, since a label with a broken document is bought all the same.
	Document jsontext.Value `json:"document"`

	// Status and ShipTo come in look-ups only.
	Status string   `json:"status"`
	ShipTo *address `json:"ship_to"`
}

// judgeSuccess tells a label from an answer that only says 201. Any doubt is unknown, with what was
// read as evidence: the label exists and may have been paid for.
func judgeSuccess(p carrier.Purchase, currency string, a carrierhttp.Answer) carrier.Result {
	var w wireLabel
	if !a.Decode(&w) || w.check() != nil {
		return carrier.Result{
			Outcome: carrier.Unknown,
			Code:    carrierhttp.CodeMalformed,
			Message: "the carrier answered 201 without a readable label",
		}
	}
	label := w.label()
	if code, message := compare(label, p, currency); code != "" {
		return carrier.Result{Outcome: carrier.Unknown, Label: &label, Code: code, Message: message}
	}
	return carrier.Result{Outcome: carrier.Bought, Label: &label}
}

// compare returns a code and a sentence if the label is not the one that was ordered.
func compare(l carrier.Label, p carrier.Purchase, currency string) (code, message string) {
	limit := p.Shipment.MaxCostCents
	switch {
	case l.Reference != p.Reference:
		return codeWrongReference, "the label is for another reference"
	case l.TrackingNo == "":
		return codeNoTracking, "the label has no tracking number"
	case l.Cost.Currency != currency:
		return codeWrongCurrency, "the price is not in the account's currency"
	case l.Service != p.Shipment.Service:
		return codeWrongService, "the label is for another service"
	case limit != nil && l.Cost.Cents > *limit:
		return carrier.CodeOverPrice, "bought above the price limit"
	}
	return "", ""
}

var (
	// The id goes into a path, so it holds nothing that could make another path of it.
	labelIDPattern    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	trackingNoPattern = regexp.MustCompile(`^[!-~]{0,64}$`)
	referencePattern  = regexp.MustCompile(`^[!-~]{1,64}$`)
	servicePattern    = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
)

var errNotALabel = errors.New("not a complete label")

// check finds labels that lack a member, or hold one that must not be stored. A missing tracking
// number passes: it has a code of its own.
func (w wireLabel) check() error {
	if labelIDPattern.MatchString(w.LabelID) &&
		trackingNoPattern.MatchString(w.TrackingNo) &&
		referencePattern.MatchString(w.Reference) &&
		servicePattern.MatchString(w.Service) &&
		carrier.IsCurrency(w.Currency) &&
		w.CostCents != nil && *w.CostCents >= 0 &&
		w.WeightG > 0 {
		return nil
	}
	return errNotALabel
}

// label translates a label that passed check.
func (w wireLabel) label() carrier.Label {
	return carrier.Label{
		ID:         w.LabelID,
		TrackingNo: w.TrackingNo,
		Reference:  w.Reference,
		Service:    w.Service,
		WeightG:    w.WeightG,
		Cost:       carrier.Money{Cents: *w.CostCents, Currency: w.Currency},
		Document:   readDocument(w.Document),
		ShipTo:     (*carrier.Address)(w.ShipTo),
		Voided:     w.Status == statusVoided,
	}
}

// readDocument returns the empty document for anything that could not be printed.
func readDocument(raw jsontext.Value) carrier.Document {
	var d struct {
		Format carrier.Format `json:"format"`
		Base64 string         `json:"base64"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &d) != nil {
		return carrier.Document{}
	}
	return carrierhttp.DocumentOfBase64(d.Format, d.Base64)
}
