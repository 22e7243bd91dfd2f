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
// a label three times at most, up to its mailing date, and not once it is cancelled; it charges nothing. A
// whole answer of another shape, or for another label, has used up one of the three and would be no better
// the next time: those that are left are a person's. One that was cut off is asked for
// again, and so is a gateway's page.
func (a *Adapter) Document(ctx context.Context, r carrier.DocumentRequest) (carrier.Document, error) {
	answer, err := a.reprint(ctx, r)
	switch {
	case err != nil:
		return carrier.Document{}, fmt.Errorf("reprinting: %w", err)
	case answer.Status != http.StatusOK:
		return carrier.Document{}, fmt.Errorf("reprinting: the carrier answered with status %d", answer.Status)
	case !answer.Whole || !answer.IsJSON():
		return carrier.Document{}, errors.New("reprinting: the answer was cut off, or is not the carrier's")
	}
	return readReprint(answer, r)
}

// reprinted is the answer to a reprint. How it is laid out is known of second-hand only, and whether it
// names the label not for certain: where it does, in either place, it must be the one that was asked for.
type reprinted struct {
	TrackingNo string `json:"trackingNumber"`
	Metadata   struct {
		TrackingNo string `json:"trackingNumber"`
	} `json:"labelMetadata"`
	Image jsontext.Value `json:"labelImage"`
}

func readReprint(answer carrierhttp.Answer, r carrier.DocumentRequest) (carrier.Document, error) {
	var printed reprinted
	switch {
	case !answer.Decode(&printed):
		return carrier.Document{}, fmt.Errorf("reprinting: %w: not readable", carrier.ErrNoDocument)
	case printed.isAnother(r.TrackingNo):
		return carrier.Document{}, fmt.Errorf("reprinting: %w: another label", carrier.ErrNoDocument)
	}
	d := readImage(r.Format, printed.Image)
	if len(d.Content) == 0 {
		return carrier.Document{}, fmt.Errorf("reprinting: %w: not a file of format %s", carrier.ErrNoDocument, r.Format)
	}
	return d, nil
}

func (r reprinted) isAnother(trackingNo string) bool {
	named := func(no string) bool { return no != "" && no != trackingNo }
	return named(r.TrackingNo) || named(r.Metadata.TrackingNo)
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
