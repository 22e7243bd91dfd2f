package invoicegen

import (
	"fmt"
	"strings"
	"time"
)

// upsColumns is the width of UPS Billing Data 2.1, which has no header.
const upsColumns = 250

// The positions we fill, counted from 1.
const (
	upsVersion = 1 + iota
	upsRecipient
	upsAccount
	upsCountry
	upsInvoiceDate
	upsInvoiceNo
	upsType
	upsDetailType
)

const (
	upsCurrency, upsTotal, upsDay                      = 10, 11, 12
	upsPickup, upsLead                                 = 13, 14
	upsReference, upsReference2                        = 16, 17
	upsBillOption, upsQuantity, upsTracking            = 18, 19, 21
	upsPackageReference                                = 22
	upsCategory, upsDetail                             = 35, 36
	upsClass, upsChargeCode, upsText                   = 44, 45, 46
	upsChargeCurrency, upsDiscount, upsNet             = 51, 52, 53
	upsDue                                             = 63
	upsSenderName, upsSenderCompany                    = 67, 68
	upsReceiverName, upsReceiverCompany                = 75, 76
	upsReceiverStreet, upsReceiverCity, upsReceiverZip = 77, 79, 81
	upsMisc                                            = 175
	upsOriginal                                        = 201
)

// upsWords is how UPS codes and prints a charge.
type upsWords struct {
	category, detail, class, code, text string
}

var upsCodes = map[Kind]upsWords{
	Freight:     {"SHP", "NSD", "FRT", "003", "Ground Commercial"},
	Fuel:        {"SHP", "NSD", "FSC", "FSC", "Fuel Surcharge"},
	Residential: {"SHP", "NSD", "ACC", "RES", "Residential Surcharge"},
	Area:        {"SHP", "NSD", "ACC", "DAS", "Delivery Area Surcharge"},
	Accessorial: {"SHP", "NSD", "ACC", "DCS", "Delivery Confirmation Signature"},
	Correction:  {"ADJ", "ADJ", "FRT", "003", "Shipping Charge Correction Ground"},
	AddressFix:  {"ADJ", "ADC", "ACC", "ADC", "Address Correction Ground"},
	VoidCredit:  {"ADJ", "ADJ", "FRT", "003", "Void Ground Commercial"},
	// UPS guarantees by service, and says so in the credit's name.
	ServiceCredit: {"ADJ", "ADJ", "FRT", "003", "Guaranteed Service Refund Ground"},
	Chargeback:    {"ADJ", "ADJ", "MSC", "CBF", "Chargeback Ground Commercial"},
	Tax:           {"SHP", "NSD", "TAX", "01", "State Sales Tax"},
	InvoiceLevel:  {"MIS", "SVCH", "MSC", "SVC", "Service Charge"},
	Unknown:       {"SHP", "NSD", "QQQ", "Q7", "Kilonova Handling"},
	Informative:   {"SHP", "NSD", "INF", "", "Package Dimensions"},
	Counted:       {"SHP", "NSD", "INF", "", "Package Dimensions"},
}

// upsWordsOf is how one charge of a billing is printed. A row that informs and counts is a part of the
// carriage.
func (b *builder) upsWordsOf(x Billing, i int) upsWords {
	c := x.Charges[i]
	words := upsCodes[c.Kind]
	switch {
	case c.Kind == Freight && x.Late:
		words = upsWords{"ADJ", "ADJ", "FRT", "003", "Not Previously Billed Ground Commercial"}
	case c.Kind == Fuel && b.style.comma:
		words.text = "Treibstoffzuschl."
	}
	return words
}

// ups writes UPS Billing Data: a row for each charge, columns by position.
func (b *builder) ups(inv *Invoice) sheet {
	s := sheet{name: fmt.Sprintf("Invoice_%s_%s.csv", inv.No, inv.Date.Format("010206"))}
	if b.style.header {
		s.rows = append(s.rows, upsHeader())
	}
	for _, x := range inv.Billings {
		for i, c := range x.Charges {
			s.rows = append(s.rows, b.upsRow(inv, x, c, b.upsWordsOf(x, i), i == 0))
		}
	}
	return s
}

// upsHeader is a header row as some people put on top.
func upsHeader() []string {
	names := make([]string, upsColumns)
	for i := range names {
		names[i] = fmt.Sprintf("Column %d", i+1)
	}
	names[upsVersion-1], names[upsInvoiceNo-1], names[upsInvoiceDate-1] = "Version", "Invoice Number", "Invoice Date"
	names[upsAccount-1], names[upsTotal-1] = "Account Number", "Invoice Amount"
	names[upsTracking-1], names[upsNet-1] = "Tracking Number", "Net Amount"
	return names
}

func (b *builder) upsRow(inv *Invoice, x Billing, c Charge, words upsWords, first bool) []string {
	row := make([]string, upsColumns)
	set := func(position int, value string) { row[position-1] = value }
	day := func(t time.Time) string { return t.Format(b.style.dates) }
	set(upsVersion, "2.1")
	set(upsRecipient, inv.Account)
	set(upsAccount, inv.Account)
	set(upsCountry, "US")
	set(upsInvoiceDate, day(inv.Date))
	set(upsInvoiceNo, inv.No)
	set(upsType, "E")
	set(upsCurrency, inv.Currency)
	set(upsTotal, b.amount(inv, inv.Stated))
	set(upsDay, day(x.Day))
	set(upsBillOption, "P/P")
	set(upsQuantity, "0")
	if first {
		set(upsQuantity, "1")
	}
	set(upsTracking, x.TrackingNo)
	set(upsLead, x.MasterNo)
	set(upsOriginal, x.OriginalNo)
	if x.TrackingNo != "" {
		set(upsReference, x.Reference)
		set(upsPackageReference, x.Person.name)
		set(upsReceiverName, x.Person.name)
		set(upsReceiverCompany, x.Person.company)
		set(upsReceiverStreet, x.Person.street)
		set(upsReceiverCity, x.Person.city)
		set(upsReceiverZip, x.Person.zip)
		set(upsMisc, "ENTERED WEIGHT: 5.0 LBS "+strings.ToUpper(x.Person.city))
	}
	set(upsCategory, words.category)
	set(upsDetail, words.detail)
	set(upsClass, words.class)
	set(upsChargeCode, words.code)
	set(upsText, words.text)
	set(upsChargeCurrency, inv.Currency)
	set(upsDiscount, b.amount(inv, 0))
	set(upsNet, b.amount(inv, c.Cents))
	set(upsDue, day(inv.Date.AddDate(0, 0, 14)))
	if b.style.trimmed {
		end := len(row)
		for row[end-1] == "" && end > upsNet {
			end--
		}
		row = row[:end]
	}
	return row
}
