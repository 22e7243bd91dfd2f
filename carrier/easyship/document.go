package easyship

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

// document is one file of a shipment. Those of other categories are packing slips and invoices.
type document struct {
	Category string   `json:"category"`
	Base64   []string `json:"base64_encoded_strings"`
	URL      string   `json:"url"`
}

const labelCategory = "label"

func (d document) isLabel() bool { return d.Category == labelCategory || d.Category == "" }

// listDocuments returns none for anything that is not a list of documents.
func listDocuments(raw jsontext.Value) []document {
	var list []document
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// readDocuments returns the first label that could be printed, and the empty document if none could.
func readDocuments(format carrier.Format, raw jsontext.Value) carrier.Document {
	for _, entry := range listDocuments(raw) {
		for _, text := range entry.Base64 {
			if d := carrierhttp.DocumentOfBase64(format, text); entry.isLabel() && len(d.Content) > 0 {
				return d
			}
		}
	}
	return carrier.Document{}
}

// Document implements [carrier.Documents]: it reads the shipment again, and fetches the label if that
// names only its address.
func (a *Adapter) Document(ctx context.Context, r carrier.DocumentRequest) (carrier.Document, error) {
	s, err := a.get(ctx, r.LabelID)
	if err != nil {
		return carrier.Document{}, fmt.Errorf("fetching the document: %w", err)
	}
	if d := readDocuments(r.Format, s.Documents); len(d.Content) > 0 {
		return d, nil
	}
	for _, entry := range listDocuments(s.Documents) {
		if entry.isLabel() && entry.URL != "" {
			return a.client.Download(ctx, entry.URL, a.cfg.DocumentHosts, r.Format)
		}
	}
	return carrier.Document{}, fmt.Errorf("fetching the document: the shipment has none of format %s", r.Format)
}

// get reads one shipment.
func (a *Adapter) get(ctx context.Context, id string) (shipment, error) {
	if !idPattern.MatchString(id) {
		return shipment{}, errors.New("not an id of this carrier")
	}
	req, err := a.request(ctx, http.MethodGet, "shipments", id)
	if err != nil {
		return shipment{}, err
	}
	answer, err := a.client.Do(req)
	if err != nil {
		return shipment{}, err
	}
	var body struct {
		Shipment *shipment `json:"shipment"`
	}
	if answer.Status != http.StatusOK {
		return shipment{}, fmt.Errorf("carrier answered with status %d", answer.Status)
	}
	if !answer.Decode(&body) || body.Shipment == nil || body.Shipment.ID != id {
		return shipment{}, errors.New("carrier's answer is not the shipment")
	}
	return *body.Shipment, nil
}
