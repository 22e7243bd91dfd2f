package sim

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Probe implements [waybill/carrier.Prober]: it looks up a reference that nobody has, which
// a blind carrier answers with its own 404.
func (a *Adapter) Probe(ctx context.Context) error {
	req, err := a.newRequest(ctx, http.MethodGet, "labels")
	if err != nil {
		return err
	}
	req.URL.RawQuery = url.Values{"reference": {"PROBE"}}.Encode()
	answer, err := a.client.Do(req)
	switch {
	case err != nil:
		return fmt.Errorf("asking the carrier: %w", err)
	case answer.Status == http.StatusOK, answer.Status == http.StatusNotFound && readComplaint(answer).Code == "not_found":
		return nil
	default:
		return fmt.Errorf("the carrier answered with status %d", answer.Status)
	}
}
