package main

import (
	"fmt"
	"net/http"
	"strings"

	"waybill/internal/problem"
)

const (
	keyHeader = "Idempotency-Key"
	maxKeyLen = 255
)

// idempotencyKey reads the key of a request. It may be bare (k) or a quoted string of RFC 8941
// ("k"), which is how the IETF draft spells it: both are the same key. A value that begins with a
// quotation mark but is no whole quoted string is refused, because somebody meant to quote it; a
// mark further on is part of a bare key.
func idempotencyKey(h http.Header) (string, error) {
	return parseIdempotencyKey(h.Values(keyHeader))
}

// parseIdempotencyKey reads the one key among the values that were sent.
func parseIdempotencyKey(lines []string) (string, error) {
	if len(lines) == 0 {
		return "", refuse(problem.IdempotencyKeyMissing,
			"Send the idempotency key that names this label intent, e.g. label:918273:1:v1, and the "+
				"same one with every repeat.")
	}
	if len(lines) > 1 {
		// Joined, two lines would be a third key, and a repeat with one line another intent.
		return "", invalidKey("The key is there more than once; send it once.")
	}
	key := lines[0]
	if strings.HasPrefix(key, `"`) {
		unquoted, ok := unquote(key)
		if !ok {
			return "", invalidKey(`The value begins with a quotation mark but is not one whole quoted ` +
				`string; send it bare, or as "key" with \" and \\ as the only escapes.`)
		}
		key = unquoted
	}
	switch {
	case key == "":
		return "", invalidKey("The key is empty; send 1 to 255 characters.")
	case len(key) > maxKeyLen:
		return "", invalidKey(fmt.Sprintf("The key has %d characters; at most %d are allowed.", len(key), maxKeyLen))
	case strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }):
		return "", invalidKey("The key may hold visible ASCII characters only, and no spaces.")
	}
	return key, nil
}

// unquote reads a whole quoted string of RFC 8941, section 3.3.3.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return "", false
	}
	inner := s[1 : len(s)-1]
	var out strings.Builder
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case '"':
			return "", false
		case '\\':
			i++
			if i == len(inner) || inner[i] != '"' && inner[i] != '\\' {
				return "", false
			}
		}
		out.WriteByte(inner[i])
	}
	return out.String(), true
}

func invalidKey(detail string) error {
	return refuse(problem.IdempotencyKeyInvalid, detail)
}
