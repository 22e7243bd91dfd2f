package shipengine

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Probe implements [waybill/carrier.Prober]: it asks for the newest label.
func (a *Adapter) Probe(ctx context.Context) error {
	req, err := a.newRequest(ctx, http.MethodGet, "labels")
	if err != nil {
		return err
	}
	req.URL.RawQuery = url.Values{"page_size": {"1"}}.Encode()
	answer, err := a.client.Do(req)
	switch {
	case err != nil:
		return fmt.Errorf("asking the carrier: %w", err)
	case answer.Status != http.StatusOK:
		return fmt.Errorf("the carrier answered with status %d", answer.Status)
	}
	return nil
}
