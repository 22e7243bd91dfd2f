package easypost

import (
	"context"
	"net/http"
	"net/url"
)

// Probe implements [waybill/carrier.Prober]: it asks for the newest label.
func (a *Adapter) Probe(ctx context.Context) error {
	req, err := a.newRequest(ctx, http.MethodGet, "shipments")
	if err != nil {
		return err
	}
	req.URL.RawQuery = url.Values{"purchased": {"true"}, "page_size": {"1"}}.Encode()
	return a.client.Probe(req)
}
