package carriertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Talk is a carrier that knows these answers, by method, path and query, and remembers what it was asked,
// one call after the other. An answer "status 503" is the failure, with that status; what it does not know
// it answers with the absence and 404. It returns its address.
func Talk(t *testing.T, answers map[string]string, absence, failure string) (baseURL string, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		*asked = append(*asked, r.Method+" "+r.URL.RequestURI())
		answer, ok := answers[r.Method+" "+r.URL.RequestURI()]
		status := http.StatusOK
		switch {
		case !ok:
			status, answer = http.StatusNotFound, absence
		case strings.HasPrefix(answer, "status "):
			if _, err := fmt.Sscanf(answer, "status %d", &status); err != nil {
				t.Error(err)
			}
			answer = failure
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(front.Close)
	return front.URL, asked
}
