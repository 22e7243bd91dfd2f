package sim

import (
	"encoding/json/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"waybill/carrier"
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
func judge(p carrier.Purchase, currency string, a answer) carrier.Result {
	if a.status == http.StatusCreated {
		return judgeSuccess(p, currency, a)
	}
	complaint := readComplaint(a)
	result := carrier.Result{
		Outcome:    classify(a.status, complaint.Code),
		Code:       carrier.Sanitise(complaint.Code),
		Message:    carrier.Sanitise(redact(complaint.Message, p.Shipment)),
		RetryAfter: retryAfter(a.header),
	}
	if result.Code == "" {
		result.Code = "http_" + strconv.Itoa(a.status)
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
func readComplaint(a answer) complaint {
	var c complaint
	if !a.whole || !a.isJSON() || json.Unmarshal(a.body, &c) != nil {
		return complaint{}
	}
	return c
}

// redact takes the shipment's personal data out of a carrier's words: a message is stored, logged
// and shown, an address is not.
func redact(message string, s carrier.Shipment) string {
	var personal []string
	for _, a := range []carrier.Address{s.ShipTo, s.ShipFrom} {
		for _, value := range []string{a.Name, a.Company, a.Street1, a.Street2, a.City, a.PostalCode, a.Phone, a.Email} {
			if value = strings.TrimSpace(value); value != "" {
				personal = append(personal, regexp.QuoteMeta(value))
			}
		}
	}
	if len(personal) == 0 {
		return message
	}
	pattern, err := regexp.Compile(`(?i)` + strings.Join(personal, "|"))
	if err != nil {
		return "" // not UTF-8, or too long to search for: better no message than a leaking one
	}
	return pattern.ReplaceAllLiteralString(message, "(redacted)")
}

// maxRetryAfter bounds what a carrier may ask for: beyond a day it is a mistake, or an overflow.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header in both of its forms (RFC 9110, section 10.2.3). A date is measured
// against the answer's own Date, since the carrier's clock wrote both.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(date), 0), maxRetryAfter)
}
