package invoicegen

import (
	"slices"
	"strings"
)

// fedexColumns are the columns of FedEx Billing Online (US) before the charges, in order. Commodity
// columns repeat, as they do in the export.
var fedexColumns = strings.Split("Bill to Account Number|Invoice Date|Invoice Number|Store ID|Original Amount Due|"+
	"Current Balance|Payor|Ground Tracking ID Prefix|Express or Ground Tracking ID|Transportation Charge Amount|"+
	"Net Charge Amount|Service Type|Ground Service|Shipment Date|POD Delivery Date|POD Delivery Time|"+
	"POD Service Area Code|POD Signature Description|Actual Weight Amount|Actual Weight Units|Rated Weight Amount|"+
	"Rated Weight Units|Number of Pieces|Bundle Number|Meter Number|TDMasterTrackingID|Service Packaging|Dim Length|"+
	"Dim Width|Dim Height|Dim Divisor|Dim Unit|Recipient Name|Recipient Company|Recipient Address Line 1|"+
	"Recipient Address Line 2|Recipient City|Recipient State|Recipient Zip Code|Recipient Country/Territory|"+
	"Shipper Company|Shipper Name|Shipper Address Line 1|Shipper Address Line 2|Shipper City|Shipper State|"+
	"Shipper Zip Code|Shipper Country/Territory|Original Customer Reference|Original Ref#2|Original Ref#3/PO Number|"+
	"Original Department Reference Description|Updated Customer Reference|Updated Ref#2|Updated Ref#3/PO Number|"+
	"Updated Department Reference Description|RMA#|Original Recipient Address Line 1|"+
	"Original Recipient Address Line 2|Original Recipient City|Original Recipient State|Original Recipient Zip Code|"+
	"Original Recipient Country/Territory|Zone Code|Cost Allocation|Alternate Address Line 1|"+
	"Alternate Address Line 2|Alternate City|Alternate State Province|Alternate Zip Code|"+
	"Alternate Country/Territory Code|CrossRefTrackingID Prefix|CrossRefTrackingID|Entry Date|Entry Number|"+
	"Customs Value|Customs Value Currency Code|Declared Value|Declared Value Currency Code|Commodity Description|"+
	"Commodity Country/Territory Code|Commodity Description|Commodity Country/Territory Code|Commodity Description|"+
	"Commodity Country/Territory Code|Commodity Description|Commodity Country/Territory Code|"+
	"Currency Conversion Date|Currency Conversion Rate|Multiweight Number|Multiweight Total Multiweight Units|"+
	"Multiweight Total Multiweight Weight|Multiweight Total Shipment Charge Amount|"+
	"Multiweight Total Shipment Weight|Ground Tracking ID Address Correction Discount Charge Amount|"+
	"Ground Tracking ID Address Correction Gross Charge Amount|Rated Method|Sort Hub|Estimated Weight|"+
	"Estimated Weight Unit|Postal Class|Process Category|Package Size|Delivery Confirmation|Tendered Date|"+
	"MPS Package ID", "|")

const (
	fedexLabel  = "Tracking ID Charge Description"
	fedexAmount = "Tracking ID Charge Amount"
)

var fedexTexts = map[Kind]string{ //nolint:gosec // G101: a credit, no credentials.
	Fuel: "Fuel Surcharge", Residential: "Residential Delivery", Area: "Delivery Area Surcharge",
	Accessorial: "Signature Service", Correction: "Weight Correction", AddressFix: "Address Correction",
	ServiceCredit: "Money-Back Guarantee", Chargeback: "Payor Rebill", InvoiceLevel: "Weekly Pickup", Unknown: "Kilonova Handling",
}

// fedex writes a file of FedEx Billing Online (US): a row for each shipment, its charges in pairs of
// columns that all bear the same two names.
func (b *builder) fedex(inv *Invoice) sheet {
	t := table{header: fedexColumns}
	if b.style.pairs > 25 {
		// The later generation begins with a column more.
		t.header = append([]string{"Consolidated Account Number"}, t.header...)
	}
	plain := len(t.header)
	t.header = slices.Clip(t.header)
	for range b.style.pairs {
		t.header = append(t.header, fedexLabel, fedexAmount)
	}
	t.header = append(t.header, "Shipment Notes")
	for _, x := range inv.Billings {
		t.row(b.fedexValues(inv, x, b.style.pairs > 25))
		pairs(t.rows[len(t.rows)-1][plain:], b.fedexPairs(inv, x))
	}
	return t.sheet("FedEx_" + inv.No + "." + b.extension())
}

// pairs fills pairs of columns from the left.
func pairs(into []string, values [][2]string) {
	for i, v := range values {
		into[2*i], into[2*i+1] = v[0], v[1]
	}
}

func (b *builder) fedexValues(inv *Invoice, x Billing, consolidated bool) map[string]string {
	v := map[string]string{
		"Bill to Account Number":        b.id(inv.Account),
		"Invoice Date":                  inv.Date.Format(b.style.dates),
		"Invoice Number":                b.id(inv.No),
		"Original Amount Due":           inv.money(inv.Stated),
		"Current Balance":               inv.money(inv.Stated),
		"Payor":                         "Shipper",
		"Express or Ground Tracking ID": b.id(x.TrackingNo),
		"Net Charge Amount":             inv.money(x.Cents()),
		"Service Type":                  "FedEx 2Day",
		"Shipment Date":                 x.Day.Format(b.style.dates),
		"Recipient Name":                x.Person.name,
		"Recipient Company":             x.Person.company,
		"Recipient Address Line 1":      x.Person.street,
		"Recipient City":                x.Person.city,
		"Recipient Zip Code":            x.Person.zip,
		"TDMasterTrackingID":            b.id(x.MasterNo),
		"Original Customer Reference":   x.Person.name,
		"Original Ref#2":                x.Reference,
	}
	if len(x.TrackingNo) == 14 && !x.refused {
		v["Ground Tracking ID Prefix"] = x.TrackingNo[:2]
		v["Express or Ground Tracking ID"] = b.id(x.TrackingNo[2:])
		v["Service Type"] = "FedEx Ground"
	}
	if x.OriginalNo != "" {
		ground := max(0, len(x.OriginalNo)-12)
		v["CrossRefTrackingID Prefix"], v["CrossRefTrackingID"] = x.OriginalNo[:ground], b.id(x.OriginalNo[ground:])
	}
	if carriage := freightOf(x); b.style.beside && carriage > 0 {
		v["Transportation Charge Amount"] = inv.money(carriage)
	}
	if consolidated {
		v["Consolidated Account Number"] = b.id(inv.Account)
	}
	return v
}

// freightOf is what a billing asks for the carriage alone.
func freightOf(x Billing) int64 {
	var sum int64
	for _, c := range x.Charges {
		if c.Kind == Freight {
			sum += c.Cents
		}
	}
	return sum
}

// fedexPairs are a shipment's charges, a discount on the carriage (which a credit gives back too), and a subtotal,
// which is no charge.
func (b *builder) fedexPairs(inv *Invoice, x Billing) [][2]string {
	var out [][2]string
	for _, c := range x.Charges {
		if c.Kind != Freight && c.Kind != VoidCredit {
			out = append(out, [2]string{fedexTexts[c.Kind], inv.money(c.Cents)})
			continue
		}
		if b.style.beside && c.Cents > 0 {
			continue
		}
		discount := c.Cents / 5
		if discount == 0 {
			out = append(out, [2]string{"Transportation Charge", inv.money(c.Cents)})
			continue
		}
		out = append(out,
			[2]string{"Transportation Charge", inv.money(c.Cents + discount)},
			[2]string{"Earned Discount", inv.money(-discount)})
		if len(x.Charges) > 2 {
			out = append(out, [2]string{"Net Transportation Charges", inv.money(c.Cents)})
		}
	}
	return out
}
