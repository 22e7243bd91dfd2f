package fedex

import (
	"encoding/json/jsontext"
	"errors"
	"regexp"
	"slices"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Codes of an answer that says 200 and is not the label that was ordered. All of them are unknown.
const (
	codeNoTracking     = "no_tracking"
	codeWrongReference = "wrong_reference"
	codeWrongCurrency  = "wrong_currency"
	codeWrongService   = "wrong_service"
	codeAsynchronous   = "asynchronous"
)

// wireAnswer is the answer to a purchase. Its alerts are advice: they change nothing, and are not read.
type wireAnswer struct {
	Reference string     `json:"customerTransactionId"`
	Errors    complaints `json:"errors"`
	Output    struct {
		JobID     string         `json:"jobId"`
		Shipments []wireShipment `json:"transactionShipments"`
	} `json:"output"`
}

type wireShipment struct {
	Master  string      `json:"masterTrackingNumber"`
	Service string      `json:"serviceType"`
	Pieces  []wirePiece `json:"pieceResponses"`
	Detail  struct {
		Rating struct {
			Actual string     `json:"actualRateType"`
			Rates  []wireRate `json:"shipmentRateDetails"`
		} `json:"shipmentRating"`
	} `json:"completedShipmentDetail"`
}

type wirePiece struct {
	TrackingNo string         `json:"trackingNumber"`
	Charge     jsontext.Value `json:"netChargeAmount"`
	Successful *bool          `json:"successful"`

	// Documents are read apart, since a label with a broken document is bought all the same.
	Documents jsontext.Value `json:"packageDocuments"`
}

type wireRate struct {
	Type     string `json:"rateType"`
	Currency string `json:"currency"`
}

var errNotALabel = errors.New("not a complete label")

var (
	trackingPattern = regexp.MustCompile(`^[A-Za-z0-9]{1,40}$`)
	servicePattern  = regexp.MustCompile(`^[A-Z0-9_]{1,64}$`)
	echoPattern     = regexp.MustCompile(`^[!-~]{1,64}$`)
)

// judgeSuccess tells a label from an answer that only says 200. Any doubt is unknown, with what was read
// as evidence: the label exists and may have been paid for.
func judgeSuccess(p carrier.Purchase, currency string, a carrierhttp.Answer) carrier.Result {
	result := carrier.Result{Outcome: carrier.Unknown, Answered: true}
	var w wireAnswer
	readable := a.Decode(&w)
	label, err := w.label(p, currency)
	if readable && err == nil {
		result.Label = &label
	} else {
		result.Label = readTrackingNo(p, a)
	}
	switch {
	case readable && len(w.Errors) > 0:
		result.Code = w.Errors.code(a.Status)
		result.Message = carrierhttp.Redact(w.Errors.message(), p.Shipment)
	case readable && w.Output.JobID != "":
		result.Code, result.Message = codeAsynchronous, "the carrier will make the label later, and names a job"
	case !readable || err != nil:
		result.Code, result.Message = carrierhttp.CodeMalformed, "the carrier answered 200 without a readable label"
	default:
		result.Code, result.Message = compare(label, p, currency)
	}
	if result.Code == "" {
		result.Outcome = carrier.Bought
	}
	return result
}

// readTrackingNo is what a person needs of a label that is not readable otherwise, to find what was paid
// for; nil if there is none.
func readTrackingNo(p carrier.Purchase, a carrierhttp.Answer) *carrier.Label {
	var w struct {
		Output struct {
			Shipments []struct {
				Master string `json:"masterTrackingNumber"`
				Pieces []struct {
					TrackingNo string `json:"trackingNumber"`
				} `json:"pieceResponses"`
			} `json:"transactionShipments"`
		} `json:"output"`
	}
	if !a.Decode(&w) {
		return nil
	}
	for _, s := range w.Output.Shipments {
		numbers := []string{s.Master}
		for _, piece := range s.Pieces {
			numbers = append(numbers, piece.TrackingNo)
		}
		if i := slices.IndexFunc(numbers, trackingPattern.MatchString); i >= 0 {
			return &carrier.Label{ID: numbers[i], TrackingNo: numbers[i], Reference: p.Reference}
		}
	}
	return nil
}

// label reads the one parcel that was ordered.
func (w wireAnswer) label(p carrier.Purchase, currency string) (carrier.Label, error) {
	if len(w.Output.Shipments) != 1 || len(w.Output.Shipments[0].Pieces) != 1 {
		return carrier.Label{}, errNotALabel
	}
	shipment := w.Output.Shipments[0]
	piece := shipment.Pieces[0]
	l := carrier.Label{
		TrackingNo: piece.TrackingNo,
		Reference:  w.Reference,
		Service:    shipment.Service,
		Cost:       carrier.Money{Currency: shipment.currency(currency)},
		Document:   readDocuments(p.Shipment.Format, piece.Documents),
	}
	if l.TrackingNo == "" {
		l.TrackingNo = shipment.Master
	}
	if l.Reference == "" {
		l.Reference = p.Reference // an echo is told of second-hand only: none is not another
	}
	if l.Service == "" {
		l.Service = p.Shipment.Service
	}
	l.ID = l.TrackingNo
	cents, err := carrierhttp.Cents(piece.Charge, l.Cost.Currency)
	l.Cost.Cents = cents
	if err != nil || cents < 0 || piece.Successful != nil && !*piece.Successful || !storable(l) {
		return carrier.Label{}, errNotALabel
	}
	return l, nil
}

func storable(l carrier.Label) bool {
	return (l.TrackingNo == "" || trackingPattern.MatchString(l.TrackingNo)) &&
		echoPattern.MatchString(l.Reference) && servicePattern.MatchString(l.Service) && carrier.IsCurrency(l.Cost.Currency)
}

// currency is that of the rates that the account is charged by, or the account's own.
func (s wireShipment) currency(account string) string {
	rating := s.Detail.Rating
	for _, rate := range rating.Rates {
		if rate.Currency != "" && (rating.Actual == "" || rate.Type == rating.Actual) {
			return rate.Currency
		}
	}
	return account
}

// compare returns a code and a sentence if the label is not the one that was ordered.
func compare(l carrier.Label, p carrier.Purchase, currency string) (code, message string) {
	limit := p.Shipment.MaxCostCents
	switch {
	case l.Reference != p.Reference:
		return codeWrongReference, "the answer is to another reference"
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
