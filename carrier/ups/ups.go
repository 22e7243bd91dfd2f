// Package ups reads the invoices of UPS: the Billing Data file, version 2.1, which older papers call flat
// file bill. Labels are not bought at UPS directly, so there is no adapter.
//
// The file has 250 columns, no header and one row for each charge. What columns and codes mean is taken from
// loaders and notes that are public, because UPS hands its dictionary to customers only:
// docs/invoice-formats.md says of each fact how certain it is.
package ups

import (
	"io"
	"strings"

	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// Carrier is how labels and invoice lines name UPS.
const Carrier = "ups"

// BillingData is the dialect of Billing Data files.
type BillingData struct{}

var _ invoice.Dialect = BillingData{}

// Name is "ups".
func (BillingData) Name() string { return "ups" }

// Detect knows a file by the version in its first field, or by the header that somebody put above it. The
// summary that UPS also offers is known too, so that [BillingData.Read] can say what to fetch instead.
func (BillingData) Detect(head []byte) bool {
	first := sheet.FirstRow(head)
	return isSummary(first) || len(first) >= leastFields && (isVersion(first[0]) || isHeader(first))
}

// Read implements [invoice.Dialect].
func (BillingData) Read(r io.Reader, sink invoice.Sink) error {
	rows, err := sheet.Open(r)
	if err != nil {
		return err
	}
	if err := checkFirst(rows); err != nil {
		return err
	}
	rows.Pad(leastFields)
	if err := rows.LearnMoney(invoiceAmount, netAmount); err != nil {
		return err
	}
	if err := rows.LearnDays(invoiceDate, transactionDate); err != nil {
		return err
	}
	return rows.Each(sink, readRow)
}

// checkFirst refuses a file that is another of UPS's, and passes over a header.
func checkFirst(rows *sheet.Rows) error {
	first, err := rows.First()
	if err != nil {
		return err
	}
	if first == nil {
		return &invoice.FileError{Fault: invoice.FileEmpty, Advice: "the file is empty: fetch the invoice again"}
	}
	fields := first.Fields()
	switch {
	case isSummary(fields):
		return &invoice.FileError{
			Fault: invoice.FileUnreadable,
			Advice: "the file is the summary with one row for each shipment, which does not say what each charge is for: " +
				"fetch the Billing Data file of 250 columns from the UPS Billing Center",
		}
	case isHeader(fields):
		return skipHeader(rows, fields)
	case len(fields) > 0 && !isVersion(fields[0]):
		return &invoice.FileError{
			Fault:  invoice.FileUnreadable,
			Advice: "the file is no Billing Data of version 2.1: its first field must be 2.1. Fetch it in that version",
		}
	}
	return nil
}

// skipHeader passes over the header that UPS does not write, if it names the columns we read where they stand.
func skipHeader(rows *sheet.Rows, fields []string) error {
	for _, c := range []struct {
		at   int
		name string
	}{
		{accountAt, "account number"},
		{invoiceNumberAt, "invoice number"},
		{invoiceAmountAt, "invoice amount"},
		{trackingNumberAt, "tracking number"},
		{netAmountAt, "net amount"},
	} {
		if len(fields) < c.at || !strings.EqualFold(strings.TrimSpace(fields[c.at-1]), c.name) {
			return &invoice.FileError{
				Fault:  invoice.ColumnMissing,
				Advice: "the header does not name " + c.name + " where UPS has it: fetch the file again and leave its columns as they are",
			}
		}
	}
	return rows.Skip()
}

func isHeader(fields []string) bool {
	return len(fields) > 0 && strings.EqualFold(strings.TrimSpace(fields[0]), "version")
}

// isVersion takes the comma too, which some countries' files have in all their numbers.
func isVersion(s string) bool {
	s = strings.TrimSpace(s)
	return s == "2.1" || s == "2,1"
}

// isSummary knows the file of 32 named columns.
func isSummary(fields []string) bool {
	return sheet.NewHeader(fields).Has("Invoice Number", "Amount Due", "Billed Charge", "Invoice Section")
}
