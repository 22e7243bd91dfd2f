package carrierhttp

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"waybill/carrier"
)

// CheckAccount refuses what no configuration of a carrier can be without: its name, the account that is
// charged and the currency it is charged in. Carriers whose accounts have a form check that themselves.
func CheckAccount(name, account, currency string) error {
	switch {
	case name == "":
		return errors.New("carrier's name is empty")
	case account == "":
		return errors.New("account is empty")
	case !carrier.IsCurrency(currency):
		return fmt.Errorf("currency %q is not an ISO 4217 code such as USD", currency)
	}
	return nil
}

// CheckServices refuses what cannot be a service as the carrier spells it; the example can.
func CheckServices(services []string, spelt *regexp.Regexp, example string) error {
	for _, service := range services {
		if !spelt.MatchString(service) {
			return fmt.Errorf("options: services: %q is not a service such as %s", service, example)
		}
	}
	return nil
}

// CheckHosts refuses what is no host as it stands in a URL: no address of a document could ever match it,
// and every label would stay without.
func CheckHosts(hosts []string) error {
	for _, host := range hosts {
		u, err := url.Parse("https://" + host)
		if err != nil || host == "" || u.Host != host || u.Hostname() == "" || u.Hostname() == "*" {
			return fmt.Errorf("options: document_hosts: %q must be a host alone, such as files.example.com or files.example.com:8443",
				carrier.Sanitise(host))
		}
	}
	return nil
}
