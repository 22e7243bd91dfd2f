package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/problem"
)

// requireNothingStored counts everything a request could have left, whoever's it is.
func (b *testBundle) requireNothingStored(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // it is asked when all subtests have ended
	for _, table := range []string{"label_intents", "idempotency_keys", "river_job", "labels"} {
		var rows int
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM `+table).Scan(&rows))
		require.Zero(t, rows, table)
	}
}

// TestBadBodies sends each over HTTP: a clear refusal, nothing stored, and the key still free.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err := w.Write([]byte(validBody))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	replace := func(old, with string) string {
		require.Contains(t, validBody, old)
		return strings.Replace(validBody, old, with, 1)
	}
	for name, tt := range map[string]struct {
		body   string
		code   problem.Code
		detail string // of the document, or of the one fault
	}{
		"EscapedNUL":        {replace(`"Bob"`, `"B\u0000b"`), problem.InvalidRequest, "/ship_to/name"},
		"RawNUL":            {replace(`"Bob"`, "\"B\x00b\""), problem.MalformedJSON, "not valid JSON"},
		"NULInAName":        {replace(`"order_id"`, `"order\u0000id"`), problem.InvalidRequest, "/order"},
		"LoneSurrogate":     {replace(`"Bob"`, `"\ud800"`), problem.MalformedJSON, "not valid JSON"},
		"SurrogateInAName":  {replace(`"order_id"`, `"\udfff"`), problem.MalformedJSON, "not valid JSON"},
		"InvalidUTF8":       {replace(`"Bob"`, "\"B\xffb\""), problem.MalformedJSON, "not valid UTF-8"},
		"PastInt64":         {replace(`918273`, `9223372036854775808`), problem.InvalidRequest, "/order_id"},
		"ParcelPastInt32":   {replace(`"parcel_no": 1`, `"parcel_no": 4294967297`), problem.InvalidRequest, "/parcel_no"},
		"VersionPastInt32":  {replace(`"label_version": 1`, `"label_version": 2147483648`), problem.InvalidRequest, "/label_version"},
		"Fraction":          {replace(`918273`, `918273.0`), problem.InvalidRequest, "/order_id"},
		"Exponent":          {replace(`1450`, `1e3`), problem.InvalidRequest, "/weight_g"},
		"Infinite":          {replace(`1450`, `1e400`), problem.InvalidRequest, "/weight_g"},
		"NegativeZero":      {replace(`1450`, `-0`), problem.InvalidRequest, "/weight_g"},
		"QuotedNumber":      {replace(`1450`, `"1450"`), problem.InvalidRequest, "/weight_g"},
		"Null":              {replace(`1450`, `null`), problem.InvalidRequest, "/weight_g"},
		"DuplicateName":     {replace(`"weight_g": 1450`, `"weight_g": 1450, "weight_g": 1`), problem.MalformedJSON, "same name"},
		"EscapedDuplicate":  {replace(`"weight_g": 1450`, `"weight_g": 1450, "weight\u005fg": 1`), problem.MalformedJSON, "same name"},
		"NestedDuplicate":   {replace(`"Reno"`, `"Reno", "city": "Bath"`), problem.MalformedJSON, "same name"},
		"OtherCase":         {replace(`"weight_g": 1450`, `"weight_g": 1450, "Weight_G": 1`), problem.InvalidRequest, "/Weight_G"},
		"DeepArrays":        {replace(`"Bob"`, strings.Repeat("[", 1000)+strings.Repeat("]", 1000)), problem.MalformedJSON, "nested"},
		"DeepObjects":       {strings.Repeat(`{"a":`, 10_000), problem.MalformedJSON, "nested"},
		"NeverClosed":       {strings.Repeat("[", maxBody), problem.MalformedJSON, "nested"},
		"Truncated":         {validBody[:len(validBody)-1], problem.MalformedJSON, "ends in the middle"},
		"TwoObjects":        {validBody + validBody, problem.MalformedJSON, "more after the end"},
		"ByteOrderMark":     {"\ufeff" + validBody, problem.MalformedJSON, "not valid JSON"},
		"Empty":             {"", problem.MalformedJSON, "empty"},
		"GzipWithoutSaying": {zipped.String(), problem.MalformedJSON, "not valid UTF-8"},
		"TenMegabytes":      {strings.Repeat(" ", 10<<20), problem.BodyTooLarge, "65536"},
		"Form":              {"order_id=1&weight_g=1", problem.MalformedJSON, "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.post(t, order{body: tt.body, key: "bad:" + name})
			document := got.requireProblem(t, tt.code)
			got.notReplayed(t, document)
			if tt.code == problem.InvalidRequest {
				require.Len(t, document.Errors, 1+strings.Count(name, "NULInAName"), "%s", got.body)
				require.Contains(t, strings.Join(pointers(document), " "), tt.detail)
			} else {
				require.Contains(t, document.Detail, tt.detail)
			}
			require.Less(t, len(got.body), 2000, "a refusal is short")
		})
	}
	t.Cleanup(func() { b.requireNothingStored(t) })
}

// TestBigNumbersAreExact: past 2^53 a float would make two orders of one.
func TestBigNumbersAreExact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []int64{1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<63 - 1} {
		o := order{id: id, body: strings.Replace(validBody, "918273", fmt.Sprint(id), 1), key: fmt.Sprint("big:", id)}
		b.accepted(t, o)
		intents, _ := b.stored(t, o)
		require.Equal(t, 1, intents, id)
		require.Contains(t, b.get(t, intentsPath+"?idempotency_key="+o.key).body, fmt.Sprintf(`"order_id":%d,`, id))
	}
}

// TestBadHeaders: what is said twice, or in a form that another program reads otherwise, is refused.
func TestBadHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const body = validBody
	length := fmt.Sprint("Content-Length: ", len(body))
	auth, media := "Authorization: Bearer "+b.key, "Content-Type: application/json"
	for name, tt := range map[string]struct {
		lines  []string
		status int
		code   problem.Code // none where net/http answers by itself
	}{
		"KeyTwice":               {[]string{auth, media, length, "Idempotency-Key: k", "Idempotency-Key: k"}, 400, problem.IdempotencyKeyInvalid},
		"KeyTwiceInOtherCase":    {[]string{auth, media, length, "Idempotency-Key: k", "IDEMPOTENCY-KEY: l"}, 400, problem.IdempotencyKeyInvalid},
		"KeyWithAnUnderscore":    {[]string{auth, media, length, "Idempotency_Key: k"}, 400, problem.IdempotencyKeyMissing},
		"KeyFolded":              {[]string{auth, media, length, "Idempotency-Key: k", " l"}, 400, problem.IdempotencyKeyInvalid},
		"KeyWithNUL":             {[]string{auth, media, length, "Idempotency-Key: k\x00l"}, 400, ""},
		"KeyWithAControl":        {[]string{auth, media, length, "Idempotency-Key: k\x01l"}, 400, ""},
		"KeyWithTabs":            {[]string{auth, media, length, "Idempotency-Key: k\tl"}, 400, problem.IdempotencyKeyInvalid},
		"KeyNotASCII":            {[]string{auth, media, length, "Idempotency-Key: ké"}, 400, problem.IdempotencyKeyInvalid},
		"KeyOf256":               {[]string{auth, media, length, "Idempotency-Key: " + strings.Repeat("k", 256)}, 400, problem.IdempotencyKeyInvalid},
		"KeyOf10Kilobytes":       {[]string{auth, media, length, "Idempotency-Key: " + strings.Repeat("k", 10<<10)}, 400, problem.IdempotencyKeyInvalid},
		"KeyEmpty":               {[]string{auth, media, length, "Idempotency-Key:"}, 400, problem.IdempotencyKeyInvalid},
		"KeyInATrailer":          {[]string{auth, media, "Transfer-Encoding: chunked", "Trailer: Idempotency-Key"}, 400, problem.IdempotencyKeyMissing},
		"NameWithASpace":         {[]string{auth, media, length, "Idempotency-Key : k"}, 400, ""},
		"NoName":                 {[]string{auth, media, length, ": k"}, 400, ""},
		"AuthorizationTwice":     {[]string{auth, auth, media, length, "Idempotency-Key: k"}, 401, problem.Unauthenticated},
		"AuthorizationOfAnother": {[]string{auth, "Authorization: Bearer " + b.other, media, length, "Idempotency-Key: k"}, 401, problem.Unauthenticated},
		"MediaTypeTwice":         {[]string{auth, media, media, length, "Idempotency-Key: k"}, 415, problem.UnsupportedMediaType},
		"Gzip":                   {[]string{auth, media, "Content-Encoding: gzip", length, "Idempotency-Key: k"}, 415, problem.UnsupportedMediaType},
		"GzipOnASecondLine":      {[]string{auth, media, "Content-Encoding: identity", "Content-Encoding: gzip", length, "Idempotency-Key: k"}, 415, problem.UnsupportedMediaType},
		"GzipAmongOthers":        {[]string{auth, media, "Content-Encoding: identity, gzip", length, "Idempotency-Key: k"}, 415, problem.UnsupportedMediaType},
		"GzipInTransfer":         {[]string{auth, media, "Transfer-Encoding: gzip, chunked", "Idempotency-Key: k"}, 501, ""},
		"HostTwice":              {[]string{"Host: other", auth, media, length, "Idempotency-Key: k"}, 400, ""},
		"ExpectSomethingElse":    {[]string{auth, media, length, "Idempotency-Key: k", "Expect: magic"}, 417, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := "POST /v1/labels HTTP/1.1\r\nHost: api\r\nConnection: close\r\n" + strings.Join(tt.lines, "\r\n") + "\r\n\r\n"
			sent := body
			if name == "KeyInATrailer" {
				sent = fmt.Sprintf("%x\r\n%s\r\n0\r\nIdempotency-Key: k\r\n\r\n", len(body), body)
			}
			got := b.raw(t, head+sent, 2)
			require.Len(t, got, 1)
			require.Equal(t, tt.status, got[0].status, got[0].body)
			if tt.code != "" {
				got[0].requireProblem(t, tt.code)
			}
		})
	}
	t.Cleanup(func() { b.requireNothingStored(t) })
}

// TestBadQueries: reads are asked in one spelling too.
func TestBadQueries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for target, code := range map[string]problem.Code{
		intentsPath + "?idempotency_key=%00":                        problem.IdempotencyKeyInvalid,
		intentsPath + "?idempotency_key=k&idempotency_key=k":        problem.IdempotencyKeyInvalid,
		intentsPath + "?idempotency_key=" + url.QueryEscape("\xff"): problem.IdempotencyKeyInvalid,
		intentsPath + "?Idempotency_Key=k":                          problem.IdempotencyKeyMissing,
		intentsPath + "/%00":                                        problem.NotFound,
		intentsPath + "/" + strings.Repeat("0", 4000):               problem.NotFound,
		labelsPath + "?order_id=1.0":                                problem.InvalidRequest,
		labelsPath + "?order_id=1e3":                                problem.InvalidRequest,
		labelsPath + "?order_id=%2B1":                               problem.InvalidRequest,
		labelsPath + "?order_id=01":                                 problem.InvalidRequest,
		labelsPath + "?order_id=9223372036854775808":                problem.InvalidRequest,
		labelsPath + "?order_id=1&order_id=2":                       problem.InvalidRequest,
		labelsPath + "?order_id=1%00":                               problem.InvalidRequest,
		labelsPath + "/..%2f..%2fetc%2fpasswd/document":             problem.NotFound,
	} {
		b.get(t, target).requireProblem(t, code)
	}
}

// TestSmuggling: whatever a proxy in front takes for the end of a request, what it would take for the
// request's body is never run as a request of its own.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hidden := b.order()
	inner := b.head(hidden, fmt.Sprint("Content-Length: ", len(hidden.body))) + hidden.body
	for name, tt := range map[string]struct {
		text   string
		status []int
	}{
		// The proxy goes by the length and forwards all of it as one body; the chunks end at once.
		"LengthThenChunks": {
			b.head(b.order(), fmt.Sprint("Content-Length: ", len("0\r\n\r\n"+inner)), "Transfer-Encoding: chunked") + "0\r\n\r\n" + inner,
			[]int{400},
		},
		"ChunksThenLength": {
			b.head(b.order(), "Transfer-Encoding: chunked", "Content-Length: 3") + "0\r\n\r\n" + inner,
			[]int{400},
		},
		"OldProtocolWithChunks": {
			strings.Replace(b.head(b.order(), "Connection: keep-alive", "Transfer-Encoding: chunked", "Content-Length: 0"), "HTTP/1.1", "HTTP/1.0", 1) + inner,
			[]int{400},
		},
		"TwoLengths":        {b.head(b.order(), "Content-Length: 0", fmt.Sprint("Content-Length: ", len(inner))) + inner, []int{400}},
		"LengthList":        {b.head(b.order(), "Content-Length: 0, 0") + inner, []int{400}},
		"LengthWithASign":   {b.head(b.order(), "Content-Length: +0") + inner, []int{400}},
		"LengthInHex":       {b.head(b.order(), "Content-Length: 0x0") + inner, []int{400}},
		"NegativeLength":    {b.head(b.order(), "Content-Length: -1") + inner, []int{400}},
		"HugeLength":        {b.head(b.order(), "Content-Length: 99999999999999999999") + inner, []int{400}},
		"ChunkedTwice":      {b.head(b.order(), "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + "0\r\n\r\n" + inner, []int{501}},
		"ChunkedInAList":    {b.head(b.order(), "Transfer-Encoding: chunked, identity") + "0\r\n\r\n" + inner, []int{501}},
		"ChunkedMisspelt":   {b.head(b.order(), "Transfer-Encoding: xchunked") + "0\r\n\r\n" + inner, []int{501}},
		"ChunkedFolded":     {b.head(b.order(), "Transfer-Encoding:", " chunked", "Content-Length: 0") + inner, []int{408}},
		"ChunkedWithASpace": {b.head(b.order(), "Transfer-Encoding : chunked", "Content-Length: 0") + inner, []int{400}},
		"ChunkedAfterATab":  {b.head(b.order(), "Transfer-Encoding:\tchunked", "Content-Length: 3") + "0\r\n\r\n" + inner, []int{400}},
		"ChunkOfNoSize":     {b.head(b.order(), "Transfer-Encoding: chunked") + "\r\n" + inner, []int{408}},
		"ChunkOfHugeSize":   {b.head(b.order(), "Transfer-Encoding: chunked") + "10000000000000000\r\n" + inner, []int{408}},
		"ChunkOfNegSize":    {b.head(b.order(), "Transfer-Encoding: chunked") + "-1\r\n" + inner, []int{408}},
		"ChunkLineFeedOnly": {b.head(b.order(), "Transfer-Encoding: chunked") + "0\n\n" + inner, []int{408}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.raw(t, tt.text, 3)
			require.Len(t, got, 1, "the connection ends with the first answer")
			require.Contains(t, tt.status, got[0].status, got[0].body)
		})
	}
	t.Cleanup(func() { b.requireNothingStored(t) })
}

// TestSlowClients: each of them is let go in time, and holds nothing meanwhile but its connection.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	b := setup(t, func(a *api) { a.bodyTimeout = 200 * time.Millisecond })
	quick := b.serveWith(t, func(s *http.Server) { s.ReadHeaderTimeout, s.IdleTimeout = 200*time.Millisecond, 200*time.Millisecond })

	t.Run("HeadersThatNeverEnd", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, quick.raw(t, "POST /v1/labels HTTP/1.1\r\nHost: api\r\nX-Slow: ", 1), "closed without an answer")
	})

	t.Run("NothingAtAll", func(t *testing.T) {
		t.Parallel()
		require.Empty(t, quick.raw(t, "", 1))
	})

	t.Run("AnIdleConnectionAfterItsAnswer", func(t *testing.T) {
		t.Parallel()
		require.Len(t, quick.raw(t, "GET /healthz HTTP/1.1\r\nHost: api\r\n\r\n", 2), 1)
	})

	t.Run("ABodyThatTricklesHasNoLongerThanOneThatStops", func(t *testing.T) {
		t.Parallel()
		o := b.order()
		conn := b.dial(t)
		_, err := fmt.Fprint(conn, b.head(o, fmt.Sprint("Content-Length: ", len(o.body))))
		require.NoError(t, err)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		sent := 0
		for ; sent < len(o.body); sent++ {
			<-tick.C
			if _, err := conn.Write([]byte{o.body[sent]}); err != nil {
				break // the server has answered and closed
			}
		}
		require.Less(t, sent, len(o.body), "the server waited for all of it")
	})

	t.Run("HalfOpenInTheHeaders", func(t *testing.T) {
		t.Parallel()
		got := b.exchange(t, "POST /v1/labels HTTP/1.1\r\nHost: api\r\n", 2, true)
		require.Len(t, got, 1)
		require.Equal(t, http.StatusBadRequest, got[0].status)
	})
	t.Cleanup(func() { b.requireNothingStored(t) })
}
