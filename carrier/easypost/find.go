package easypost

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

const (
	// pageSize is the most that EasyPost gives [documented].
	pageSize = 100

	// maxPages bounds a look-up: whoever has bought more labels than this many pages hold is told
	// that it cannot be answered, never that there is none.
	maxPages = 200

	// reach is how long before the shipment that we know of another one of its reference may have been
	// made: as far back as EasyPost goes by itself.
	reach = 31 * 24 * time.Hour
)

// Find implements [carrier.Carrier]. It answers with all labels or with an error: "none" is taken
// for evidence, so a shipment that cannot be read must not look like an unsold one.
//
// With a remote id it asks about that shipment. If that one is not sold, another of the reference may
// be: after a restore from a backup the id that we know is perhaps an old one. So the reference is asked
// for too, which can only add: references are not unique, and EasyPost does not say which of several
// shipments it shows, so an unsold one there proves nothing.
//
// What proves that there is none is the list of what was bought. It has no filter by reference, so it is
// read to its end, newest first. It goes back to a month before the shipment that we know was made. Where
// that is not known EasyPost begins where it likes, a month ago by its older documentation.
//
// A label of the reference that is not of the configured carrier and account is an error: it is ours, and
// we cannot say what was paid for it by whom.
func (a *Adapter) Find(ctx context.Context, q carrier.Query) ([]carrier.Label, error) {
	if a.cfg.Capabilities.Lookup == nil {
		return nil, carrier.ErrNoLookup
	}
	find := a.findListed
	if q.RemoteID != "" {
		find = a.findPrepared
	}
	labels, err := find(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("looking up reference %s: %w", q.Reference, err)
	}
	return labels, nil
}

func (a *Adapter) findPrepared(ctx context.Context, q carrier.Query) ([]carrier.Label, error) {
	id, _, ok := splitRemoteID(q.RemoteID)
	if !ok {
		return nil, errors.New("the remote id is not a shipment and a rate of this carrier")
	}
	answer, err := a.get(ctx, "shipments", id)
	if err != nil {
		return nil, err
	}
	// A 404 is an error like any other: we know that this shipment was made.
	s, err := readShipment(answer)
	switch {
	case err != nil:
		return nil, err
	case s.ID != id:
		return nil, errors.New("carrier's answer is another shipment")
	case s.PostageLabel != nil:
		return a.soldLabel(s)
	}
	answer, err = a.get(ctx, "shipments", q.Reference)
	if err != nil {
		return nil, err
	}
	labels, err := a.readByReference(answer, q.Reference)
	if err != nil || len(labels) > 0 {
		return labels, err
	}
	return a.readList(ctx, q.Reference, s.listedFrom())
}

// listedFrom is where the list must begin to show all shipments of an intent by one of them: the zero
// time if that does not say when it was made.
func (s shipment) listedFrom() time.Time {
	made, err := time.Parse(time.RFC3339, text(s.CreatedAt))
	if err != nil {
		return time.Time{}
	}
	return made.Add(-reach).UTC()
}

// readByReference reads the one shipment that EasyPost shows of a reference, if it shows any.
func (a *Adapter) readByReference(answer carrierhttp.Answer, reference string) ([]carrier.Label, error) {
	if answer.Status == http.StatusNotFound && readComplaint(answer).Code != "" {
		return nil, nil
	}
	s, err := readShipment(answer)
	switch {
	case err != nil:
		return nil, err
	case s.Reference != reference:
		return nil, errors.New("carrier's answer is a shipment of another reference")
	case s.PostageLabel == nil:
		return nil, nil
	}
	return a.soldLabel(s)
}

func (a *Adapter) get(ctx context.Context, segments ...string) (carrierhttp.Answer, error) {
	req, err := a.newRequest(ctx, http.MethodGet, segments...)
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	return a.client.Do(req)
}

func readShipment(answer carrierhttp.Answer) (shipment, error) {
	if answer.Status != http.StatusOK {
		return shipment{}, fmt.Errorf("carrier answered with status %d", answer.Status)
	}
	// The member must be there: a shipment that does not say whether it is sold is not unsold.
	var members map[string]jsontext.Value
	var s shipment
	if !answer.Decode(&members) || !answer.Decode(&s) || members["postage_label"] == nil || !shipmentPattern.MatchString(s.ID) {
		return shipment{}, errors.New("carrier's answer is not a shipment")
	}
	return s, nil
}

func (a *Adapter) soldLabel(s shipment) ([]carrier.Label, error) {
	switch {
	case s.check() != nil || s.TrackingCode == "":
		return nil, errors.New("carrier's answer holds a label that is not complete")
	case !a.ours(*s.SelectedRate):
		return nil, errors.New("carrier's answer holds a label of another carrier, or of another account with it")
	case s.SelectedRate.Currency != a.cfg.Currency:
		return nil, carrierhttp.ErrForeignMoney
	}
	return []carrier.Label{s.label()}, nil
}

func (a *Adapter) findListed(ctx context.Context, q carrier.Query) ([]carrier.Label, error) {
	return a.readList(ctx, q.Reference, time.Time{})
}

// readList looks through all that was bought since from.
func (a *Adapter) readList(ctx context.Context, reference string, from time.Time) ([]carrier.Label, error) {
	labels := []carrier.Label{}
	before := ""
	for range maxPages {
		page, err := a.list(ctx, from, before)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.shipments {
			found, err := a.readListed(raw, reference)
			if err != nil {
				return nil, err
			}
			labels = append(labels, found...)
		}
		if !page.more {
			slices.Reverse(labels) // oldest first
			return carrierhttp.Once(labels), nil
		}
		before = page.last
	}
	return nil, fmt.Errorf("the carrier lists more than %d labels: not all were seen", maxPages*pageSize)
}

// page is one answer of the list: newest first.
type page struct {
	shipments []jsontext.Value
	last      string // the id of the oldest one, from which the next page goes on
	more      bool
}

func (a *Adapter) list(ctx context.Context, from time.Time, before string) (page, error) {
	req, err := a.newRequest(ctx, http.MethodGet, "shipments")
	if err != nil {
		return page{}, err
	}
	query := url.Values{"purchased": {"true"}, "page_size": {strconv.Itoa(pageSize)}}
	if !from.IsZero() {
		query.Set("start_datetime", from.Format(time.RFC3339))
	}
	if before != "" {
		query.Set("before_id", before)
	}
	req.URL.RawQuery = query.Encode()
	answer, err := a.client.Do(req)
	if err != nil {
		return page{}, err
	}
	return readPage(answer, before)
}

func readPage(answer carrierhttp.Answer, before string) (page, error) {
	if answer.Status != http.StatusOK {
		return page{}, fmt.Errorf("carrier answered with status %d", answer.Status)
	}
	var list struct {
		// Pointers, because an answer without the members is neither "none" nor "no more".
		Shipments *[]jsontext.Value `json:"shipments"`
		HasMore   *bool             `json:"has_more"`
	}
	if !answer.Decode(&list) || list.Shipments == nil || list.HasMore == nil {
		return page{}, errors.New("carrier's answer is not a list of shipments")
	}
	p := page{shipments: *list.Shipments, more: *list.HasMore}
	if !p.more {
		return p, nil
	}
	var last struct {
		ID string `json:"id"`
	}
	if len(p.shipments) == 0 || json.Unmarshal(p.shipments[len(p.shipments)-1], &last) != nil ||
		!shipmentPattern.MatchString(last.ID) || last.ID == before {
		return page{}, errors.New("carrier's list does not say where it goes on")
	}
	p.last = last.ID
	return p, nil
}

// readListed reads only the names of shipments of others: what else they hold is not our affair. One of ours
// must say whether it is sold, as in [readShipment].
func (a *Adapter) readListed(raw jsontext.Value, reference string) ([]carrier.Label, error) {
	var name struct {
		ID        string `json:"id"`
		Reference string `json:"reference"`
	}
	if json.Unmarshal(raw, &name) != nil || !shipmentPattern.MatchString(name.ID) {
		return nil, errors.New("carrier's list holds something else than shipments")
	}
	if name.Reference != reference {
		return nil, nil
	}
	var members map[string]jsontext.Value
	var s shipment
	switch {
	case json.Unmarshal(raw, &members) != nil, json.Unmarshal(raw, &s) != nil, members["postage_label"] == nil:
		return nil, errors.New("carrier's list holds a shipment that cannot be read")
	case s.PostageLabel == nil:
		return nil, nil
	}
	return a.soldLabel(s)
}
