// Package carrierhttp is what the adapters of HTTP carriers share: a purchase that goes out at most
// once, answers of bounded size, and words that are fit to be kept. It knows no carrier and judges
// no answer.
package carrierhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// maxIdle is how many connections are kept for the next calls. The default of two per host would
// have nearly every call of a busy worker open a connection of its own.
const maxIdle = 256

// idleTimeout is shorter than any server's own. An order written into a connection that the server
// is just closing is an unknown outcome, which for a blind carrier takes a person to settle.
const idleTimeout = 4 * time.Second

// JSON is the media type of most carriers.
const JSON = "application/json"

// tokenTimeout bounds the wait for an access token.
const tokenTimeout = 10 * time.Second

// Client calls one carrier. It never sleeps, never tries again and follows no redirect. It is safe
// for concurrent use.
type Client struct {
	base *url.URL
	http *http.Client
}

// New makes the client of the carrier at this address: http or https, without credentials. It opens
// no connection.
func New(baseURL string) (*Client, error) {
	base, err := parseBaseURL(baseURL)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = maxIdle
	transport.MaxIdleConnsPerHost = maxIdle
	transport.IdleConnTimeout = idleTimeout
	return &Client{base: base, http: &http.Client{
		Transport: transport,
		// A 307 would carry the address and the secret to whatever host it names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func parseBaseURL(raw string) (*url.URL, error) {
	base, err := url.Parse(raw)
	if err != nil {
		// url.Parse repeats its input, which may hold a password.
		return nil, errors.New("base URL is not a URL")
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("base URL must begin with http:// or https://")
	case base.Host == "":
		return nil, errors.New("base URL names no host")
	case base.User != nil:
		return nil, errors.New("base URL holds credentials: give the secret apart")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("base URL has a query or a fragment")
	}
	return base, nil
}

// Request prepares a call of a route below the base URL. Each segment is one step of the path: a
// slash in it, or "..", does not lead elsewhere.
func (c *Client) Request(ctx context.Context, method string, segments ...string) (*http.Request, error) {
	for i, s := range segments {
		segments[i] = escape(s)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(segments...).String(), nil)
	if err != nil {
		return nil, fmt.Errorf("preparing request: %w", err)
	}
	req.Header.Set("Accept", JSON)
	return req, nil
}

// escape makes one step of a path of any text.
func escape(segment string) string {
	switch segment {
	case ".", "..":
		return "%2E" + segment[1:]
	default:
		return url.PathEscape(segment)
	}
}

// Close drops idle connections. Calls under way are not disturbed.
func (c *Client) Close() { c.http.CloseIdleConnections() }
