package carrierhttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"waybill/carrier"
)

// magic is how a file of each format begins: what begins otherwise is an error page, or worse.
var magic = map[carrier.Format][]byte{
	carrier.PDF: []byte("%PDF-"),
	carrier.PNG: []byte("\x89PNG\r\n\x1a\n"),
	carrier.ZPL: []byte("^XA"),
}

// DocumentOf is the document of these bytes, and the empty one if they could not be printed.
func DocumentOf(format carrier.Format, content []byte) carrier.Document {
	prefix, known := magic[format]
	if !known || !bytes.HasPrefix(content, prefix) {
		return carrier.Document{}
	}
	return carrier.Document{Format: format, Content: content}
}

// DocumentOfBase64 is [DocumentOf] the bytes that the text stands for (RFC 4648, section 4).
func DocumentOfBase64(format carrier.Format, text string) carrier.Document {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return carrier.Document{}
	}
	return DocumentOf(format, content)
}

// Download fetches a document from an address that a carrier's answer named: only from the hosts that
// the configuration allows (each as it stands in a URL, with its port if it has one), without our
// credentials, and of at most 5 MiB. It can be repeated.
func (c *Client) Download(ctx context.Context, address string, hosts []string, format carrier.Format) (carrier.Document, error) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || (u.Scheme != "https" && u.Scheme != c.base.Scheme) {
		return carrier.Document{}, errors.New("the document's address is not one to fetch from")
	}
	if u.Host != c.base.Host && !slices.Contains(hosts, u.Host) {
		return carrier.Document{}, fmt.Errorf("the document is at host %q, which document_hosts does not allow", carrier.Sanitise(u.Host))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return carrier.Document{}, errors.New("the document's address is not one to fetch from")
	}
	a, err := c.Do(req)
	switch {
	case err != nil:
		return carrier.Document{}, fmt.Errorf("fetching the document: %w", err)
	case a.Status != http.StatusOK:
		return carrier.Document{}, fmt.Errorf("fetching the document: status %d", a.Status)
	case !a.Whole:
		return carrier.Document{}, errors.New("fetching the document: cut off, or above 5 MiB")
	}
	d := DocumentOf(format, a.Body)
	if len(d.Content) == 0 {
		return carrier.Document{}, fmt.Errorf("fetching the document: not a file of format %s", format)
	}
	return d, nil
}
