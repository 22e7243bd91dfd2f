// Package sim is the adapter of the reference carrier protocol: three routes that buy a label,
// find labels by reference, and void one. It is what a real carrier's adapter looks like.
//
// It holds the wire format, the classification of every answer, and the carrier's own limits. It
// promises that [carrier.Bought] means a complete and valid answer, that [carrier.NotBought] means
// proof, and that one call of Buy puts at most one order on the wire. It never sleeps, retries,
// follows a redirect, or repeats what an answer said except through [carrier.Sanitise].
package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"waybill/carrier"
)

// Config is all that makes one account at the reference carrier.
type Config struct {
	// Name is the carrier's name as callers write it.
	Name string

	// BaseURL is the address under which /labels lies: http or https, without credentials.
	BaseURL string

	// Account is charged; Currency (ISO 4217) is what it is charged in.
	Account  string
	Currency string

	// Capabilities say what this account honours. Without Key, no idempotency header is sent.
	Capabilities carrier.Capabilities

	// Secret is sent as a bearer token; empty for none.
	Secret string
}

// Adapter is a [carrier.Carrier] that speaks the reference protocol.
type Adapter struct {
	cfg    Config
	base   *url.URL
	client *http.Client
}

var _ carrier.Carrier = (*Adapter)(nil)

// maxIdle is how many connections are kept for the next calls. The default of two per host would
// have nearly every call of a busy worker open a connection of its own.
const maxIdle = 256

// idleTimeout is shorter than any server's own. An order written into a connection that the server
// is just closing is an unknown outcome, which for a blind carrier takes a person to settle.
const idleTimeout = 4 * time.Second

// maxAnswer bounds an answer: a label's document is some hundred KiB, and ten times that is an error.
const maxAnswer = 5 << 20

var currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)

// New builds an adapter. It opens no connection; an error names the member of the Config to mend.
func New(cfg Config) (*Adapter, error) {
	base, err := parseBaseURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	switch {
	case cfg.Name == "":
		return nil, errors.New("carrier's name is empty")
	case cfg.Account == "":
		return nil, errors.New("account is empty")
	case !currencyPattern.MatchString(cfg.Currency):
		return nil, fmt.Errorf("currency %q is not an ISO 4217 code such as USD", cfg.Currency)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = maxIdle
	transport.MaxIdleConnsPerHost = maxIdle
	transport.IdleConnTimeout = idleTimeout
	client := &http.Client{
		Transport: transport,
		// A 307 would carry the address and the secret to whatever host it names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Adapter{cfg: cfg, base: base, client: client}, nil
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

// Name implements [carrier.Carrier].
func (a *Adapter) Name() string { return a.cfg.Name }

// Account implements [carrier.Carrier].
func (a *Adapter) Account() string { return a.cfg.Account }

// Capabilities implements [carrier.Carrier].
func (a *Adapter) Capabilities() carrier.Capabilities { return a.cfg.Capabilities }

// Close drops idle connections. Calls under way are not disturbed.
func (a *Adapter) Close() { a.client.CloseIdleConnections() }

// newRequest prepares a call of a route below the base URL. Segments are already safe in a path.
func (a *Adapter) newRequest(ctx context.Context, method string, segments ...string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.base.JoinPath(segments...).String(), nil)
	if err != nil {
		return nil, fmt.Errorf("preparing request: %w", err)
	}
	req.Header.Set("Accept", jsonType)
	if a.cfg.Secret != "" {
		req.Header.Set("Authorization", "Bearer "+a.cfg.Secret)
	}
	return req, nil
}

const jsonType = "application/json"

// answer is a response as far as it could be read.
type answer struct {
	status int
	header http.Header
	body   []byte

	// whole is true if the body came to its proper end within the limit.
	whole bool
}

// readAnswer takes the response in, to its end so that the connection can serve again.
func readAnswer(resp *http.Response) answer {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	return answer{
		status: resp.StatusCode,
		header: resp.Header,
		body:   body,
		whole:  err == nil && len(body) <= maxAnswer,
	}
}

// isJSON is false for the HTML pages that gateways write in a carrier's place.
func (a answer) isJSON() bool {
	mediaType, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	return err == nil && mediaType == jsonType
}

// describe says why a call brought no answer, in words that hold nothing of the answer: net/http
// quotes a malformed one in its error text.
func describe(ctx context.Context, err error) string {
	if cause := ctx.Err(); cause != nil {
		return cause.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Error()
	}
	return "connection lost, or not an HTTP answer"
}
