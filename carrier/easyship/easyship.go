// Package easyship is the adapter of Easyship's API, version 2023-01: an aggregator in front of many
// couriers. Its sources are developers.easyship.com (idempotent requests, errors, rate limits, cancelling,
// the forum), and for the shapes of bodies what clients in the open do. Labels are made within one
// country: customs documents are not made.
//
// Easyship is a keyed carrier. Idempotency-Key is documented for any POST of this version and for 24
// hours, and for no later version, which is why the version is pinned. The first answer is stored under
// the key whether it succeeded or failed: a key that has met a failure buys nothing for a day, so after
// one the label is looked for, and only proof that there is none allows another key. Past the window, and
// for that proof, labels are found by platform_order_number, which bears our reference.
//
// Creating the shipment and buying its label are one call. The adapter never sleeps, retries, or repeats
// what an answer said except through [carrier.Sanitise].
package easyship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Config is all that makes one account at Easyship.
type Config struct {
	// Name is the carrier's name as callers write it.
	Name string

	// BaseURL is the address under which /shipments lies, with the version that this adapter speaks:
	// https://public-api.easyship.com/2023-01.
	BaseURL string

	// Account is charged, as Easyship's invoices spell it; Currency (ISO 4217) is what it is charged in.
	Account  string
	Currency string

	// Capabilities say what this account honours. A Key must have a window of at most 24 hours, and a
	// margin.
	Capabilities carrier.Capabilities

	// Secret is the access token. That of the sandbox is another.
	Secret string

	// Services are Easyship's courier ids by the names that callers write as service.
	Services map[string]string

	// Contents is what every parcel is said to hold.
	Contents Contents

	// DocumentHosts are the hosts that labels may be fetched from, beside BaseURL's own.
	DocumentHosts []string
}

// Contents describe the one item that Easyship wants to know of in every parcel, also within a country.
type Contents struct {
	Description string // empty for "Goods"
	Category    string // as Easyship lists them; empty for "fashion"
	Value       string // decimal, in the account's currency; empty for "1"
}

// Adapter is a [carrier.Carrier] that speaks Easyship's API.
type Adapter struct {
	cfg      Config
	client   *carrierhttp.Client
	couriers map[string]string // names of services by courier id
}

var (
	_ carrier.Documents = (*Adapter)(nil)
	_ carrier.Prober    = (*Adapter)(nil)
)

const (
	version   = "/2023-01"
	keyWindow = 24 * time.Hour
)

// New builds an adapter. It opens no connection; an error names the member of the Config to mend.
func New(cfg Config) (*Adapter, error) {
	client, err := carrierhttp.New(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	cfg.Contents.Description = cmp.Or(cfg.Contents.Description, "Goods")
	cfg.Contents.Category = cmp.Or(cfg.Contents.Category, "fashion")
	cfg.Contents.Value = cmp.Or(cfg.Contents.Value, "1")
	if err := errors.Join(cfg.check(), cfg.checkKey(), carrierhttp.CheckHosts(cfg.DocumentHosts)); err != nil {
		return nil, err
	}
	cfg.Capabilities.Void = true
	if cfg.Capabilities.Key != nil {
		key := *cfg.Capabilities.Key
		key.ReplaysFailures = true
		cfg.Capabilities.Key = &key
	}
	a := &Adapter{cfg: cfg, client: client, couriers: map[string]string{}}
	for name, courier := range cfg.Services {
		a.couriers[courier] = name
	}
	if len(a.couriers) < len(cfg.Services) {
		return nil, errors.New("services: two names stand for one courier, so that an answer would not tell which was bought")
	}
	return a, nil
}

func (cfg Config) check() error {
	if err := carrierhttp.CheckAccount(cfg.Name, cfg.Account, cfg.Currency); err != nil {
		return err
	}
	value, err := carrier.ParseCents(cfg.Contents.Value, cfg.Currency)
	switch {
	case !strings.HasSuffix(strings.TrimRight(cfg.BaseURL, "/"), version):
		return fmt.Errorf("base URL must end in %s: no other version documents its idempotency key", version)
	case cfg.Secret == "":
		return errors.New("a secret is needed: the access token")
	case len(cfg.Services) == 0:
		return errors.New("services are needed: the courier id of each service, by its name")
	case err != nil || value <= 0:
		return errors.New("contents: value must be a decimal amount above 0")
	}
	for name, courier := range cfg.Services {
		if !idPattern.MatchString(courier) || !servicePattern.MatchString(name) {
			return fmt.Errorf("services: %q must be a name of letters, digits, _ and -, and have a courier id", name)
		}
	}
	return nil
}

// checkKey refuses what the carrier does not promise.
func (cfg Config) checkKey() error {
	key := cfg.Capabilities.Key
	switch {
	case key == nil:
		return nil
	case key.Window == 0 || key.Window > keyWindow:
		return errors.New("key_window must be at most 24h: easyship forgets a key then")
	case key.Margin <= 0:
		return errors.New("key_margin is needed: easyship's clock is not ours")
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

func (a *Adapter) services() []string { return slices.Sorted(maps.Keys(a.cfg.Services)) }

// request prepares a call of a route below the base URL.
func (a *Adapter) request(ctx context.Context, method string, segments ...string) (*http.Request, error) {
	req, err := a.client.Request(ctx, method, segments...)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+a.cfg.Secret)
	return req, nil
}
