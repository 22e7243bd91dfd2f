package easypost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"waybill/carrier"
)

// fileTypes are the media types under which a label is stored. PNG is documented and recorded; the
// others are how EasyPost spells them in its documentation of formats.
var fileTypes = map[carrier.Format]string{
	carrier.PDF: "application/pdf",
	carrier.PNG: "image/png",
	carrier.ZPL: "application/zpl",
}

// Document implements [carrier.Documents]: it reads the shipment again, because addresses of labels
// change, and fetches the file from one of the allowed hosts. Carriers that print in one format only
// leave it at that, whatever was ordered: EasyPost makes another of it when it is asked to [documented].
func (a *Adapter) Document(ctx context.Context, r carrier.DocumentRequest) (carrier.Document, error) {
	if !shipmentPattern.MatchString(r.LabelID) {
		return carrier.Document{}, errors.New("fetching the document: not an id of this carrier")
	}
	address, err := a.labelAddress(ctx, r, nil, "shipments", r.LabelID)
	if err == nil && address == "" && (r.Format == carrier.PDF || r.Format == carrier.ZPL) {
		convert := url.Values{"file_format": {strings.ToUpper(string(r.Format))}}
		address, err = a.labelAddress(ctx, r, convert, "shipments", r.LabelID, "label")
	}
	switch {
	case err != nil:
		return carrier.Document{}, fmt.Errorf("asking for label %s: %w", r.LabelID, err)
	case address == "":
		return carrier.Document{}, fmt.Errorf("asking for label %s: it has no document of format %s", r.LabelID, r.Format)
	}
	return a.client.Download(ctx, address, a.cfg.DocumentHosts, r.Format)
}

// labelAddress asks for the shipment, or for a conversion of its label, which answers with the shipment.
func (a *Adapter) labelAddress(ctx context.Context, r carrier.DocumentRequest, query url.Values, segments ...string) (string, error) {
	req, err := a.newRequest(ctx, http.MethodGet, segments...)
	if err != nil {
		return "", err
	}
	req.URL.RawQuery = query.Encode()
	answer, err := a.client.Do(req)
	if err != nil {
		return "", err
	}
	s, err := readShipment(answer)
	switch {
	case err != nil:
		return "", err
	case s.ID != r.LabelID || s.PostageLabel == nil:
		return "", errors.New("carrier's answer is not a shipment with a label")
	}
	return s.PostageLabel.address(r.Format), nil
}

// address is where the label lies in a format; empty if it does not.
func (l *postageLabel) address(format carrier.Format) string {
	switch {
	case l.FileType != "" && l.FileType == fileTypes[format]:
		return l.URL
	case format == carrier.PDF:
		return l.PDFURL
	case format == carrier.ZPL:
		return l.ZPLURL
	}
	return ""
}
