package easypost

import (
	"encoding/json/jsontext"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// refusal is an answer that proves that this call bought nothing.
type refusal struct {
	status  int
	code    string
	outcome carrier.Outcome
	renew   bool // what was prepared can no longer be bought
	order   bool // about this order, and nobody else's: [carrier.Result.AboutOrder]
}

// What refusal.code may say beside a code of the carrier.
const (
	statusAlone = ""  // by its status, whatever the body holds
	anyCode     = "*" // only with EasyPost's {"error": {"code"}}: gateways answer so too
)

const (
	codeNotFound       = "NOT_FOUND"
	codePostageFailure = "SHIPMENT.POSTAGE.FAILURE"
)

// refusals is the whole table: an answer that is neither here nor a sold shipment is unknown.
//
// What is not here is meant as much. SHIPMENT.POSTAGE.EXISTS says that the shipment is sold, by an
// earlier call: the look-up by its id tells for what. SHIPMENT.PURCHASE.IN_PROGRESS,
// SHIPMENT.POSTAGE.TIMED_OUT and SHIPMENT.POSTAGE.NO_RESPONSE say that the outcome is not known there
// either, whatever status they come with [seen in clients, meaning inferred from the names]; 408 and
// every 5xx say less than that.
var refusals = []refusal{
	// The statuses are documented, that nothing is bought under them is inferred: the caller is made
	// out, and found able to pay, before a carrier is asked. A person mends it, then it may succeed. A page
	// that forbids is a firewall's, and some judge the answer: the order may have been carried out.
	{http.StatusUnauthorized, statusAlone, carrier.NotBought, false, false},
	{http.StatusPaymentRequired, anyCode, carrier.NotBought, false, false},
	{http.StatusForbidden, anyCode, carrier.NotBought, false, false},
	// Documented: limited by load. Retry-After is not documented, and obeyed if it comes.
	{http.StatusTooManyRequests, statusAlone, carrier.NotBought, false, false},
	// Status documented; inferred that a shipment which is not there cannot have been sold by this call.
	{http.StatusNotFound, codeNotFound, carrier.NotBought, true, true},
	// Seen in clients, inferred from the name: the carrier behind EasyPost refused to sell. It does not say
	// whether for good, and one shipment is sold once, however often it is tried.
	{http.StatusUnprocessableEntity, codePostageFailure, carrier.NotBought, false, true},
	// Seen in clients: the rate is not of this shipment, or no longer.
	{http.StatusUnprocessableEntity, "SHIPMENT.RATE.EXPIRED", carrier.NotBought, true, true},
	{http.StatusUnprocessableEntity, "SHIPMENT.RATE.UNAVAILABLE", carrier.NotBought, true, true},
	{http.StatusUnprocessableEntity, "SHIPMENT.RATES.UNAVAILABLE", carrier.NotBought, true, true},
	{http.StatusUnprocessableEntity, "SHIPMENT.MISSING_RATE", carrier.NotBought, true, true},
	{http.StatusUnprocessableEntity, "SHIPMENT.RATE.CARRIER_ACCOUNT_INVALID", carrier.NotBought, true, false},
	// Codes seen in clients, inferred from their names: the order was found wanting before it was sold.
	{http.StatusBadRequest, "PARAMETER.REQUIRED", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "PARAMETER.REQUIRED", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "PARAMETER.INVALID", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "ADDRESS.VERIFY.FAILURE", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.INVALID", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.INVALID_PARAMS", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.OPTIONS.INVALID", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.MISSING_INFORMATION", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.CUSTOMS_INFO.REQUIRED", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.CUSTOMS_INFO.DESCRIPTION_REQUIRED", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.POSTAGE.ASCII", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.POSTAGE.INVALID_FORMAT", carrier.Rejected, false, false},
	{http.StatusUnprocessableEntity, "SHIPMENT.POSTAGE.FORMAT_UNAVAILABLE", carrier.Rejected, false, false},
}

// judge decides what an answer to a purchase proves.
func (a *Adapter) judge(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	// 200 is documented; 201 is what a purchase in one call is answered with.
	if answer.Status == http.StatusOK || answer.Status == http.StatusCreated {
		return a.judgeSuccess(p, answer)
	}
	c := readComplaint(answer)
	row := classify(answer.Status, c.Code)
	result := c.result(p, answer)
	result.Outcome, result.Renew, result.AboutOrder = row.outcome, row.renew, row.order
	return result
}

// result is what an error answer says, before it is judged.
func (c complaint) result(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	result := carrier.Result{
		Code:       carrier.Sanitise(c.Code),
		Message:    carrierhttp.Redact(text(c.Message), p.Shipment),
		RetryAfter: answer.RetryAfter(),
	}
	if result.Code == "" {
		result.Code = noCode(answer.Status)
	}
	return result
}

// noCode stands for the code of an answer that has none.
func noCode(status int) string { return "http_" + strconv.Itoa(status) }

func classify(status int, code string) refusal {
	for _, r := range refusals {
		if r.status != status {
			continue
		}
		if r.code == statusAlone || r.code == code || (r.code == anyCode && code != "") {
			return r
		}
	}
	return refusal{outcome: carrier.Unknown}
}

// ofTheOrder is how codes begin that find fault with what was ordered [seen in clients].
var ofTheOrder = []string{"PARAMETER.", "ADDRESS.", "PARCEL.", "CUSTOMS_INFO.", "CUSTOMS_ITEM."}

// classifyPrepared judges an error answer to the first step. Nothing can have been bought, so all that
// matters is whether it may succeed later: only what is said of the order itself is final. A code that is
// not known, beside a status that finds fault with the request, is about the order too.
func classifyPrepared(status int, code string) (outcome carrier.Outcome, aboutOrder bool) {
	row := classify(status, code)
	faulty := slices.ContainsFunc(ofTheOrder, func(prefix string) bool { return strings.HasPrefix(code, prefix) })
	invalid := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case row.outcome == carrier.Rejected || invalid && faulty:
		return carrier.Rejected, false
	case row.outcome == carrier.NotBought:
		return carrier.NotBought, row.order
	default:
		return carrier.NotBought, invalid && code != ""
	}
}

// complaint is EasyPost's error. Its message may be text, a list or an object [recorded]; only text is
// kept, since the others quote the order member by member.
type complaint struct {
	Code    string         `json:"code"`
	Message jsontext.Value `json:"message"`
}

// readComplaint returns the zero complaint for anything that is not one.
func readComplaint(answer carrierhttp.Answer) complaint {
	var body struct {
		Error complaint `json:"error"`
	}
	if !answer.Decode(&body) {
		return complaint{}
	}
	return body.Error
}
