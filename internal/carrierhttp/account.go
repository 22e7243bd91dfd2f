package carrierhttp

import (
	"errors"
	"fmt"

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
