package main

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"waybill/internal/problem"
	"waybill/outbox"
)

const (
	defaultLimit = 100
	maxLimit     = 500

	// maxTrackingNo is more than any carrier's number has.
	maxTrackingNo = 100
)

// labelsBody is a page of labels, each as GET /v1/labels/{label_id} shows it.
type labelsBody struct {
	Labels     []jsontext.Value `json:"labels"`
	NextCursor string           `json:"next_cursor,omitzero"`
}

// listLabels is GET /v1/labels: the caller's labels, oldest first; those of one order by parcel and
// version.
func (a *api) listLabels(w http.ResponseWriter, r *request) error {
	q, err := readQuery(r.URL, "labels", "order_id", "state", "carrier", "tracking_no", "created_from", "created_to")
	if err != nil {
		return err
	}
	filter := outbox.LabelFilter{
		OrderID:    q.number("order_id", 0),
		VoidState:  q.oneOf("state", "none", "requested", "voided", "refused", "in_doubt"),
		Carrier:    q.text("carrier", maxName),
		TrackingNo: q.text("tracking_no", maxTrackingNo),
		From:       q.time("created_from"),
		To:         q.time("created_to"),
	}
	page := q.page()
	if q.err != nil {
		return q.err
	}
	found, more, err := a.outbox.Labels(r.Context(), r.caller.ID, filter, page)
	if err != nil {
		return listError("labels", err)
	}
	body := labelsBody{Labels: make([]jsontext.Value, len(found))}
	for i := range found {
		body.Labels[i] = found[i].EncodeCurrent()
	}
	if more {
		body.NextCursor = q.next(found[len(found)-1].ID)
	}
	return writeJSON(w, http.StatusOK, body)
}

// intentsBody is a page of intents, each as GET /v1/intents/{intent_id} shows it.
type intentsBody struct {
	Intents    []intentBody `json:"intents"`
	NextCursor string       `json:"next_cursor,omitzero"`
}

// intents is GET /v1/intents: the one that was ordered under a key, or a list.
func (a *api) intents(w http.ResponseWriter, r *request) error {
	given := r.URL.Query()
	listed := slices.ContainsFunc([]string{"state", "order_id", "cursor", "limit"}, given.Has)
	if !listed || given.Has("idempotency_key") {
		return a.intentByKey(w, r)
	}
	return a.listIntents(w, r)
}

// listIntents lists the caller's intents in doubt, oldest first, or those of one order, by parcel and
// version.
func (a *api) listIntents(w http.ResponseWriter, r *request) error {
	q, err := readQuery(r.URL, "intents", "order_id", "state", "carrier", "created_from", "created_to")
	if err != nil {
		return err
	}
	filter := outbox.IntentFilter{
		OrderID: q.number("order_id", 0),
		InDoubt: q.oneOf("state", string(outbox.InDoubt)) != "",
		Carrier: q.text("carrier", maxName),
		From:    q.time("created_from"),
		To:      q.time("created_to"),
	}
	page := q.page()
	switch {
	case q.err != nil:
		return q.err
	case filter.OrderID == 0 && !filter.InDoubt:
		return refuse(problem.InvalidRequest, "Send order_id, or state=in_doubt, or both.")
	}
	found, more, err := a.outbox.Intents(r.Context(), r.caller.ID, filter, page)
	if err != nil {
		return listError("intents", err)
	}
	body := intentsBody{Intents: make([]intentBody, len(found))}
	for i := range found {
		body.Intents[i] = newIntentBody(found[i])
	}
	if more {
		body.NextCursor = q.next(found[len(found)-1].ID)
	}
	return writeJSON(w, http.StatusOK, body)
}

func listError(what string, err error) error {
	if errors.Is(err, outbox.ErrNoSuchPlace) {
		return invalidCursor()
	}
	return fmt.Errorf("listing %s: %w", what, err)
}

func invalidCursor() error {
	return refuse(problem.InvalidRequest,
		"cursor must be a next_cursor of this very list, with the same filters. Without it the list begins again.")
}

// query reads the parameters of a list and keeps the first thing that is wrong with them.
type query struct {
	values url.Values
	list   listID
	err    error
}

// readQuery refuses what is not known, said twice or said without a value: a filter that was meant and
// is passed over would make a list of too much.
func readQuery(u *url.URL, what string, filters ...string) (*query, error) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, refuse(problem.InvalidRequest, "The query cannot be read.")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		given := values[name]
		switch {
		case name != "cursor" && name != "limit" && !slices.Contains(filters, name):
			return nil, refuse(problem.InvalidRequest,
				fmt.Sprintf("This list knows the query parameters %s, cursor and limit.", strings.Join(filters, ", ")))
		case len(given) != 1 || given[0] == "":
			return nil, refuse(problem.InvalidRequest, fmt.Sprintf("Send the query parameter %s once, with a value.", name))
		}
	}
	named := url.Values{"": {what}}
	for _, name := range filters {
		if values.Has(name) {
			named[name] = values[name]
		}
	}
	return &query{values: values, list: newListID(named.Encode())}, nil
}

func (q *query) refuse(detail string) {
	if q.err == nil {
		q.err = refuse(problem.InvalidRequest, detail)
	}
}

// number reads a positive integer, spelled as such; most is the greatest, 0 if there is none.
func (q *query) number(name string, most int64) int64 {
	text := q.values.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || n < 1 || strconv.FormatInt(n, 10) != text:
		q.refuse(name + " must be a positive integer.")
	case most > 0 && n > most:
		q.refuse(fmt.Sprintf("%s must be from 1 to %d.", name, most))
	default:
		return n
	}
	return 0
}

func (q *query) oneOf(name string, known ...string) string {
	text := q.values.Get(name)
	if text != "" && !slices.Contains(known, text) {
		q.refuse(fmt.Sprintf("%s must be %s.", name, strings.Join(known, ", ")))
	}
	return text
}

func (q *query) text(name string, most int) string {
	text := q.values.Get(name)
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable):
		q.refuse(name + " must be printable text in UTF-8.")
	case utf8.RuneCountInString(text) > most:
		q.refuse(fmt.Sprintf("%s must be at most %d characters.", name, most))
	}
	return text
}

// time reads a moment; the zero time, if none was given.
func (q *query) time(name string) time.Time {
	text := q.values.Get(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 {
		q.refuse(name + " must be a time as in RFC 3339, e.g. 2026-03-01T00:00:00Z.")
	}
	return t
}

func (q *query) page() outbox.Page {
	page := outbox.Page{Limit: defaultLimit}
	if n := q.number("limit", maxLimit); n > 0 {
		page.Limit = int(n)
	}
	if text := q.values.Get("cursor"); text != "" {
		c, ok := parseCursor(text)
		if q.err == nil && (!ok || c.list != q.list) {
			q.err = invalidCursor()
		}
		page.After = c.after
	}
	return page
}

// next is the cursor behind the last row of a page.
func (q *query) next(last uuid.UUID) string { return cursor{after: last, list: q.list}.String() }
