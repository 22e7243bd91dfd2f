package usps

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Document implements [carrier.Documents] by a reprint, of the key where one is honoured. USPS reprints
// a label three times at most, up to its mailing date, and not once it is cancelled; it charges nothing.
func (a *Adapter) Document(ctx context.Context, r carrier.DocumentRequest) (carrier.Document, error) {
	answer, err := a.reprint(ctx, r)
	switch {
	case err != nil:
		return carrier.Document{}, fmt.Errorf("reprinting: %w", err)
	case answer.Status != http.StatusOK:
		return carrier.Document{}, fmt.Errorf("reprinting: the carrier answered with status %d", answer.Status)
	}
	var printed struct {
		Image jsontext.Value `json:"labelImage"`
	}
	if !answer.Decode(&printed) {
		return carrier.Document{}, errors.New("reprinting: the carrier's answer is not readable")
	}
	d := readImage(r.Format, printed.Image)
	if len(d.Content) == 0 {
		return carrier.Document{}, fmt.Errorf("reprinting: not a file of format %s", r.Format)
	}
	return d, nil
}

func (a *Adapter) reprint(ctx context.Context, r carrier.DocumentRequest) (carrierhttp.Answer, error) {
	segments := []string{"label-reprint"}
	keyed := a.cfg.Capabilities.Key != nil
	if !keyed {
		if !trackingPattern.MatchString(r.TrackingNo) {
			return carrierhttp.Answer{}, errors.New("not a tracking number of this carrier")
		}
		segments = append(segments, r.TrackingNo)
	}
	body, err := json.Marshal(map[string]image{"imageInfo": {Type: imageTypes[r.Format], Label: label4x6}})
	if err != nil {
		return carrierhttp.Answer{}, errors.New("no such format")
	}
	tokens, err := a.authorise(ctx)
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	req, err := a.request(ctx, http.MethodPost, tokens, segments...)
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	if keyed {
		req.Header.Set("X-Idempotency-Key", wireKey(r.CarrierKey))
	}
	carrierhttp.SetBody(req, carrierhttp.JSON, body)
	answer, err := a.client.Do(req)
	if err == nil && answer.Status == http.StatusUnauthorized {
		a.forget(tokens)
	}
	return answer, err
}
