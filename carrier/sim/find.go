package sim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Find implements [carrier.Carrier]. It answers with all labels or with an error: "none" is taken
// for evidence, so a label that cannot be read must not look like an absent one.
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
	req, err := a.newRequest(ctx, http.MethodGet, "labels")
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = url.Values{"reference": {reference}}.Encode()
	answer, err := a.client.Do(req)
	if err != nil {
		return nil, err
	}
	return readLabels(answer, reference, a.cfg.Currency)
}

func readLabels(a carrierhttp.Answer, reference, currency string) ([]carrier.Label, error) {
	if a.Status != http.StatusOK {
		return nil, fmt.Errorf("carrier answered with status %d", a.Status)
	}
	var found struct {
		// Labels is a pointer because an answer without the member is not "none".
		Labels *[]wireLabel `json:"labels"`
	}
	if !a.Decode(&found) || found.Labels == nil {
		return nil, errors.New("carrier's answer is not a list of labels")
	}
	labels := make([]carrier.Label, 0, len(*found.Labels))
	for _, w := range *found.Labels {
		switch {
		case w.check() != nil || w.TrackingNo == "":
			return nil, errors.New("carrier's answer holds a label that is not complete")
		case w.Reference != reference:
			return nil, errors.New("carrier's answer holds a label of another reference")
		}
		label := w.label()
		if label.Cost.Currency != currency {
			return nil, carrierhttp.ErrForeignMoney
		}
		labels = append(labels, label)
	}
	return labels, nil
}
