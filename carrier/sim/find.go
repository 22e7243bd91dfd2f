package sim

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"waybill/carrier"
)

// Find implements [carrier.Carrier]. It answers with all labels or with an error: "none" is taken
// for evidence, so a label that cannot be read must not look like an absent one.
func (a *Adapter) Find(ctx context.Context, reference string) ([]carrier.Label, error) {
	if a.cfg.Capabilities.Lookup == nil {
		return nil, carrier.ErrNoLookup
	}
	labels, err := a.find(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("looking up reference %s: %w", reference, err)
	}
	return labels, nil
}

func (a *Adapter) find(ctx context.Context, reference string) ([]carrier.Label, error) {
	req, err := a.newRequest(ctx, http.MethodGet, "labels")
	if err != nil {
		return nil, err
	}
	req.URL.RawQuery = url.Values{"reference": {reference}}.Encode()
	resp, err := a.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errors.New(describe(ctx, err))
	}
	defer resp.Body.Close()
	return readLabels(readAnswer(resp), reference)
}

func readLabels(a answer, reference string) ([]carrier.Label, error) {
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("carrier answered with status %d", a.status)
	}
	var found struct {
		// Labels is a pointer because an answer without the member is not "none".
		Labels *[]wireLabel `json:"labels"`
	}
	if !a.whole || !a.isJSON() || json.Unmarshal(a.body, &found) != nil || found.Labels == nil {
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
		labels = append(labels, w.label())
	}
	return labels, nil
}
