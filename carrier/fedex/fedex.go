// Package fedex is the adapter of FedEx's Ship API, version 1. Its sources are the vendor's models as
// others redistribute them, the vendor's page on rate limits, and what clients in the open do. It makes
// labels within one country: customs documents are not made.
//
// FedEx is a blind carrier: it honours no key, lists no labels, and prints none again.
// x-customer-transaction-id is only echoed, and bears our reference. After an unknown outcome nothing
// may be sent again; an invoice or a person decides.
//
// The adapter never sleeps, retries, follows a redirect, or repeats what an answer said except through
// [carrier.Sanitise]. E-mail addresses are not sent.
package fedex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Config is all that makes one account at FedEx.
type Config struct {
	// Name is the carrier's name as callers write it.
	Name string

	// BaseURL is the address under which /oauth and /ship/v1 lie: https://apis.fedex.com, or
	// https://apis-sandbox.fedex.com for tests.
	BaseURL string

	// Account is the nine-digit number that is charged; Currency (ISO 4217) is what it is charged in.
	Account  string
	Currency string

	// Capabilities must promise nothing: neither Key nor Lookup.
	Capabilities carrier.Capabilities

	// ClientID and ClientSecret are the project's API key and secret key.
	ClientID     string
	ClientSecret string

	// PickupType is how parcels get to FedEx; empty for USE_SCHEDULED_PICKUP.
	PickupType string
}

// Adapter is a [carrier.Carrier] that speaks FedEx Ship v1.
type Adapter struct {
	cfg    Config
	client *carrierhttp.Client
	tokens *carrierhttp.Tokens
}

var (
	_ carrier.Carrier = (*Adapter)(nil)
	_ carrier.Prober  = (*Adapter)(nil)
)

var accountPattern = regexp.MustCompile(`^[0-9]{9}$`)

var pickupTypes = []string{"USE_SCHEDULED_PICKUP", "CONTACT_FEDEX_TO_SCHEDULE", "DROPOFF_AT_FEDEX_LOCATION"}

// New builds an adapter. It opens no connection; an error names the member of the Config to mend.
func New(cfg Config) (*Adapter, error) {
	client, err := carrierhttp.New(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	cfg.PickupType = cmp.Or(cfg.PickupType, pickupTypes[0])
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Capabilities.Void = true
	return &Adapter{
		cfg:    cfg,
		client: client,
		tokens: carrierhttp.NewTokens(client, "oauth/token", cfg.ClientID, cfg.ClientSecret),
	}, nil
}

func (cfg Config) check() error {
	switch {
	case cfg.Name == "":
		return errors.New("carrier's name is empty")
	case !accountPattern.MatchString(cfg.Account):
		return errors.New("account must be the nine digits of a FedEx account")
	case !carrier.IsCurrency(cfg.Currency):
		return fmt.Errorf("currency %q is not an ISO 4217 code such as USD", cfg.Currency)
	case cfg.Capabilities.Key != nil || cfg.Capabilities.Lookup != nil:
		return errors.New("fedex honours no key and shows no labels by reference: class must be blind")
	case cfg.ClientID == "" || cfg.ClientSecret == "":
		return errors.New("client_id and a secret are needed")
	case !slices.Contains(pickupTypes, cfg.PickupType):
		return fmt.Errorf("pickup_type must be one of %s", strings.Join(pickupTypes, ", "))
	}
	return nil
}

// Name implements [carrier.Carrier].
func (a *Adapter) Name() string { return a.cfg.Name }

// Account implements [carrier.Carrier].
func (a *Adapter) Account() string { return a.cfg.Account }

// Capabilities implements [carrier.Carrier].
func (a *Adapter) Capabilities() carrier.Capabilities { return a.cfg.Capabilities }

// Close drops idle connections. Calls under way are not disturbed.
func (a *Adapter) Close() { a.client.Close() }

// Find implements [carrier.Carrier]: FedEx lists no labels. Tracking by reference needs a window of
// dates, is late and only approximate, which proves nothing.
func (a *Adapter) Find(context.Context, carrier.Query) ([]carrier.Label, error) {
	return nil, carrier.ErrNoLookup
}

// request prepares a call below /ship/v1.
func (a *Adapter) request(ctx context.Context, method, token string, segments ...string) (*http.Request, error) {
	req, err := a.client.Request(ctx, method, append([]string{"ship", "v1"}, segments...)...)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return req, nil
}
