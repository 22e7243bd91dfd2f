package invoicegen

import (
	"strconv"
	"strings"
)

var neutralHeader = strings.Split("invoice_no,invoice_date,carrier,account,currency,line_no,kind,tracking_no,"+
	"reference,ship_date,description,amount,invoice_total,recipient,street", ",")

var neutralTexts = map[Kind]string{
	Freight: "Ground", Fuel: "Fuel", Residential: "Residential", Area: "Remote area", Accessorial: "Signature",
	Correction: "Reweigh", AddressFix: "Address correction", VoidCredit: "Void", ServiceCredit: "Late delivery",
	Chargeback: "Payer rebilling", Tax: "VAT", InvoiceLevel: "Weekly pickup", Unknown: "ZX-17",
}

// neutral writes the format that is nobody's: a row for each charge.
func (b *builder) neutral(inv *Invoice) sheet {
	t := table{header: neutralHeader}
	for _, x := range inv.Billings {
		for _, c := range x.Charges {
			t.row(map[string]string{
				"invoice_no": inv.No, "invoice_date": inv.Date.Format("2006-01-02"), "carrier": Neutral.Carrier(),
				"account": b.id(inv.Account), "currency": inv.Currency, "line_no": strconv.Itoa(len(t.rows) + 1),
				"kind": string(c.Kind), "tracking_no": b.id(x.TrackingNo), "reference": x.Reference,
				"ship_date": x.Day.Format("2006-01-02"), "description": neutralTexts[c.Kind],
				"amount": inv.money(c.Cents), "invoice_total": inv.money(inv.Stated),
				"recipient": x.Person.name, "street": x.Person.street,
			})
		}
	}
	return t.sheet(inv.stem() + ".csv")
}
