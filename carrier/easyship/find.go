package easyship

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

const (
	perPage = 100

	// maxPages bounds a look-up. One reference has one or two shipments; more pages than this mean that
	// the filter was not heeded, and then "none" would not be the truth.
	maxPages = 20
)

// Find implements [carrier.Carrier]. It answers with all labels or with an error: "none" is taken for
// evidence, so a label that cannot be read, or may still come, must not look like an absent one. Nor must
// one that the answer does not show: shipments of other orders among those that were asked for mean that
// the carrier did not look for the reference, and it may have listed a part of them only.
func (a *Adapter) Find(ctx context.Context, q carrier.Query) ([]carrier.Label, error) {
	if a.cfg.Capabilities.Lookup == nil {
		return nil, carrier.ErrNoLookup
	}
	labels, err := a.find(ctx, q.Reference)
	if err != nil {
		return nil, fmt.Errorf("looking up reference %s: %w", q.Reference, err)
	}
	return labels, nil
}

func (a *Adapter) find(ctx context.Context, reference string) ([]carrier.Label, error) {
	shipments, err := a.listAll(ctx, reference)
	if err != nil {
		return nil, err
	}
	// Listed newest first (documented in the forum); times settle it as far as they tell a difference.
	slices.Reverse(shipments)
	slices.SortStableFunc(shipments, func(x, y shipment) int { return x.createdAt().Compare(y.createdAt()) })
	labels := []carrier.Label{}
	for _, s := range shipments {
		switch {
		case s.Order.Number == "":
			return nil, errors.New("carrier's answer holds a shipment without an order number")
		case s.Order.Number != reference:
			return nil, errors.New("carrier's answer holds a shipment of another reference: the filter was not heeded")
		case slices.Contains(unsoldStates, s.State):
			continue
		case !slices.Contains(madeStates, s.State):
			return nil, errors.New("carrier's answer holds a label that is still being made")
		}
		label, err := a.label(s, "")
		if err != nil || label.TrackingNo == "" {
			return nil, errors.New("carrier's answer holds a label that is not complete")
		}
		if label.Cost.Currency != a.cfg.Currency {
			return nil, carrierhttp.ErrForeignMoney
		}
		labels = append(labels, label)
	}
	return carrierhttp.Once(labels), nil
}

// listAll goes through all pages.
func (a *Adapter) listAll(ctx context.Context, reference string) ([]shipment, error) {
	var all []shipment
	for page := 1; page <= maxPages; page++ {
		answer, err := a.list(ctx, reference, page)
		if err != nil {
			return nil, err
		}
		shipments, more, err := readPage(answer)
		if err != nil {
			return nil, err
		}
		all = append(all, shipments...)
		if !more {
			return all, nil
		}
	}
	return nil, fmt.Errorf("the carrier lists more than %d shipments of the reference: not all were seen", maxPages*perPage)
}

func (a *Adapter) list(ctx context.Context, reference string, page int) (carrierhttp.Answer, error) {
	req, err := a.request(ctx, http.MethodGet, "shipments")
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	req.URL.RawQuery = url.Values{
		"platform_order_number": {reference},
		"per_page":              {strconv.Itoa(perPage)},
		"page":                  {strconv.Itoa(page)},
	}.Encode()
	return a.client.Do(req)
}

// readPage also tells whether there is another. The carrier names it, in whatever way, or says null (seen
// in clients), and takes the asking for a page after the last for an error. Where it says nothing of pages,
// a full one has another behind it.
func readPage(a carrierhttp.Answer) (shipments []shipment, more bool, err error) {
	if a.Status != http.StatusOK {
		return nil, false, fmt.Errorf("carrier answered with status %d", a.Status)
	}
	var found struct {
		// Shipments is a pointer because an answer without the member is not "none".
		Shipments *[]shipment `json:"shipments"`
		Meta      struct {
			Pagination *struct {
				Next jsontext.Value `json:"next"`
			} `json:"pagination"`
		} `json:"meta"`
	}
	if !a.Decode(&found) || found.Shipments == nil {
		return nil, false, errors.New("carrier's answer is not a list of shipments")
	}
	if slices.ContainsFunc(*found.Shipments, func(s shipment) bool { return !idPattern.MatchString(s.ID) || s.State == "" }) {
		return nil, false, errors.New("carrier's answer holds a shipment that cannot be read")
	}
	if pages := found.Meta.Pagination; pages != nil && len(pages.Next) > 0 {
		return *found.Shipments, pages.Next.Kind() != 'n', nil
	}
	return *found.Shipments, len(*found.Shipments) >= perPage, nil
}
