package carrierhttp

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds an answer: a label's document is some hundred KiB, and ten times that is an error.
const maxAnswer = 5 << 20

// Answer is a response as far as it could be read.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	// Whole is true if the body came to its proper end within the limit of 5 MiB.
	Whole bool
}

// readAnswer takes the response in, to its end so that the connection can serve again.
func readAnswer(resp *http.Response) Answer {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	return Answer{
		Status: resp.StatusCode,
		Header: resp.Header,
		Body:   body,
		Whole:  err == nil && len(body) <= maxAnswer,
	}
}

// Decode reads a whole JSON answer into v, and reports whether it could. Members of other names are
// passed over; duplicate names and invalid UTF-8 are not JSON. The pages that gateways write in a
// carrier's place are not either, whatever is in them.
func (a Answer) Decode(v any) bool {
	return a.Whole && a.IsJSON() && json.Unmarshal(a.Body, v) == nil
}

// TellsError is true of a JSON object that holds an error, whatever else is in it: a member named error or
// errors that is neither null nor empty. A label beside one is sold perhaps, and perhaps not as it was ordered.
func (a Answer) TellsError() bool {
	var body struct {
		Error  jsontext.Value `json:"error"`
		Errors jsontext.Value `json:"errors"`
	}
	return a.Decode(&body) && (saysSomething(body.Error) || saysSomething(body.Errors))
}

func saysSomething(member jsontext.Value) bool {
	switch string(member) {
	case "", "null", "false", `""`, "[]", "{}":
		return false
	}
	return true
}

// IsJSON is true of application/json and of its dialects, such as application/vnd.api+json.
func (a Answer) IsJSON() bool {
	mediaType, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return err == nil && (mediaType == JSON || strings.HasPrefix(mediaType, "application/") && strings.HasSuffix(mediaType, "+json"))
}

// CodeErrors is the code of an answer with a label and with an error.
const CodeErrors = "errors_beside_a_label"

// maxRetryAfter bounds what a carrier may ask for: beyond a day it is a mistake, or an overflow.
const maxRetryAfter = 24 * time.Hour

// RetryAfter is how long the carrier asks to be left alone, at most a day; 0 if it does not. The
// header has two forms (RFC 9110, section 10.2.3). A date is measured against the answer's own Date,
// since the carrier's clock wrote both.
func (a Answer) RetryAfter() time.Duration {
	value := a.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	date, err := http.ParseTime(a.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(date), 0), maxRetryAfter)
}
