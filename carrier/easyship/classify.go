package easyship

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// refusal is an answer by which this call has bought nothing.
type refusal struct {
	status  int
	code    string // of the API's error body; empty if the status is enough
	outcome carrier.Outcome
}

// refusals is the whole table: an answer that is neither here nor a valid 200 or 201 is unknown. All codes
// are documented with their status (reference, "errors"); that nothing was bought then is inferred.
//
// Absent are api_error, which comes with 400 and says nothing of what was done before;
// internal_server_error; and resource_not_found, which is not what a purchase meets. No answer is known
// by which Easyship says that a key was used with another body.
var refusals = []refusal{
	{http.StatusBadRequest, "invalid_request", carrier.Rejected},
	{http.StatusUnprocessableEntity, "invalid_content", carrier.Rejected},
	// The token is checked first. A person mends it, then the purchase may succeed.
	{http.StatusUnauthorized, "", carrier.NotBought},
	{http.StatusForbidden, "forbidden", carrier.NotBought},
	{http.StatusTooManyRequests, "", carrier.NotBought},
}

// judge decides what an answer to a purchase proves.
func (a *Adapter) judge(p carrier.Purchase, answer carrierhttp.Answer) carrier.Result {
	switch answer.Status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted:
		return a.judgeSuccess(p, answer)
	}
	c := readComplaint(answer)
	result := carrier.Result{
		Outcome:    classify(answer.Status, c.Code),
		Code:       cmp.Or(carrier.Sanitise(c.Code), "http_"+strconv.Itoa(answer.Status)),
		Message:    carrierhttp.Redact(c.words(), p.Shipment),
		RetryAfter: answer.RetryAfter(),
		Answered:   true,
	}
	if answer.Status == http.StatusTooManyRequests {
		result.RetryAfter = cmp.Or(result.RetryAfter, untilReset(answer))
	}
	return result
}

func classify(status int, code string) carrier.Outcome {
	for _, r := range refusals {
		if r.status == status && (r.code == "" || r.code == code) {
			return r.outcome
		}
	}
	return carrier.Unknown
}

// The bounds of a pause that a 429 does not name itself. Limits are counted by the second and by the
// minute (documented).
const (
	shortestPause = time.Second
	longestPause  = time.Minute
)

// untilReset is how long the limit lasts: Easyship sends no Retry-After, but the second at which it counts
// anew (recorded). It is measured against the answer's own Date, since one clock wrote both.
func untilReset(a carrierhttp.Answer) time.Duration {
	reset, err := strconv.ParseInt(a.Header.Get("X-Ratelimit-Reset"), 10, 64)
	date, dateErr := http.ParseTime(a.Header.Get("Date"))
	if err != nil || dateErr != nil {
		return longestPause
	}
	return min(max(time.Unix(reset, 0).Sub(date), shortestPause), longestPause)
}

// complaint is the API's error.
type complaint struct {
	Type    string   `json:"type"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Details []string `json:"details"`
}

// readComplaint returns the zero complaint for anything that is not one.
func readComplaint(a carrierhttp.Answer) complaint {
	var body struct {
		Error complaint `json:"error"`
	}
	if !a.Decode(&body) {
		return complaint{}
	}
	return body.Error
}

// words are the message and its first detail, which says what to mend.
func (c complaint) words() string {
	if len(c.Details) == 0 {
		return c.Message
	}
	return c.Message + " " + c.Details[0]
}
