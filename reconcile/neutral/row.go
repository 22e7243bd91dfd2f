package neutral

import (
	"strings"

	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// columns are where a file keeps what we read.
type columns struct {
	invoiceNo, invoiceDate, carrier, account, currency, lineNo, kind,
	trackingNo, reference, shipDate, description, amount, total sheet.Col
}

func readColumns(h *sheet.Header) (columns, error) {
	c := columns{
		invoiceNo:   h.Need("invoice_no"),
		invoiceDate: h.Need("invoice_date"),
		carrier:     h.Need("carrier"),
		account:     h.Need("account"),
		currency:    h.Need("currency"),
		lineNo:      h.Need("line_no"),
		kind:        h.Need("kind"),
		trackingNo:  h.Need("tracking_no"),
		reference:   h.Optional("reference"),
		shipDate:    h.Optional("ship_date"),
		description: h.Optional("description"),
		amount:      h.Need("amount"),
		total:       h.Need("invoice_total"),
	}
	return c, h.Check()
}

const isoDate = "2006-01-02"

// read makes a line of one row, unless there is a complaint about it.
func (c columns) read(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	line := invoice.Line{
		InvoiceNo:   r.NeedID(c.invoiceNo),
		InvoiceDate: r.NeedDate(c.invoiceDate, isoDate),
		Carrier:     r.NeedID(c.carrier),
		Account:     r.NeedID(c.account),
		LineNo:      r.NeedID(c.lineNo),
		Kind:        c.readKind(r),
		TrackingNo:  r.ID(c.trackingNo),
		Reference:   r.ID(c.reference),
		ShipDate:    r.Date(c.shipDate, isoDate),
		Text:        r.Words(c.description),
	}
	currency := r.Currency(c.currency)
	line.Amount = r.NeedMoney(c.amount, currency)
	line.StatedCents = r.NeedMoney(c.total, currency).Cents
	if line.Kind == invoice.VoidCredit && line.Amount.Cents > 0 {
		r.Complain(invoice.FieldUnreadable, "amount",
			"a void_credit gives money back: its amount must be negative, or its kind is another")
	}
	return append(lines, line)
}

var kindNames = func() (names []string) {
	for _, k := range invoice.Kinds() {
		names = append(names, string(k))
	}
	return names
}()

func (c columns) readKind(r *sheet.Row) invoice.Kind {
	kind, ok := invoice.ParseKind(r.NeedText(c.kind))
	if !ok {
		r.Complain(invoice.FieldUnreadable, "kind", "kind must be one of "+strings.Join(kindNames, ", "))
	}
	return kind
}
