package usps

import (
	"context"
	"encoding/json/v2"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"waybill/internal/carrierhttp"
)

// pair is what every call of the Labels API bears.
type pair struct {
	access  string // who calls
	payment string // which account pays
}

// authorise returns both tokens, from the cache or fresh. Nothing that is bought was sent yet.
func (a *Adapter) authorise(ctx context.Context) (pair, error) {
	access, err := a.tokens.Token(ctx)
	if err != nil {
		return pair{}, err
	}
	payment, err := a.payments.get(ctx, access)
	return pair{access: access, payment: payment}, err
}

// forget drops both tokens after the carrier has refused one of them: it does not say which.
func (a *Adapter) forget(t pair) {
	a.tokens.Forget(t.access)
	a.payments.forget(t.payment)
}

// The authorisation's age is not in the answer. Clients count on eight hours (seen in clients), so six
// are kept; one refused earlier is forgotten then.
const (
	paymentAge     = 6 * time.Hour
	paymentTimeout = 10 * time.Second
)

// payments keeps the payment authorisation token, fetched by one request however many wait for one.
type payments struct {
	now     func() time.Time
	fetch   func(ctx context.Context, access string) (string, error)
	flights singleflight.Group

	mu    sync.Mutex
	token string
	until time.Time
}

func (p *payments) get(ctx context.Context, access string) (string, error) {
	p.mu.Lock()
	token, fresh := p.token, p.now().Before(p.until)
	p.mu.Unlock()
	if token != "" && fresh {
		return token, nil
	}
	flight := p.flights.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), paymentTimeout)
		defer cancel()
		return p.refresh(ctx, access)
	})
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case r := <-flight:
		token, _ := r.Val.(string)
		return token, r.Err
	}
}

func (p *payments) refresh(ctx context.Context, access string) (string, error) {
	token, err := p.fetch(ctx, access)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token, p.until = token, p.now().Add(paymentAge)
	return token, nil
}

func (p *payments) forget(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == token {
		p.token = ""
	}
}

// role is who takes part in a payment.
type role struct {
	Name          string `json:"roleName"`
	CRID          string `json:"CRID"`
	MID           string `json:"MID"`
	ManifestMID   string `json:"manifestMID"`
	AccountType   string `json:"accountType,omitzero"`
	AccountNumber string `json:"accountNumber,omitzero"`
}

// errNoPayment stands for every refusal: the answer may quote account numbers.
var errNoPayment = errors.New("the carrier gave no payment authorisation: check account, crid, mid and manifest_mid")

// authorisePayment asks for a payment authorisation token. It charges nothing.
func (a *Adapter) authorisePayment(ctx context.Context, access string) (string, error) {
	party := role{CRID: a.cfg.CRID, MID: a.cfg.MID, ManifestMID: a.cfg.ManifestMID}
	payer, owner := party, party
	payer.Name, payer.AccountType, payer.AccountNumber = "PAYER", "EPS", a.cfg.Account
	owner.Name = "LABEL_OWNER"
	body, err := json.Marshal(map[string][]role{"roles": {payer, owner}})
	if err != nil {
		return "", errNoPayment // the configuration is not UTF-8
	}
	req, err := a.client.Request(ctx, http.MethodPost, "payments", "v3", "payment-authorization")
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+access)
	carrierhttp.SetBody(req, carrierhttp.JSON, body)
	answer, err := a.client.Do(req)
	if err != nil {
		return "", err
	}
	if answer.Status == http.StatusUnauthorized {
		a.tokens.Forget(access)
	}
	var authorised struct {
		Token string `json:"paymentAuthorizationToken"`
	}
	if answer.Status != http.StatusOK || !answer.Decode(&authorised) || authorised.Token == "" {
		return "", errNoPayment
	}
	return authorised.Token, nil
}
