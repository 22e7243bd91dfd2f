package report

import (
	"waybill/carrier"
	"waybill/reconcile"
)

// InvoicesName is the file with a row for each invoice: the total that it states, where its money
// went, and the difference, which reads 0.00 if it foots or states no total.
const InvoicesName = "invoices.csv"

// invoiceHeader is the columns of invoices.csv. One for each bucket stands before the sum.
func invoiceHeader() []string {
	names := []string{"carrier", "account", "invoice_no", "invoice_date", "currency", "stated_total"}
	for b := range reconcile.Buckets {
		names = append(names, b.String())
	}
	return append(names, "sum_of_buckets", "difference", "lines", "foots")
}

// invoiceCells is an invoice as a row.
func invoiceCells(i *reconcile.Invoice) []cell {
	money := func(cents int64) cell { return moneyCell(carrier.Money{Cents: cents, Currency: i.Currency}) }
	stated, foots := money(i.StatedCents), "yes"
	switch {
	case i.Unstated:
		stated, foots = noCell{}, "no_total_stated"
	case !i.Foots():
		foots = "no"
	}
	cells := []cell{
		textCell(i.Carrier), textCell(i.Account), textCell(i.InvoiceNo), dateCell(i.Date), textCell(i.Currency), stated,
	}
	for _, sum := range i.Buckets {
		cells = append(cells, money(sum.Cents))
	}
	return append(cells, money(total(&i.Buckets).Cents), money(i.Difference()), wholeCell(i.Lines.Count), textCell(foots))
}

func (f *files) writeInvoices(invoices []*reconcile.Invoice) error {
	t, err := f.createTable(InvoicesName, invoiceHeader())
	if err != nil {
		return err
	}
	for _, i := range invoices {
		if err := t.write(invoiceCells(i)); err != nil {
			return err
		}
	}
	return t.close()
}
