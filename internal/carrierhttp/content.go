package carrierhttp

import (
	"bytes"
	"io"
	"net/http"
)

// SetBody gives a request its body. It is for calls that may be repeated; a purchase goes out with
// [Client.SendOnce].
func SetBody(req *http.Request, contentType string, body []byte) {
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.Header.Set("Content-Type", contentType)
}
