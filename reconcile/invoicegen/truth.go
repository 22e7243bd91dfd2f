package invoicegen

import (
	"time"

	"waybill/carrier"
)

// Kind is what a charge is for, as the truth knows it. Every dialect has its own words for it.
type Kind string

// The kinds of charges.
const (
	Freight       Kind = "freight"
	Fuel          Kind = "fuel"
	Residential   Kind = "residential"
	Area          Kind = "area"
	Accessorial   Kind = "accessorial"
	Correction    Kind = "adjustment"
	AddressFix    Kind = "address_correction"
	VoidCredit    Kind = "void_credit"
	ServiceCredit Kind = "service_credit"
	Chargeback    Kind = "chargeback"
	Tax           Kind = "tax"
	InvoiceLevel  Kind = "invoice_level"
	Unknown       Kind = "unknown"
	// Informative repeats what another line says: it is printed and counts for nothing.
	Informative Kind = "informative"
	// Counted is printed as a row that only informs, and counts: a part of the price.
	Counted Kind = "counted"
)

// Charge is one amount of a billing.
type Charge struct {
	Kind  Kind
	Cents int64
}

// Billing is what an invoice asks for one shipment at one time: a row of a wide format, several rows
// of a long one.
type Billing struct {
	// TrackingNo is what is printed, which may be damaged or dressed up.
	TrackingNo string
	MasterNo   string
	// OriginalNo is the number that this one replaced on the way.
	OriginalNo string
	// LabelID is the carrier's own id of the label, where a wallet's report names shipments by it.
	LabelID   string
	Reference string
	// Day is when the parcel was handed over.
	Day     time.Time
	Late    bool
	Charges []Charge
	Person  person

	// refused is true if its rows cannot be read: their money is missing from what is read.
	refused bool
}

// Cents is what the billing asks for. What only repeats is not asked for.
func (b Billing) Cents() int64 {
	var sum int64
	for _, c := range b.Charges {
		if c.Kind != Informative {
			sum += c.Cents
		}
	}
	return sum
}

// Invoice is an invoice of the truth.
type Invoice struct {
	Account  string
	No       string
	Date     time.Time
	Currency string
	// Credit is true for a credit note; original is the invoice it gives back from.
	Credit   bool
	original string
	// Second is true for the part in another currency than the invoice of that number that comes first.
	Second   bool
	Billings []Billing

	// Stated is the total it states, in minor units.
	Stated int64

	// reported is true if a finding about the invoice as a whole is planted already.
	reported bool
	// resent and changed invoices come a second time, in a file of their own; a changed one with this
	// much more on its first line, and not in its total: the first foots, the second does not.
	resent  bool
	changed int64
}

// Cents is what its lines add up to.
func (i Invoice) Cents() int64 {
	var sum int64
	for _, b := range i.Billings {
		sum += b.Cents()
	}
	return sum
}

// stem is the invoice's number as files are named: each currency has a file of its own.
func (i Invoice) stem() string {
	if i.Second {
		return i.No + "_" + i.Currency
	}
	return i.No
}

// money is an amount in the invoice's currency.
func (i Invoice) money(cents int64) string {
	return carrier.Money{Cents: cents, Currency: i.Currency}.Decimal()
}
