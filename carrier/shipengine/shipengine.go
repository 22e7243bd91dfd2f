// Package shipengine is the adapter of ShipEngine's API, version 1, which is now sold as the ShipStation
// API: an aggregator in front of USPS, UPS, FedEx and others. It is of class lookup: no idempotency key
// is documented, labels are found by the shipment they were bought for, and a shipment bears our
// reference as its external_shipment_id, which ShipEngine enforces to be unique.
//
// A label is bought in two steps. POST /v1/shipments makes a shipment and costs nothing; POST
// /v1/labels/shipment/{id} buys a label for it. Whether it would sell a second label for one shipment
// is not documented, so it is taken to.
//
// What is known comes from the vendor's OpenAPI description and from docs.shipstation.com (create a
// shipment, create from shipment, list labels, void, errors, error codes, rate limits); the tables say
// how certain each row is. It never sleeps, retries, or repeats what an answer said except through
// [carrier.Sanitise].
package shipengine

import (
	"context"
	"errors"
	"net/http"
	"regexp"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Config is all that makes one account at ShipEngine, with one of the carriers behind it.
type Config struct {
	// Name is the carrier's name as callers write it.
	Name string

	// BaseURL is the address under which /labels lies: https://api.shipengine.com/v1.
	BaseURL string

	// Account is charged; Currency (ISO 4217) is what it is charged in.
	Account  string
	Currency string

	// Capabilities say what this account honours. A Key is refused: ShipEngine has none.
	Capabilities carrier.Capabilities

	// Secret is the API key. One that begins with TEST_ buys nothing real.
	Secret string

	// CarrierID ("se-…") is the account with a carrier, as ShipEngine names it.
	CarrierID string

	// Services are the service codes that may be ordered, e.g. usps_ground_advantage; none stands for all.
	Services []string

	// DocumentHosts are the hosts that labels may be fetched from, beside BaseURL's own.
	DocumentHosts []string
}

// Adapter is a [carrier.Carrier] that speaks ShipEngine's API.
type Adapter struct {
	cfg    Config
	client *carrierhttp.Client
}

var (
	_ carrier.Preparer  = (*Adapter)(nil)
	_ carrier.Documents = (*Adapter)(nil)
	_ carrier.Prober    = (*Adapter)(nil)
)

// idPattern is how ShipEngine names everything: "se-28529731", and "se-test-2128732" in the sandbox.
var idPattern = regexp.MustCompile(`^se(-[A-Za-z0-9]{1,40}){1,5}$`)

// New builds an adapter. It opens no connection; an error names the member of the Config to mend.
func New(cfg Config) (*Adapter, error) {
	client, err := carrierhttp.New(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := carrierhttp.CheckAccount(cfg.Name, cfg.Account, cfg.Currency); err != nil {
		return nil, err
	}
	switch {
	case cfg.Secret == "":
		return nil, errors.New("secret is empty: ShipEngine wants an API key")
	case cfg.Capabilities.Key != nil:
		return nil, errors.New("class: ShipEngine honours no key, so it must be lookup or blind")
	case !idPattern.MatchString(cfg.CarrierID):
		return nil, errors.New("options: carrier_id is needed, and begins with se-")
	}
	err = errors.Join(carrierhttp.CheckServices(cfg.Services, servicePattern, "usps_ground_advantage"), carrierhttp.CheckHosts(cfg.DocumentHosts))
	if err != nil {
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
	req.Header.Set("API-Key", a.cfg.Secret)
	return req, nil
}

// get asks for something by its path. Harmless to repeat.
func (a *Adapter) get(ctx context.Context, segments ...string) (carrierhttp.Answer, error) {
	req, err := a.newRequest(ctx, http.MethodGet, segments...)
	if err != nil {
		return carrierhttp.Answer{}, err
	}
	return a.client.Do(req)
}
