package usps

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// refusal is an answer by which this call has bought nothing.
type refusal struct {
	status     int
	documented bool // only with the error body of the API: gateways answer so too
	outcome    carrier.Outcome
}

// refusals is the whole table: an answer that is neither here nor a valid 200 is unknown.
//
// Absent are 503, which the vendor says to repeat with the same key, so that the call may have bought;
// every other 5xx; and 404 and 405, which are not documented for a purchase. There is no row for a key
// that was used with another body either: no code for it is known, so a refusal of that kind is a 400
// like any other, and final only if no earlier call is open.
var refusals = []refusal{
	{http.StatusBadRequest, true, carrier.Rejected}, // second-hand: declared, "an error in the request"
	// Second-hand: declared. The tokens are checked before the order (inferred); both are fetched anew.
	{http.StatusUnauthorized, false, carrier.NotBought},
	// Second-hand: declared, "access is denied". A person mends the account, then it may succeed.
	{http.StatusForbidden, true, carrier.NotBought},
	{http.StatusTooManyRequests, false, carrier.NotBought}, // second-hand: declared, with Retry-After
}

// judge decides what an answer to a purchase proves.
func judge(p carrier.Purchase, a carrierhttp.Answer) carrier.Result {
	if a.Status == http.StatusOK {
		return judgeSuccess(p, a)
	}
	c, documented := readComplaint(a)
	return carrier.Result{
		Outcome:    classify(a.Status, documented),
		Code:       c.code(a.Status),
		Message:    carrierhttp.Redact(c.message(), p.Shipment),
		RetryAfter: a.RetryAfter(),
		Answered:   true,
	}
}

func classify(status int, documented bool) carrier.Outcome {
	for _, r := range refusals {
		if r.status == status && (documented || !r.documented) {
			return r.outcome
		}
	}
	return carrier.Unknown
}

// complaint is the API's error body.
type complaint struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Errors  []struct {
			Code   string `json:"code"`
			Title  string `json:"title"`
			Detail string `json:"detail"`
		} `json:"errors"`
	} `json:"error"`
}

// readComplaint also tells whether the answer was one.
func readComplaint(a carrierhttp.Answer) (complaint, bool) {
	var c complaint
	if !a.Decode(&c) || c.Error.Code == "" {
		return complaint{}, false
	}
	return c, true
}

// code is the most particular one there is. The outer one repeats the status.
func (c complaint) code(status int) string {
	var inner string
	if len(c.Error.Errors) > 0 {
		inner = carrier.Sanitise(c.Error.Errors[0].Code)
	}
	return cmp.Or(inner, "http_"+strconv.Itoa(status))
}

func (c complaint) message() string {
	words := []string{c.Error.Message}
	for _, e := range c.Error.Errors {
		words = append(words, cmp.Or(e.Detail, e.Title))
	}
	return strings.TrimSuffix(strings.Join(words, ": "), ": ")
}
