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
	"net/http"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
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
	client *carrierhttp.Client
}

var _ carrier.Carrier = (*Adapter)(nil)

// New builds an adapter. It opens no connection; an error names the member of the Config to mend.
func New(cfg Config) (*Adapter, error) {
	client, err := carrierhttp.New(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := carrierhttp.CheckAccount(cfg.Name, cfg.Account, cfg.Currency); err != nil {
		return nil, err
	}
	return &Adapter{cfg: cfg, client: client}, nil
}

// Name implements [carrier.Carrier].
func (a *Adapter) Name() string { return a.cfg.Name }

// Account implements [carrier.Carrier].
func (a *Adapter) Account() string { return a.cfg.Account }

// Capabilities implements [carrier.Carrier].
func (a *Adapter) Capabilities() carrier.Capabilities { return a.cfg.Capabilities }

// Close drops idle connections. Calls under way are not disturbed.
func (a *Adapter) Close() { a.client.Close() }

// newRequest prepares a call of a route below the base URL.
func (a *Adapter) newRequest(ctx context.Context, method string, segments ...string) (*http.Request, error) {
	req, err := a.client.Request(ctx, method, segments...)
	if err != nil {
		return nil, err
	}
	if a.cfg.Secret != "" {
		req.Header.Set("Authorization", "Bearer "+a.cfg.Secret)
	}
	return req, nil
}
