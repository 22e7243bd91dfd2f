package fedex

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

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
// Absent are every 5xx, of which 500 and 503 are declared and say nothing of what was done before; and
// 404, which is declared for "no longer available" and comes from whatever stands in the carrier's place
// too. 200 with errors inside is unknown as well.
var refusals = []refusal{
	{http.StatusBadRequest, true, carrier.Rejected}, // second-hand: declared; but see unsure
	// Second-hand: declared, "access token expired". The token is checked before the order (inferred).
	{http.StatusUnauthorized, false, carrier.NotBought},
	// Second-hand: declared, "could not authorize your credentials". A person mends them.
	{http.StatusForbidden, true, carrier.NotBought},
	{http.StatusTooManyRequests, false, carrier.NotBought}, // documented: the rest of the window, or of the day
}

// unsure are how codes begin by which FedEx says that something of its own went wrong, whatever the status:
// INTERNAL.SERVER.ERROR and SERVICE.UNAVAILABLE.ERROR are declared with 500 and 503 (second-hand),
// SYSTEM.UNEXPECTED.ERROR and others of SYSTEM come with 400 too (seen in clients). So does whatever ran
// out of time (inferred): nothing is known of an order that somebody stopped waiting for.
var unsure = regexp.MustCompile(`^(INTERNAL|SYSTEM|SERVICE\.UNAVAILABLE)\.|\bTIME\.?OUT\b`)

// window is how long a 429 lasts if it does not say so itself: limits are counted over ten seconds
// (documented). That of a whole day is met again after it.
const window = 10 * time.Second

// judge decides what an answer to a purchase proves.
func judge(p carrier.Purchase, currency string, a carrierhttp.Answer) carrier.Result {
	if a.Status == http.StatusOK {
		return judgeSuccess(p, currency, a)
	}
	found := readErrors(a)
	result := carrier.Result{
		Outcome:    classify(a.Status, found),
		Code:       found.code(a.Status),
		Message:    carrierhttp.Redact(found.message(), p.Shipment),
		RetryAfter: a.RetryAfter(),
		Answered:   true,
	}
	if a.Status == http.StatusTooManyRequests {
		result.RetryAfter = cmp.Or(result.RetryAfter, window)
	}
	return result
}

func classify(status int, found complaints) carrier.Outcome {
	if slices.ContainsFunc(found, func(e complaint) bool { return unsure.MatchString(e.Code) }) {
		return carrier.Unknown
	}
	for _, r := range refusals {
		if r.status == status && (len(found) > 0 || !r.documented) {
			return r.outcome
		}
	}
	return carrier.Unknown
}

// complaint is one error of the API.
type complaint struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type complaints []complaint

// readErrors returns none for anything that is not the API's error body.
func readErrors(a carrierhttp.Answer) complaints {
	var body struct {
		Errors complaints `json:"errors"`
	}
	if !a.Decode(&body) || slices.ContainsFunc(body.Errors, func(e complaint) bool { return e.Code == "" }) {
		return nil
	}
	return body.Errors
}

func (c complaints) code(status int) string {
	var first string
	if len(c) > 0 {
		first = carrier.Sanitise(c[0].Code)
	}
	return cmp.Or(first, "http_"+strconv.Itoa(status))
}

func (c complaints) message() string {
	if len(c) == 0 {
		return ""
	}
	return c[0].Message
}
