package invoicegen

import (
	"fmt"
	"strings"
)

// dhlColumns are the columns of DHL Express before the extra charges, in order.
var dhlColumns = strings.Split("Line Type|Billing Source|Original Invoice Number|Invoice Number|Station Code|"+
	"Invoice Identifier|Invoice Type|Invoice Date|Payment Terms|Due Date|Parent Account|Billing Account|"+
	"Billing Account Name|Billing Account Name (Additional)|Billing Address 1|Billing Address 2|Billing Address 3|"+
	"Billing Postcode|Billing City|Billing State/Province|Billing Country Code|Billing Contact|VAT Number|"+
	"Shipment Number|Shipment Date|Country Specific Label|Country Specific Value|Shipment Reference 1|"+
	"Shipment Reference 2|Shipment Reference 3|Product|Product Name|Pieces|Origin|Orig Name|Orig Country Code|"+
	"Orig Country Name|Senders Name|Senders Address 1|Senders Address 2|Senders Address 3|Senders Postcode|"+
	"Senders City|Senders State/Province|Senders Country|Senders Contact|Destination|Dest Name|Dest Country Code|"+
	"Dest Country Name|Receivers Name|Receivers Address 1|Receivers Address 2|Receivers Address 3|"+
	"Receivers Postcode|Receivers City|Receivers State/Province|Receivers Country|Receivers Contact|"+
	"Proof of Delivery/Name|Description of Contents|Event Description|Dimensions|Cust Scale Weight (A)|"+
	"DHL Scale Weight (B)|Cust Vol Weight (V)|DHL Vol Weight (W)|Weight Flag|Weight (kg)|Currency|"+
	"Total amount (excl. VAT)|Total amount (incl. VAT)|Tax Code|Total Tax|Tax Adjustment|Invoice Fee|Weight Charge|"+
	"Weight Tax (VAT)|Other Charges 1|Other Charges 1 Amount|Other Charges 2|Other Charges 2 Amount|Discount 1|"+
	"Discount 1 Amount|Discount 2|Discount 2 Amount|Discount 3|Discount 3 Amount|Total Extra Charges (XC)|"+
	"Total Extra Charges Tax", "|")

// dhlExtras is how many extra charges a row holds.
const dhlExtras = 9

var dhlCodes = map[Kind][2]string{
	Fuel: {"FF", "Fuel Surcharge"}, Residential: {"SD", "Saturday Delivery"}, Area: {"RC", "Remote Area Delivery"},
	Accessorial: {"OS", "Oversize Piece"}, Unknown: {"QQ", "Kilonova Handling"},
}

func dhlHeader() []string {
	header := append([]string(nil), dhlColumns...)
	for n := 1; n <= dhlExtras; n++ {
		for _, name := range []string{"Code", "Name", "Charge", "Tax Code", "Tax", "Discount", "Total"} {
			header = append(header, fmt.Sprintf("XC%d %s", n, name))
		}
	}
	return header
}

// dhl writes DHL Express: a row with the invoice's totals, then a row for each shipment.
func (b *builder) dhl(inv *Invoice) sheet {
	t := table{header: dhlHeader()}
	var tax int64
	for _, x := range inv.Billings {
		tax += taxOf(x)
	}
	common := func(line string) map[string]string {
		return map[string]string{
			"Line Type": line, "Invoice Number": inv.No, "Invoice Date": inv.Date.Format(b.style.dates),
			"Invoice Type": dhlType(inv), "Original Invoice Number": inv.original, "Billing Account": inv.Account,
			"Currency": inv.Currency,
		}
	}
	total := common("I")
	total["Billing Source"], total["Billing Account Name"] = "BBP", "Waybill Test GmbH"
	total["Total amount (excl. VAT)"] = b.amount(inv, inv.Stated-tax)
	total["Total amount (incl. VAT)"] = b.amount(inv, inv.Stated)
	total["Total Tax"] = b.amount(inv, tax)
	t.row(total)
	for _, x := range inv.Billings {
		t.row(b.dhlShipment(inv, x, common("S")))
	}
	return t.sheet("DHL_" + inv.stem() + ".csv")
}

func dhlType(inv *Invoice) string {
	if inv.Credit {
		return "CN INB"
	}
	return "Invoice"
}

func taxOf(x Billing) int64 {
	var sum int64
	for _, c := range x.Charges {
		if c.Kind == Tax {
			sum += c.Cents
		}
	}
	return sum
}

func (b *builder) dhlShipment(inv *Invoice, x Billing, v map[string]string) map[string]string {
	v["Shipment Number"], v["Shipment Date"] = x.TrackingNo, x.Day.Format(b.style.dates)
	v["Shipment Reference 1"], v["Shipment Reference 2"] = x.Reference, x.Person.name
	v["Product"], v["Product Name"], v["Pieces"] = "P", "EXPRESS WORLDWIDE nondoc", "1"
	v["Receivers Name"], v["Receivers Address 1"] = x.Person.name, x.Person.street
	v["Receivers City"], v["Receivers Postcode"] = x.Person.city, x.Person.zip
	v["Receivers Contact"], v["Proof of Delivery/Name"] = x.Person.company, x.Person.name
	v["Total amount (excl. VAT)"] = b.amount(inv, x.Cents()-taxOf(x))
	v["Total amount (incl. VAT)"] = b.amount(inv, x.Cents())
	v["Total Tax"] = b.amount(inv, taxOf(x))
	v["Weight Tax (VAT)"] = v["Total Tax"]
	slot := 0
	var extra int64
	for _, c := range x.Charges {
		code, known := dhlCodes[c.Kind]
		switch {
		case c.Kind == Tax:
		case !known:
			v["Weight Charge"] = b.amount(inv, c.Cents)
		default:
			slot++
			extra += c.Cents
			b.dhlExtra(inv, v, slot, code, c.Cents)
		}
	}
	if slot < dhlExtras {
		// An empty slot may hold zeros.
		v[fmt.Sprintf("XC%d Code", slot+1)], v[fmt.Sprintf("XC%d Name", slot+1)] = "0", "0"
	}
	v["Total Extra Charges (XC)"] = b.amount(inv, extra)
	return v
}

// dhlExtra fills one slot: the charge, a discount, and what is left of it.
func (b *builder) dhlExtra(inv *Invoice, v map[string]string, slot int, code [2]string, cents int64) {
	name := func(s string) string { return fmt.Sprintf("XC%d %s", slot, s) }
	discount := cents / 4
	v[name("Code")], v[name("Name")] = code[0], code[1]
	v[name("Charge")] = b.amount(inv, cents+discount)
	v[name("Discount")] = b.amount(inv, -discount)
	v[name("Tax")] = b.amount(inv, 0)
	v[name("Total")] = b.amount(inv, cents)
}
