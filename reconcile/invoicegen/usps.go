package invoicegen

import (
	"fmt"
	"strings"
)

var uspsHeader = strings.Split("ACH Withdrawal ID|ACH Withdrawal Amount|EPS Account #|EPS Transaction ID|"+
	"Transaction Amount|Transaction Date/Time|Transaction Type|EFN|Package Identification Code (PIC)|Mail Class|"+
	"Postage|CRID|Master MID|Permit Number|Permit Type|Permit Finance Number|Reason|Details|Cust Ref Num1|"+
	"Cust Ref Num2|Dispute ID", "|")

// usps writes the transactions of the Enterprise Payment System of one day: there are no invoices, and the
// withdrawal that pays for them may come later.
func (b *builder) usps(inv *Invoice) sheet {
	t := table{header: uspsHeader}
	for n, x := range inv.Billings {
		kind, cents := "Label Purchase", x.Cents()
		if cents < 0 {
			kind = "Label Refund"
			if b.style.positive {
				// Some exports leave the sign to the reader.
				cents = -cents
			}
		}
		t.row(map[string]string{
			"ACH Withdrawal ID":                 fmt.Sprintf("6%017d", inv.Date.Unix()),
			"ACH Withdrawal Amount":             inv.money(inv.Stated),
			"EPS Account #":                     b.id(inv.Account),
			"EPS Transaction ID":                fmt.Sprintf("%d%04d", inv.Date.Unix(), n),
			"Transaction Amount":                inv.money(cents),
			"Transaction Date/Time":             inv.Date.Format("2006-01-02 ") + fmt.Sprintf("10:%02d:00", n%60),
			"Transaction Type":                  kind,
			"Package Identification Code (PIC)": b.id(x.TrackingNo),
			"Mail Class":                        "USPS Ground Advantage",
			"Postage":                           inv.money(cents),
			"Details":                           x.Person.name + ", " + x.Person.street,
			"Cust Ref Num1":                     x.Reference,
			"Cust Ref Num2":                     x.Person.name,
		})
	}
	return t.sheet(fmt.Sprintf("EPS_%s_%s.csv", inv.Account, inv.No))
}
