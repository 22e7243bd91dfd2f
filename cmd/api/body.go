package main

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"waybill/internal/problem"
)

// maxBody is ten times the largest request that makes sense.
const maxBody = 64 << 10

// checkMediaType refuses bodies in another form than plain JSON in UTF-8: a compressed or recoded
// body would be another request under the same fingerprint, or the same under another.
func checkMediaType(h http.Header) error {
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, hasCharset := params["charset"]
	switch {
	case err != nil, mediaType != "application/json", len(h.Values("Content-Type")) > 1:
		return refuse(problem.UnsupportedMediaType, "Send Content-Type: application/json.")
	case hasCharset && !strings.EqualFold(charset, "utf-8"):
		return refuse(problem.UnsupportedMediaType, "Send the body in UTF-8.")
	}
	for _, encoding := range h.Values("Content-Encoding") {
		if !strings.EqualFold(strings.TrimSpace(encoding), "identity") {
			return refuse(problem.UnsupportedMediaType, "Send the body as it is, without Content-Encoding.")
		}
	}
	return nil
}

// readBody reads the whole body, within limits of size and time.
func (a *api) readBody(w http.ResponseWriter, r *request) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(a.now().Add(a.bodyTimeout)); err != nil {
		return nil, fmt.Errorf("setting the body's deadline: %w", err)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(problem.BodyTooLarge, fmt.Sprintf("The body may have %d bytes.", maxBody))
	case errors.Is(err, os.ErrDeadlineExceeded):
		// What is left of the body is not waited for.
		w.Header().Set("Connection", "close")
		return nil, refuse(problem.RequestTimeout, fmt.Sprintf("The body must arrive within %s.", a.bodyTimeout))
	case err != nil:
		w.Header().Set("Connection", "close")
		// A body that was cut off says nothing about the one that was meant.
		return nil, refuse(problem.RequestTimeout, "The body did not arrive whole: it was cut off, or its chunks cannot be read.").because(err)
	}
	// The deadline was the body's: a request that waits for its label has longer.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("lifting the body's deadline: %w", err)
	}
	return body, nil
}
