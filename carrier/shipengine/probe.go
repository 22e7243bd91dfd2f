package shipengine

import (
	"context"
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
	return a.client.Probe(req)
}
