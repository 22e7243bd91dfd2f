package shipengine

import (
	"net/http"
	"slices"
	"strconv"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// row is what an error proves of a purchase.
type row struct {
	outcome carrier.Outcome
	renew   bool // what was prepared can no longer be bought
	order   bool // about this order, and nobody else's: [carrier.Result.AboutOrder]
}

// byStatus are the statuses that prove it alone, whatever the body holds.
var byStatus = map[int]row{
	// Documented; that nothing is bought under them is inferred: the key is looked at first.
	http.StatusUnauthorized: {outcome: carrier.NotBought},
	// Documented, with Retry-After in seconds. The limit may be the carrier's own: see error_source.
	http.StatusTooManyRequests: {outcome: carrier.NotBought},
}

// byCode are the error_codes that prove it, beside a status of 4xx only: such an answer "always means
// that the request must be changed" [documented], while one of 5xx may come after the purchase.
//
// What is not here is unknown: unspecified, unknown, meter_failure and timeout say nothing [codes
// documented, meaning inferred]; invalid_status and identifier_conflict may come of a label that was
// bought before.
var byCode = map[string]row{
	// Documented: the order is not good.
	"field_value_required":  {outcome: carrier.Rejected},
	"invalid_field_value":   {outcome: carrier.Rejected},
	"invalid_address":       {outcome: carrier.Rejected},
	"no_rates_returned":     {outcome: carrier.Rejected},
	"invalid_string_length": {outcome: carrier.Rejected}, // meaning inferred from the name
	// Documented: the account is not good. The order is, once a person has mended the account.
	"insufficient_funds":    {outcome: carrier.NotBought},
	"terms_not_accepted":    {outcome: carrier.NotBought},
	"carrier_not_connected": {outcome: carrier.NotBought},
	"carrier_disconnected":  {outcome: carrier.NotBought},
	"unauthorized":          {outcome: carrier.NotBought},
	"rate_limit_exceeded":   {outcome: carrier.NotBought},
	// Code documented; inferred that a shipment which is not there cannot have been sold by this call.
	"not_found": {outcome: carrier.NotBought, renew: true, order: true},
}

// judge decides what an answer to a purchase proves.
func (a *Adapter) judge(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	// 200 is documented; 201 is accepted for what it says.
	if answer.Status == http.StatusOK || answer.Status == http.StatusCreated {
		return a.judgeSuccess(p, answer)
	}
	c := readErrors(answer)
	proved := classify(answer.Status, c)
	result := c.result(p, answer)
	result.Outcome, result.Renew, result.AboutOrder = proved.outcome, proved.renew, proved.order
	return result
}

// classify believes the weakest of several errors: one that is not understood leaves all in doubt.
func classify(status int, errs wireErrors) row {
	if r, ok := byStatus[status]; ok {
		return r
	}
	if status == http.StatusForbidden && len(errs) > 0 {
		// Documented as above. A page that forbids is a firewall's, and some judge the answer: the order may
		// have been carried out.
		return row{outcome: carrier.NotBought}
	}
	if status < 400 || status > 499 || status == http.StatusRequestTimeout || len(errs) == 0 {
		return row{outcome: carrier.Unknown}
	}
	var weakest row
	for i, e := range errs {
		r, known := byCode[e.Code]
		switch {
		case !known:
			return row{outcome: carrier.Unknown}
		case i == 0 || r.outcome == carrier.NotBought && weakest.outcome == carrier.Rejected:
			weakest = r
		}
	}
	return weakest
}

// classifyPrepared judges an error answer to the first step. Nothing can have been bought, so all that
// matters is whether it may succeed later: only what is said of the order itself is final. Errors that
// prove nothing of a purchase may be about the order all the same.
func classifyPrepared(status int, errs wireErrors) (outcome carrier.Outcome, aboutOrder bool) {
	switch r := classify(status, errs); r.outcome {
	case carrier.Rejected:
		return carrier.Rejected, false
	case carrier.NotBought:
		return carrier.NotBought, r.order
	default:
		return carrier.NotBought, status >= 400 && status <= 499 && errs.ofTheOrder()
	}
}

// ofTheOrder tells whether all errors are of a type that finds fault with what was asked for
// [documented]; the others are of the account, of security, of integrations and of the system.
func (c wireErrors) ofTheOrder() bool {
	found := func(e wireError) bool { return e.Type == "validation" || e.Type == "business_rules" }
	return len(c) > 0 && !slices.ContainsFunc(c, func(e wireError) bool { return !found(e) })
}

// wireError is one of ShipEngine's errors.
type wireError struct {
	Source  string `json:"error_source"`
	Type    string `json:"error_type"`
	Code    string `json:"error_code"`
	Message string `json:"message"`
}

type wireErrors []wireError

// readErrors returns none for anything that is not a list of errors.
func readErrors(answer carrierhttp.Answer) wireErrors {
	var body struct {
		Errors wireErrors `json:"errors"`
	}
	if !answer.Decode(&body) {
		return nil
	}
	return body.Errors
}

// result is what an error answer says, before it is judged. Of several errors the first is told.
func (c wireErrors) result(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	result := carrier.Result{RetryAfter: answer.RetryAfter()}
	if len(c) > 0 {
		result.Code = carrier.Sanitise(c[0].Code)
		result.Message = carrierhttp.Redact(c[0].Message, p.Shipment)
	}
	if result.Code == "" {
		result.Code = "http_" + strconv.Itoa(answer.Status)
	}
	return result
}
