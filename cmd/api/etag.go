package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"waybill/internal/problem"
	"waybill/outbox"
)

// maxTags is far above what a client needs to name, and bounds what is read of a header.
const maxTags = 32

// etag names a revision of a label: it is strong, because the revision changes with all that is shown.
func etag(revision int64) string { return `"v` + strconv.FormatInt(revision, 10) + `"` }

// match is what a header If-Match or If-None-Match names (RFC 9110, sections 13.1.1 and 13.1.2).
type match struct {
	given bool
	any   bool
	tags  []entityTag
}

// entityTag is one tag: its text without the quotation marks, and whether it is a weak one.
type entityTag struct {
	text string
	weak bool
}

// readMatch reads a header of entity tags. A header that cannot be read is refused: a condition that
// was meant must not be taken for none.
func readMatch(h http.Header, name string) (match, error) {
	lines := h.Values(name)
	m, ok := parseMatch(lines)
	if !ok {
		return match{}, refuse(problem.InvalidRequest,
			fmt.Sprintf(`%s must be * or a list of up to %d entity tags, as they came in ETag, e.g. "v7".`, name, maxTags))
	}
	return m, nil
}

// parseMatch reads the values of a header, which may be spread over lines: they are one list.
func parseMatch(lines []string) (m match, ok bool) {
	if len(lines) == 0 {
		return match{}, true
	}
	m.given = true
	rest := strings.Trim(strings.Join(lines, ","), " \t")
	if rest == "*" {
		m.any = true
		return m, true
	}
	for rest != "" {
		if rest[0] == ',' { // RFC 9110, section 5.6.1.2: empty elements are passed over
			rest = strings.TrimLeft(rest[1:], " \t")
			continue
		}
		var tag entityTag
		if tag, rest, ok = cutTag(rest); !ok || len(m.tags) == maxTags {
			return match{}, false
		}
		m.tags = append(m.tags, tag)
	}
	return m, len(m.tags) > 0
}

// cutTag reads the tag that a list begins with (RFC 9110, section 8.8.3), and nothing but the list's
// end or a comma after it.
func cutTag(list string) (tag entityTag, rest string, ok bool) {
	list, tag.weak = strings.CutPrefix(list, "W/")
	if !strings.HasPrefix(list, `"`) {
		return tag, "", false
	}
	tag.text, rest, ok = strings.Cut(list[1:], `"`)
	if !ok || strings.ContainsFunc(tag.text, func(r rune) bool { return r < '!' || r == 0x7f }) {
		return tag, "", false
	}
	rest = strings.TrimLeft(rest, " \t")
	return tag, rest, rest == "" || rest[0] == ','
}

// weakly tells whether the header names a revision, by the comparison for If-None-Match.
func (m match) weakly(revision int64) bool {
	return m.any || slices.ContainsFunc(m.tags, func(t entityTag) bool { return `"`+t.text+`"` == etag(revision) })
}

// condition is what a write may rest on: the revisions that an If-Match names, by the comparison for
// it, to which a weak tag is equal to none. A tag that is none of ours names no revision.
func (m match) condition() outbox.Condition {
	when := outbox.Condition{}
	for _, tag := range m.tags {
		n, err := strconv.ParseInt(strings.TrimPrefix(tag.text, "v"), 10, 64)
		if err == nil && !tag.weak && etag(n) == `"`+tag.text+`"` {
			when = append(when, n)
		}
	}
	return when
}

// required is the condition of a write that would otherwise undo what its client has not seen.
func required(h http.Header) (outbox.Condition, error) {
	m, err := readMatch(h, "If-Match")
	switch {
	case err != nil:
		return nil, err
	case !m.given:
		return nil, refuse(problem.PreconditionRequired,
			`Read the label, and send its ETag with the change, e.g. If-Match: "v7". Nothing was changed.`)
	case m.any:
		return nil, refuse(problem.PreconditionRequired,
			`If-Match: * names no revision. Send the ETag of the label you have read. Nothing was changed.`)
	default:
		return m.condition(), nil
	}
}

// optional is the condition of a write that may do without: nil, if the client has none.
func optional(h http.Header) (outbox.Condition, error) {
	m, err := readMatch(h, "If-Match")
	if err != nil || !m.given || m.any {
		return nil, err
	}
	return m.condition(), nil
}
