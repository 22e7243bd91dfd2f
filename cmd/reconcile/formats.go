package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"waybill/carrier/dhl"
	"waybill/carrier/easypost"
	"waybill/carrier/fedex"
	"waybill/carrier/ups"
	"waybill/carrier/usps"
	"waybill/reconcile/invoice"
	"waybill/reconcile/neutral"
)

// dialects are the formats we read. A carrier's own comes from that carrier's package.
func dialects() []invoice.Dialect {
	return []invoice.Dialect{
		neutral.Dialect{},
		ups.BillingData{},
		fedex.BillingOnline{},
		fedex.BillingOnlineIntl{},
		dhl.Express{},
		usps.Transactions{},
		easypost.ShipmentInvoices{},
		easypost.PaymentLog{},
	}
}

// dialectFor is the dialect that the arguments force, nil if each file's content decides.
func dialectFor(format, columns string) (invoice.Dialect, error) {
	if columns == "" {
		return dialectNamed(format)
	}
	if format != "auto" && format != neutral.Name {
		return nil, errors.New("--columns: only the neutral format has a map of columns")
	}
	file, err := os.Open(columns) //nolint:gosec // G304: the file that the operator names.
	if err != nil {
		return nil, fmt.Errorf("--columns: %w", err)
	}
	defer func() { _ = file.Close() }()
	m, err := neutral.ReadMap(file)
	if err != nil {
		return nil, fmt.Errorf("--columns: %w", err)
	}
	return neutral.Mapped{Map: m}, nil
}

func dialectNamed(name string) (invoice.Dialect, error) {
	if name == "auto" {
		return nil, nil //nolint:nilnil // "auto" is no dialect: the content decides.
	}
	known := []string{"auto"}
	for _, d := range dialects() {
		if d.Name() == name {
			return d, nil
		}
		known = append(known, d.Name())
	}
	return nil, fmt.Errorf("--format: %q is not one of %s", name, strings.Join(known, ", "))
}
