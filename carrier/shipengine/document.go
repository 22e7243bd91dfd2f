package shipengine

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"waybill/carrier"
)

// Document implements [carrier.Documents]: it reads the label again, because its addresses end after 90
// days [documented], and fetches the file from one of the allowed hosts.
func (a *Adapter) Document(ctx context.Context, r carrier.DocumentRequest) (carrier.Document, error) {
	if !idPattern.MatchString(r.LabelID) {
		return carrier.Document{}, errors.New("fetching the document: not an id of this carrier")
	}
	answer, err := a.get(ctx, "labels", r.LabelID)
	if err != nil {
		return carrier.Document{}, fmt.Errorf("asking for label %s: %w", r.LabelID, err)
	}
	var w wireLabel
	switch {
	case answer.Status != http.StatusOK:
		return carrier.Document{}, fmt.Errorf("asking for label %s: carrier answered with status %d", r.LabelID, answer.Status)
	case !answer.Decode(&w) || w.LabelID != r.LabelID:
		return carrier.Document{}, fmt.Errorf("asking for label %s: carrier's answer is not the label", r.LabelID)
	}
	address := w.address(r.Format)
	if address == "" {
		return carrier.Document{}, fmt.Errorf("asking for label %s: it has no document of format %s", r.LabelID, r.Format)
	}
	return a.client.Download(ctx, address, a.cfg.DocumentHosts, r.Format)
}

// address is where the label lies in a format; empty if it does not.
func (w wireLabel) address(format carrier.Format) string {
	d := w.LabelDownload
	if d == nil {
		return ""
	}
	addresses := map[carrier.Format]string{carrier.PDF: d.PDF, carrier.PNG: d.PNG, carrier.ZPL: d.ZPL}
	if addresses[format] == "" && w.LabelFormat == string(format) {
		return d.Href
	}
	return addresses[format]
}
