package catalog

import (
	"errors"
	"fmt"
	"time"

	"github.com/goccy/go-yaml"

	"waybill/carrier"
	"waybill/carrier/easypost"
	"waybill/carrier/easyship"
	"waybill/carrier/fedex"
	"waybill/carrier/shipengine"
	"waybill/carrier/sim"
	"waybill/carrier/usps"
)

// adapters are the kinds of carriers. A constructor gets a checked entry and its secret.
var adapters = map[string]func(e entry, secret string) (carrier.Carrier, error){
	"sim":        newSim,
	"easyship":   newEasyship,
	"fedex":      newFedEx,
	"usps":       newUSPS,
	"easypost":   newEasyPost,
	"shipengine": newShipEngine,
}

func newSim(e entry, secret string) (carrier.Carrier, error) {
	if _, err := options[struct{}](e); err != nil {
		return nil, err
	}
	return sim.New(sim.Config{
		Name:         e.Name,
		BaseURL:      e.BaseURL,
		Account:      e.Account,
		Currency:     e.Currency,
		Capabilities: e.capabilities(),
		Secret:       secret,
	})
}

func newEasyPost(e entry, secret string) (carrier.Carrier, error) {
	o, err := options[struct {
		Carrier        string   `yaml:"carrier"`
		CarrierAccount string   `yaml:"carrier_account"`
		Services       []string `yaml:"services"`
		DocumentHosts  []string `yaml:"document_hosts"`
	}](e)
	if err != nil {
		return nil, err
	}
	return easypost.New(easypost.Config{
		Name:           e.Name,
		BaseURL:        e.BaseURL,
		Account:        e.Account,
		Currency:       e.Currency,
		Capabilities:   e.capabilities(),
		Secret:         secret,
		Carrier:        o.Carrier,
		CarrierAccount: o.CarrierAccount,
		Services:       o.Services,
		DocumentHosts:  o.DocumentHosts,
	})
}

func newShipEngine(e entry, secret string) (carrier.Carrier, error) {
	o, err := options[struct {
		CarrierID     string   `yaml:"carrier_id"`
		Services      []string `yaml:"services"`
		DocumentHosts []string `yaml:"document_hosts"`
	}](e)
	if err != nil {
		return nil, err
	}
	return shipengine.New(shipengine.Config{
		Name:          e.Name,
		BaseURL:       e.BaseURL,
		Account:       e.Account,
		Currency:      e.Currency,
		Capabilities:  e.capabilities(),
		Secret:        secret,
		CarrierID:     o.CarrierID,
		Services:      o.Services,
		DocumentHosts: o.DocumentHosts,
	})
}

func newUSPS(e entry, secret string) (carrier.Carrier, error) {
	o, err := options[struct {
		ClientID    string `yaml:"client_id"`
		HonoursKey  bool   `yaml:"honours_key"`
		CRID        string `yaml:"crid"`
		MID         string `yaml:"mid"`
		ManifestMID string `yaml:"manifest_mid"`
		MailingDays int    `yaml:"mailing_days"`
	}](e)
	if err != nil {
		return nil, err
	}
	return usps.New(usps.Config{
		Name:         e.Name,
		BaseURL:      e.BaseURL,
		Account:      e.Account,
		Currency:     e.Currency,
		Capabilities: e.capabilities(),
		HonoursKey:   o.HonoursKey,
		ClientID:     o.ClientID,
		ClientSecret: secret,
		CRID:         o.CRID,
		MID:          o.MID,
		ManifestMID:  o.ManifestMID,
		MailingDays:  o.MailingDays,
		Now:          time.Now, //nolint:forbidigo // A carrier's calendar is the real one; tests build the adapter itself.
	})
}

func newFedEx(e entry, secret string) (carrier.Carrier, error) {
	o, err := options[struct {
		ClientID   string `yaml:"client_id"`
		PickupType string `yaml:"pickup_type"`
	}](e)
	if err != nil {
		return nil, err
	}
	return fedex.New(fedex.Config{
		Name:         e.Name,
		BaseURL:      e.BaseURL,
		Account:      e.Account,
		Currency:     e.Currency,
		Capabilities: e.capabilities(),
		ClientID:     o.ClientID,
		ClientSecret: secret,
		PickupType:   o.PickupType,
	})
}

func newEasyship(e entry, secret string) (carrier.Carrier, error) {
	o, err := options[struct {
		Services map[string]string `yaml:"services"`
		Contents struct {
			Description string `yaml:"description"`
			Category    string `yaml:"category"`
			Value       string `yaml:"value"`
		} `yaml:"contents"`
		DocumentHosts []string `yaml:"document_hosts"`
	}](e)
	if err != nil {
		return nil, err
	}
	return easyship.New(easyship.Config{
		Name:          e.Name,
		BaseURL:       e.BaseURL,
		Account:       e.Account,
		Currency:      e.Currency,
		Capabilities:  e.capabilities(),
		Secret:        secret,
		Services:      o.Services,
		Contents:      easyship.Contents(o.Contents),
		DocumentHosts: o.DocumentHosts,
	})
}

// options reads the entry's options as those of its kind, and refuses any other.
func options[T any](e entry) (T, error) {
	var o T
	if len(e.Options) == 0 {
		return o, nil
	}
	text, err := yaml.Marshal(e.Options)
	if err != nil {
		return o, fmt.Errorf("options: %w", err)
	}
	if err := yaml.UnmarshalWithOptions(text, &o, yaml.Strict()); err != nil {
		return o, errors.New("options: " + yaml.FormatError(err, false, false))
	}
	return o, nil
}
