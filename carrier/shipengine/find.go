package shipengine

import (
	"context"
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
	// pageSize is what ShipEngine gives by default [documented]; a larger one may be refused.
	pageSize = 25

	// maxPages bounds a look-up: one shipment has one label, a few at most.
	maxPages = 20
)

// Find implements [carrier.Carrier]. It answers with all labels or with an error: "none" is taken
// for evidence, so a label that cannot be read must not look like an absent one.
//
// Labels are listed by their shipment, whose id was stored before anything was bought; without it, the
// shipment is found by the reference, which no two shipments of an account can bear. A label that is
// still being made is an error: it is neither there nor absent. So is one of another account with a
// carrier: it is ours, and we cannot say what was paid for it by whom. One whose making failed is not a
// label.
func (a *Adapter) Find(ctx context.Context, q carrier.Query) ([]carrier.Label, error) {
	if a.cfg.Capabilities.Lookup == nil {
		return nil, carrier.ErrNoLookup
	}
	labels, err := a.find(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("looking up reference %s: %w", q.Reference, err)
	}
	return labels, nil
}

func (a *Adapter) find(ctx context.Context, q carrier.Query) ([]carrier.Label, error) {
	id := q.RemoteID
	if id == "" {
		s, err := a.byReference(ctx, q.Reference)
		switch {
		case errors.Is(err, errNoShipment):
			return nil, nil
		case err != nil:
			return nil, err
		}
		id = s.ShipmentID
	}
	if !idPattern.MatchString(id) {
		return nil, errors.New("the remote id is not a shipment of this carrier")
	}
	listed, err := a.listAll(ctx, id)
	if err != nil {
		return nil, err
	}
	return a.readLabels(listed, id, q.Reference)
}

// listAll reads every page. As many labels must come as the carrier counts: one that moved from one
// page to another meanwhile was perhaps not seen.
func (a *Adapter) listAll(ctx context.Context, shipmentID string) ([]wireLabel, error) {
	var listed []wireLabel
	for n := 1; n <= maxPages; n++ {
		p, err := a.list(ctx, shipmentID, n)
		if err != nil {
			return nil, err
		}
		listed = append(listed, p.labels...)
		if n < p.pages {
			continue
		}
		if n := distinct(listed); n != p.total {
			return nil, fmt.Errorf("the carrier counts %d labels and lists %d", p.total, n)
		}
		slices.Reverse(listed) // they come newest first [documented]
		return listed, nil
	}
	return nil, fmt.Errorf("the carrier lists more than %d labels: not all were seen", maxPages*pageSize)
}

// distinct counts labels: one that is listed twice stands in the place of one that was not.
func distinct(listed []wireLabel) int {
	ids := make(map[string]bool, len(listed))
	for _, w := range listed {
		ids[w.LabelID] = true
	}
	return len(ids)
}

// page is one answer of the list.
type page struct {
	labels       []wireLabel
	total, pages int
}

func (a *Adapter) list(ctx context.Context, shipmentID string, n int) (page, error) {
	req, err := a.newRequest(ctx, http.MethodGet, "labels")
	if err != nil {
		return page{}, err
	}
	req.URL.RawQuery = url.Values{
		"shipment_id": {shipmentID},
		"page":        {strconv.Itoa(n)},
		"page_size":   {strconv.Itoa(pageSize)},
	}.Encode()
	answer, err := a.client.Do(req)
	if err != nil {
		return page{}, err
	}
	return readPage(answer)
}

func readPage(answer carrierhttp.Answer) (page, error) {
	if answer.Status != http.StatusOK {
		return page{}, fmt.Errorf("carrier answered with status %d", answer.Status)
	}
	var list struct {
		// Pointers, because an answer without the members is neither "none" nor "no more".
		Labels *[]wireLabel `json:"labels"`
		Total  *int         `json:"total"`
		Pages  *int         `json:"pages"`
	}
	if !answer.Decode(&list) || list.Labels == nil || list.Total == nil || list.Pages == nil {
		return page{}, errors.New("carrier's answer is not a list of labels")
	}
	return page{labels: *list.Labels, total: *list.Total, pages: *list.Pages}, nil
}

func (a *Adapter) readLabels(listed []wireLabel, shipmentID, reference string) ([]carrier.Label, error) {
	labels := make([]carrier.Label, 0, len(listed))
	for _, w := range listed {
		switch {
		case w.ShipmentID != shipmentID:
			return nil, errors.New("carrier's list holds a label of another shipment")
		case w.failed():
			continue
		case w.Status == statusProcessing:
			return nil, errors.New("a label is still being made")
		case w.Status != statusCompleted && w.Status != statusVoided, w.check() != nil, w.TrackingNumber == "":
			return nil, errors.New("carrier's list holds a label that is not complete")
		case !a.ours(w):
			return nil, errors.New("carrier's list holds a label of another account with a carrier")
		}
		label := w.label(reference)
		if label.Cost.Currency != a.cfg.Currency {
			return nil, carrierhttp.ErrForeignMoney
		}
		labels = append(labels, label)
	}
	return carrierhttp.Once(labels), nil
}
