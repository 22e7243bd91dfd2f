// Package easypost is the adapter of EasyPost's API, version 2: an aggregator in front of USPS, UPS,
// FedEx and others. It is of class lookup: no idempotency key is documented, a shipment can be read
// by the id that EasyPost gave it, and by our reference, which is not unique there.
//
// A label is bought in two steps. POST /shipments makes a shipment with its rates and costs nothing;
// POST /shipments/{id}/buy buys one rate of it. A shipment is sold if, and only if, its postage_label
// is not null, so the stored id answers what became of a purchase whose answer was lost.
//
// What is known comes from docs.easypost.com (shipments, errors, pagination, shipping refund), from
// the vendor's Go client and the traffic recorded beside it, and for codes of errors from clients of
// third parties; the tables say which. It never sleeps, retries, or repeats what an answer said
// except through [carrier.Sanitise].
package easypost

import (
	"context"
	"errors"
	"net/http"
	"regexp"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Config is all that makes one account at EasyPost, with one of the carriers behind it.
type Config struct {
	// Name is the carrier's name as callers write it.
	Name string

	// BaseURL is the address under which /shipments lies: https://api.easypost.com/v2.
	BaseURL string

	// Account is charged; Currency (ISO 4217) is what it is charged in.
	Account  string
	Currency string

	// Capabilities say what this account honours. A Key is refused: EasyPost has none.
	Capabilities carrier.Capabilities

	// Secret is the API key. Test and production differ by it alone.
	Secret string

	// Carrier is whose rates are bought, as EasyPost spells it, e.g. "USPS": services are named by
	// each carrier for itself. CarrierAccount ("ca_…") chooses one of several accounts with that
	// carrier; empty takes the cheapest.
	Carrier        string
	CarrierAccount string

	// Services are the services that may be ordered, as EasyPost spells them; none stands for all.
	Services []string

	// DocumentHosts are the hosts that labels may be fetched from, beside BaseURL's own.
	DocumentHosts []string
}

// Adapter is a [carrier.Carrier] that speaks EasyPost's API.
type Adapter struct {
	cfg    Config
	client *carrierhttp.Client
}

var (
	_ carrier.Preparer  = (*Adapter)(nil)
	_ carrier.Documents = (*Adapter)(nil)
	_ carrier.Prober    = (*Adapter)(nil)
)

var (
	carrierPattern        = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	carrierAccountPattern = regexp.MustCompile(`^(ca_[A-Za-z0-9]{1,64})?$`)
)

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
		return nil, errors.New("secret is empty: EasyPost wants an API key")
	case cfg.Capabilities.Key != nil:
		return nil, errors.New("class: EasyPost honours no key, so it must be lookup or blind")
	case !carrierPattern.MatchString(cfg.Carrier):
		return nil, errors.New("options: carrier is needed, as EasyPost spells it, e.g. USPS")
	case !carrierAccountPattern.MatchString(cfg.CarrierAccount):
		return nil, errors.New("options: carrier_account must begin with ca_")
	}
	err = errors.Join(carrierhttp.CheckServices(cfg.Services, servicePattern, "GroundAdvantage"), carrierhttp.CheckHosts(cfg.DocumentHosts))
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
	req.SetBasicAuth(a.cfg.Secret, "") // the key is the user; there is no password
	return req, nil
}
