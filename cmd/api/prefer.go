package main

import (
	"net/http"
	"strconv"
	"strings"
)

// maxWait is the longest a request may wait for its label: longer connections do not survive the
// proxies on the way.
const maxWait = 30

// preferredWait reads "wait=N" out of the Prefer headers (RFC 7240). Whatever cannot be read is
// ignored, as the RFC wants; of several the first counts; more than the maximum is cut to it, and
// Preference-Applied says so.
func preferredWait(h http.Header) (seconds int, ok bool) {
	for _, line := range h.Values("Prefer") {
		for _, preference := range splitUnquoted(line, ',') {
			// Parameters of a preference follow a semicolon; "wait" has none.
			token := splitUnquoted(preference, ';')[0]
			name, text, found := strings.Cut(token, "=")
			if !found || !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			return parseWait(strings.TrimSpace(text))
		}
	}
	return 0, false
}

func parseWait(text string) (int, bool) {
	if unquoted, ok := unquote(text); ok && strings.HasPrefix(text, `"`) {
		text = unquoted
	}
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > maxWait {
		return maxWait, true // digits only, so too many of them
	}
	return n, true
}

// splitUnquoted splits at a separator that is not inside a quoted string.
func splitUnquoted(s string, separator byte) []string {
	var parts []string
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == separator:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}
