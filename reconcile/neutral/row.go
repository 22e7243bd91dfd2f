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

	// layout is how dates are written, as package time writes it.
	layout string
}

func readColumns(h *sheet.Header, m Map) (columns, error) {
	f := finder{h, m}
	c := columns{
		invoiceNo:   f.need("invoice_no"),
		invoiceDate: f.need("invoice_date"),
		carrier:     f.need("carrier"),
		account:     f.need("account"),
		currency:    f.need("currency"),
		lineNo:      f.needUnlessMapped("line_no"),
		kind:        f.need("kind"),
		trackingNo:  f.need("tracking_no"),
		reference:   f.optional("reference"),
		shipDate:    f.optional("ship_date"),
		description: f.optional("description"),
		amount:      f.need("amount"),
		total:       f.needUnlessMapped("invoice_total"),
		layout:      m.layout(),
	}
	return c, h.Check()
}

// read makes a line of one row, unless there is a complaint about it.
func (c columns) read(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	line := invoice.Line{
		InvoiceNo:   r.NeedID(c.invoiceNo),
		InvoiceDate: r.NeedDate(c.invoiceDate, c.layout),
		Carrier:     r.NeedID(c.carrier),
		Account:     r.NeedID(c.account),
		Kind:        c.readKind(r),
		TrackingNo:  r.ID(c.trackingNo),
		Reference:   r.OurReference(c.reference),
		ShipDate:    r.Date(c.shipDate, c.layout),
		Text:        r.Words(c.description),
	}
	line.LineNo = c.readLineNo(r, line.Kind)
	currency := r.Currency(c.currency)
	line.Amount = r.NeedMoney(c.amount, currency)
	if line.Unstated = !c.total.Present(); !line.Unstated {
		line.StatedCents = r.NeedMoney(c.total, currency).Cents
	}
	if line.Kind == invoice.VoidCredit && line.Amount.Cents > 0 {
		r.Complain(invoice.FieldUnreadable, "amount",
			"a void_credit gives money back: its amount must be negative, or its kind is another")
	}
	return append(lines, line)
}

// readLineNo is the line's number. In a mapped file without one its kind stands in: a parcel has few lines of one
// kind, and those are counted.
func (c columns) readLineNo(r *sheet.Row, kind invoice.Kind) string {
	if !c.lineNo.Present() {
		return string(kind)
	}
	return r.NeedID(c.lineNo)
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
