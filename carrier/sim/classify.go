package sim

import (
	"net/http"
	"strconv"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// refusal is an answer that the protocol documents as "this call bought nothing".
type refusal struct {
	status  int
	code    string
	outcome carrier.Outcome
}

// What refusal.code may say beside a code of the protocol.
const (
	statusAlone = ""  // documented by its status, whatever the body holds
	anyCode     = "*" // only with the protocol's {code, message}: gateways answer so too
)

// refusals is the whole table: an answer that is neither here nor a valid 201 is unknown.
//
// Two absences are meant. 409 says that the key is in use, so an earlier call may well have bought.
// 404 and 405 are not documented for a purchase: they come from whatever stands in the carrier's
// place, which may have passed the order on first.
var refusals = []refusal{
	{http.StatusBadRequest, anyCode, carrier.Rejected},
	{http.StatusUnprocessableEntity, anyCode, carrier.Rejected},
	// The credentials are checked before the order is read. A person mends them, then it may succeed.
	{http.StatusUnauthorized, statusAlone, carrier.NotBought},
	{http.StatusForbidden, statusAlone, carrier.NotBought},
	{http.StatusTooManyRequests, statusAlone, carrier.NotBought},
	{http.StatusServiceUnavailable, "busy", carrier.NotBought},
}

// judge decides what an answer to a purchase proves.
func judge(p carrier.Purchase, currency string, a carrierhttp.Answer) carrier.Result {
	if a.Status == http.StatusCreated {
		return judgeSuccess(p, currency, a)
	}
	complaint := readComplaint(a)
	result := carrier.Result{
		Outcome:    classify(a.Status, complaint.Code),
		Code:       carrier.Sanitise(complaint.Code),
		Message:    carrierhttp.Redact(complaint.Message, p.Shipment),
		RetryAfter: a.RetryAfter(),
	}
	if result.Code == "" {
		result.Code = "http_" + strconv.Itoa(a.Status)
	}
	return result
}

func classify(status int, code string) carrier.Outcome {
	for _, r := range refusals {
		if r.status != status {
			continue
		}
		if r.code == statusAlone || r.code == code || (r.code == anyCode && code != "") {
			return r.outcome
		}
	}
	return carrier.Unknown
}

// complaint is the protocol's error body.
type complaint struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// readComplaint returns the zero complaint for anything that is not one.
func readComplaint(a carrierhttp.Answer) complaint {
	var c complaint
	if !a.Decode(&c) {
		return complaint{}
	}
	return c
}
