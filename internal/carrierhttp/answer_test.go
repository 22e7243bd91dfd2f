package carrierhttp

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Tue, 01 Dec 2026 10:00:00 GMT"
	for name, tt := range map[string]struct {
		value, date string
		want        time.Duration
	}{
		"Absent":          {"", date, 0},
		"Seconds":         {"7", "", 7 * time.Second},
		"Negative":        {"-7", date, 0},
		"Fraction":        {"1.5", date, 0},
		"TooLong":         {"2000000000", date, maxRetryAfter},
		"Overflow":        {strings.Repeat("9", 30), date, 0},
		"Date":            {"Tue, 01 Dec 2026 10:00:30 GMT", date, 30 * time.Second},
		"PastDate":        {"Tue, 01 Dec 2026 09:00:00 GMT", date, 0},
		"DateWithoutDate": {"Tue, 01 Dec 2026 10:00:30 GMT", "", 0},
		"FarDate":         {"Tue, 01 Dec 2099 10:00:30 GMT", date, maxRetryAfter},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{"Retry-After": {tt.value}, "Date": {tt.date}}
			require.Equal(t, tt.want, Answer{Header: h}.RetryAfter())
		})
	}
}

func TestTellsError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{}`: false, `[]`: false, `{"error": null, "errors": []}`: false, `{"error": "", "errors": {}}`: false, `{"error": false}`: false,
		`{"error": {"code": "X"}}`: true, `{"errors": [{}]}`: true, `{"error": "no"}`: true, `{"error": true}`: true, `{"errors": null, "error": 7}`: true,
	} {
		a := Answer{Status: 200, Header: http.Header{"Content-Type": {JSON}}, Body: []byte(body), Whole: true}
		require.Equal(t, want, a.TellsError(), body)
		a.Whole = false
		require.False(t, a.TellsError(), body)
	}
}
