// Package usps is the adapter of the United States Postal Service's Labels API, version 3 (domestic
// labels). Its sources are the vendor's description of version 3.9.13, as others redistribute it, and
// what clients in the open do; nothing in it was confirmed by the vendor. It is the adapter of
//
//   - a keyed carrier, where the account's version of the API honours X-Idempotency-Key (3.9.13 and
//     later): the same key with the same body is answered with the same label. How long a key is
//     remembered is not stated, so the configuration must set a window;
//   - a blind carrier otherwise: no label can be found by our reference.
//
// A label needs the date on which it will be mailed, and a repeat must have the bytes of the first
// attempt, also past midnight. So the date is fixed before the purchase, as what [Adapter.Prepare]
// made, together with the authorisation of the payment.
//
// It never sleeps, retries, follows a redirect, or repeats what an answer said except through
// [carrier.Sanitise]. Telephone numbers and e-mail addresses are not sent: the labels do not need them.
package usps

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"time"

	"waybill/carrier"
	"waybill/internal/carrierhttp"
)

// Config is all that makes one account at USPS.
type Config struct {
	// Name is the carrier's name as callers write it.
	Name string

	// BaseURL is the address under which /oauth2/v3, /payments/v3 and /labels/v3 lie:
	// https://apis.usps.com, or https://apis-tem.usps.com for tests.
	BaseURL string

	// Account is the number of the Enterprise Payment account that is charged; Currency is USD.
	Account  string
	Currency string

	// Capabilities say what this account honours. Without Key, no idempotency header is sent.
	Capabilities carrier.Capabilities

	// HonoursKey says that the account's version of the API is 3.9.13 or later.
	HonoursKey bool

	// ClientID and ClientSecret are the application's credentials.
	ClientID     string
	ClientSecret string

	// CRID, MID and ManifestMID are the customer's registration and mailer ids, of payer and label
	// owner alike.
	CRID        string
	MID         string
	ManifestMID string

	// MailingDays is how many days after today, 0 to 6, labels will be mailed.
	MailingDays int

	// Now is the clock.
	Now func() time.Time
}

// Adapter is a [carrier.Carrier] that speaks USPS Labels v3.
type Adapter struct {
	cfg      Config
	client   *carrierhttp.Client
	tokens   *carrierhttp.Tokens
	payments *payments
}

var (
	_ carrier.Preparer  = (*Adapter)(nil)
	_ carrier.Documents = (*Adapter)(nil)
	_ carrier.Prober    = (*Adapter)(nil)
)

var (
	digits     = regexp.MustCompile(`^[0-9]{1,20}$`)
	midPattern = regexp.MustCompile(`^([0-9]{6}|[0-9]{9})$`)
)

// maxMailingDays leaves a day of the seven that the carrier allows: our date is that of UTC, which may
// be the day after the sender's.
const maxMailingDays = 6

// New builds an adapter. It opens no connection; an error names the member of the Config to mend.
func New(cfg Config) (*Adapter, error) {
	client, err := carrierhttp.New(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(cfg.check(), cfg.checkPromises()); err != nil {
		return nil, err
	}
	cfg.Capabilities.Void = true
	a := &Adapter{
		cfg:    cfg,
		client: client,
		tokens: carrierhttp.NewTokens(client, "oauth2/v3/token", cfg.ClientID, cfg.ClientSecret),
	}
	a.payments = &payments{now: cfg.Now, fetch: a.authorisePayment}
	return a, nil
}

func (cfg Config) check() error {
	switch {
	case cfg.Name == "":
		return errors.New("carrier's name is empty")
	case !digits.MatchString(cfg.Account):
		return errors.New("account is not the number of an Enterprise Payment account")
	case cfg.Currency != "USD":
		return errors.New("currency must be USD: usps charges in nothing else")
	case cfg.ClientID == "" || cfg.ClientSecret == "":
		return errors.New("client_id and a secret are needed")
	case !digits.MatchString(cfg.CRID):
		return errors.New("crid is not a customer registration id")
	case !midPattern.MatchString(cfg.MID) || !midPattern.MatchString(cfg.ManifestMID):
		return errors.New("mid and manifest_mid must have six or nine digits")
	case cfg.MailingDays < 0 || cfg.MailingDays > maxMailingDays:
		return errors.New("mailing_days must be from 0 to 6")
	case cfg.Now == nil:
		return errors.New("there is no clock")
	}
	return nil
}

// checkPromises refuses what the carrier cannot honour.
func (cfg Config) checkPromises() error {
	key := cfg.Capabilities.Key
	switch {
	case cfg.Capabilities.Lookup != nil:
		return errors.New("usps shows no labels by reference: leave lookup_lag and lookup_processing out")
	case key != nil && !cfg.HonoursKey:
		return errors.New("class keyed needs honours_key: true, and that is true of Labels API 3.9.13 and later only")
	case key != nil && key.Window == 0:
		return errors.New("key_window is needed: usps does not say for how long it remembers a key")
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

// Find implements [carrier.Carrier]: USPS lists no labels.
func (a *Adapter) Find(context.Context, carrier.Query) ([]carrier.Label, error) {
	return nil, carrier.ErrNoLookup
}

// labelsJSON asks for one JSON document: the default is a multipart message, and application/json
// changes only the type of its first part.
const labelsJSON = "application/vnd.usps.labels+json"

// request prepares a call below /labels/v3 with both tokens.
func (a *Adapter) request(ctx context.Context, method string, t pair, segments ...string) (*http.Request, error) {
	req, err := a.client.Request(ctx, method, append([]string{"labels", "v3"}, segments...)...)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", labelsJSON)
	req.Header.Set("Authorization", "Bearer "+t.access)
	req.Header.Set("X-Payment-Authorization-Token", t.payment)
	return req, nil
}
