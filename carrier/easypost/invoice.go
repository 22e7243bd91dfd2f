package easypost

import (
	"io"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// invoiceCarrier is how labels and invoice lines name EasyPost. The carrier that an EasyPost report names beside
// it moved the parcel, but EasyPost sold the label.
const invoiceCarrier = "easypost"

// billedIn is the currency of EasyPost's wallet. Reports name none for what they charge.
const billedIn = "USD"

// ShipmentInvoices is the dialect of the report shipment_invoice: what carriers charged after the fact for labels
// that EasyPost itself bills. It states no total.
type ShipmentInvoices struct{}

var _ invoice.Dialect = ShipmentInvoices{}

// Name is "easypost-invoice".
func (ShipmentInvoices) Name() string { return "easypost-invoice" }

// Detect knows a report by names that only it has.
func (ShipmentInvoices) Detect(head []byte) bool {
	return sheet.Head(head).Has("shipment_id", "initially_paid_amount", "final_invoice_amount")
}

// Read implements [invoice.Dialect].
func (ShipmentInvoices) Read(r io.Reader, sink invoice.Sink) error {
	return readReport(r, sink, func(h *sheet.Header) (reader, []sheet.Col) {
		a := adjustment{
			shipment:  h.Need("shipment_id"),
			labelDate: h.Need("label_date"),
			tracking:  h.Need("tracking_code"),
			invoiceNo: h.Optional("carrier_invoice_id"),
			paid:      h.Need("initially_paid_amount"),
			final:     h.Need("final_invoice_amount"),
			amount:    h.Optional("adjustment_amount"),
			reason:    h.Optional("adjustment_reason"),
			currency:  h.Optional("quoted_currency"),
		}
		return a.read, []sheet.Col{a.paid, a.final, a.amount}
	})
}

// reader makes lines of a row.
type reader func(*sheet.Row, []invoice.Line) []invoice.Line

func readReport(r io.Reader, sink invoice.Sink, columns func(*sheet.Header) (reader, []sheet.Col)) error {
	rows, h, err := sheet.OpenNamed(r)
	if err != nil {
		return err
	}
	rows.Sign("$")
	read, amounts := columns(h)
	if err := h.Check(); err != nil {
		return err
	}
	if err := rows.LearnMoney(amounts...); err != nil {
		return err
	}
	return rows.Each(sink, read)
}

// adjustment is where a report keeps what we read.
type adjustment struct {
	shipment, labelDate, tracking, invoiceNo, paid, final, amount, reason, currency sheet.Col
}

// instants are the forms of EasyPost's times, which are UTC.
var instants = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05", "2006-01-02",
}

// read makes one line of a row: what the carrier took in the end, less what was paid at purchase.
func (a adjustment) read(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	currency := billedIn
	if r.Text(a.currency) != "" {
		currency = r.Currency(a.currency)
	}
	line := invoice.Line{
		Carrier:     invoiceCarrier,
		Account:     wallet,
		InvoiceDate: r.NeedDate(a.labelDate, instants...),
		LineNo:      r.NeedID(a.shipment),
		Kind:        invoice.Adjustment,
		Correction:  true,
		TrackingNo:  r.NeedID(a.tracking),
		Text:        "adjustment " + r.Words(a.reason),
		Unstated:    true,
	}
	line.ShipDate = line.InvoiceDate
	// The report has no number for what it lists together. A carrier's own is not always there.
	line.InvoiceNo = orElse(r.ID(a.invoiceNo), "adjustments-"+line.InvoiceDate.String())
	line.Amount = a.difference(r, currency)
	return append(lines, line)
}

// difference is what the adjustment costs. Where the report states it, it must be what its other two amounts say.
func (a adjustment) difference(r *sheet.Row, currency string) carrier.Money {
	paid, final := r.NeedMoney(a.paid, currency), r.NeedMoney(a.final, currency)
	difference := carrier.Money{Cents: final.Cents - paid.Cents, Currency: currency}
	if r.Text(a.amount) == "" {
		return difference
	}
	if stated := r.Money(a.amount, currency); stated != difference {
		r.Complain(invoice.FieldUnreadable, "adjustment_amount",
			"adjustment_amount is not final_invoice_amount less initially_paid_amount: ask EasyPost which of them holds")
	}
	return difference
}

// wallet is the account of all that these reports list: they name none, and money moves in the wallet only.
// Labels are found under it if the carrier's configuration calls its account so.
const wallet = "easypost"

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
