package invoicegen

import (
	"slices"
	"strings"
)

// fedexIntlColumns are the columns of FedEx's international export before the charges, in order.
var fedexIntlColumns = strings.Split("Billing Country/Territory|Invoice Type|Settlement Type|Bill to Account Number|"+
	"Government Number|FedEx Invoice Number|Invoice Date|Due Date|Bill to Currency|Total Standard Charges|"+
	"Total Discounts|Total Surcharges|Total Taxes|Original Amount Due|Alternate Currency|"+
	"Alternate Currency Exchange Rate|Air Waybill Number|Bill To|Shipper Reference 1|Shipper Reference 2|"+
	"Shipper Reference 3|POD Date|POD Time|POD Name|Ship Date (formatted)|Ship Date|Tendered Date|Service|Packaging|"+
	"SvcPkg Label|Origin Station|Destination Station|Pieces|Actual Weight|Actual Weight Units|Meter Number|"+
	"Child Account Number|Master Air Waybill Number|Sender Company Name|Sender Contact Name|Sender Address Line 1|"+
	"Sender Address Line 2|Sender Address Line 3|Sender Address City|Sender Address State|Sender Address Postal|"+
	"Sender Address Country/Territory|Recipient Company Name|Recipient Contact Name|Recipient Address Line 1|"+
	"Recipient Address Line 2|Recipient Address Line 3|Recipient Address City|Recipient Address State|"+
	"Recipient Address Postal|Recipient Address Country/Territory|MPS Package Tracking ID|Dim Length|Dim Width|"+
	"Dim Height|Dim Divisor|Dim Unit|Rated Weight Amount|Rated Weight Units|Zone Code|Air Waybill Total Amount", "|")

var fedexIntlTexts = map[Kind]string{ //nolint:gosec // G101: a credit, no credentials.
	Freight: "Transportation Charge", Fuel: "Fuel Surcharge", Residential: "Residential Delivery",
	Area: "Remote Area Surcharge", Accessorial: "Additional Handling Charge", Correction: "Weight Correction",
	AddressFix: "Address Correction", VoidCredit: "Transportation Charge",
	ServiceCredit: "Money-Back Guarantee", Chargeback: "Payor Rebill", Unknown: "Kilonova Handling",
}

// fedexIntl writes FedEx's export of accounts outside the United States.
func (b *builder) fedexIntl(inv *Invoice) sheet {
	t := table{header: slices.Clone(fedexIntlColumns)}
	for range b.style.pairs {
		t.header = append(t.header, "Air Waybill Charge Label", "Air Waybill Charge Amount")
	}
	for _, x := range inv.Billings {
		t.row(map[string]string{
			"Billing Country/Territory": "GB",
			"Invoice Type":              "Shipment",
			"Settlement Type":           "Regular",
			"Bill to Account Number":    b.id(inv.Account),
			"FedEx Invoice Number":      b.id(inv.No),
			"Invoice Date":              inv.Date.Format(b.style.dates),
			"Due Date":                  inv.Date.AddDate(0, 0, 14).Format(b.style.dates),
			"Bill to Currency":          inv.Currency,
			"Original Amount Due":       b.amount(inv, inv.Stated),
			"Air Waybill Number":        b.id(x.TrackingNo),
			"Bill To":                   "Shipper",
			"Shipper Reference 1":       x.Person.name,
			"Shipper Reference 2":       x.Reference,
			"POD Name":                  x.Person.name,
			"Ship Date (formatted)":     x.Day.Format(b.style.dates),
			"Service":                   "FedEx International Priority",
			"Pieces":                    "1",
			"Master Air Waybill Number": x.MasterNo,
			"Sender Contact Name":       x.Person.name,
			"Recipient Company Name":    x.Person.company,
			"Recipient Contact Name":    x.Person.name,
			"Recipient Address Line 1":  x.Person.street,
			"Recipient Address City":    x.Person.city,
			"Recipient Address Postal":  x.Person.zip,
			"Air Waybill Total Amount":  b.amount(inv, x.Cents()),
		})
		var values [][2]string
		for _, c := range x.Charges {
			values = append(values, [2]string{fedexIntlTexts[c.Kind], b.amount(inv, c.Cents)})
		}
		pairs(t.rows[len(t.rows)-1][len(fedexIntlColumns):], values)
	}
	return t.sheet("FedEx_intl_" + inv.stem() + "." + b.extension())
}
