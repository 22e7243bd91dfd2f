package usps

import (
	"io"
	"strings"

	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// invoiceCarrier is how labels and invoice lines name the Postal Service.
const invoiceCarrier = "usps"

// Transactions is the dialect of the transactions that the Enterprise Payment System (EPS) exports: no invoice, but
// every movement of an account. What an account moved in a day is taken for an invoice of that day, which states no
// total. The withdrawal from the bank that paid for it is not: an export that is made before the withdrawal does
// not name it yet, and the same transaction would be on two invoices.
type Transactions struct{}

var _ invoice.Dialect = Transactions{}

// Name is "usps-eps".
func (Transactions) Name() string { return "usps-eps" }

// Detect knows a file by names that only it has.
func (Transactions) Detect(head []byte) bool {
	return sheet.Head(head).Has("EPS Transaction ID", "Transaction Type", "Transaction Amount")
}

// transactions is where a file keeps what we read.
type transactions struct {
	account, id, amount, date, kind, pic, reference1, reference2, dispute sheet.Col
}

// Read implements [invoice.Dialect].
func (Transactions) Read(r io.Reader, sink invoice.Sink) error {
	rows, h, err := sheet.OpenNamed(r)
	if err != nil {
		return err
	}
	t := transactions{
		account:    h.Need("EPS Account #", "EPS Account Number"),
		id:         h.Need("EPS Transaction ID"),
		amount:     h.Need("Transaction Amount"),
		date:       h.Need("Transaction Date/Time", "Transaction Date"),
		kind:       h.Need("Transaction Type"),
		pic:        h.Need("Package Identification Code (PIC)", "Package Identification Code", "PIC"),
		reference1: h.Optional("Cust Ref Num1"),
		reference2: h.Optional("Cust Ref Num2"),
		dispute:    h.Optional("Dispute ID"),
	}
	if err := h.Check(); err != nil {
		return err
	}
	rows.Sign("$")
	if err := rows.LearnMoney(t.amount); err != nil {
		return err
	}
	return rows.Each(sink, t.read)
}

// transactionTimes are the forms in which dates were seen or are likely; the month comes first.
var transactionTimes = []string{
	"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z07:00",
	"1/2/2006", "1/2/2006 15:04", "1/2/2006 15:04:05", "1/2/2006 3:04 PM", "1/2/2006 3:04:05 PM",
}

// read makes a line of a transaction.
func (t transactions) read(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	day := r.NeedDate(t.date, transactionTimes...)
	line := invoice.Line{
		Carrier:     invoiceCarrier,
		Account:     r.NeedID(t.account),
		InvoiceNo:   "transactions-" + day.String(),
		InvoiceDate: day,
		ShipDate:    day,
		LineNo:      r.NeedID(t.id),
		TrackingNo:  parcelNumber(r.ID(t.pic)),
		Reference:   r.OurReference(t.reference1, t.reference2),
		Text:        r.Words(t.kind),
		Amount:      r.NeedMoney(t.amount, "USD"),
		Unstated:    true,
	}
	sortTransaction(r, &line, r.ID(t.dispute) != "")
	return append(lines, line)
}

// sortTransaction says what a transaction is and which way its money goes. The type decides: refunds were seen with
// and without a minus, so that the sign proves nothing. Where the two disagree the line's text says so.
func sortTransaction(r *sheet.Row, line *invoice.Line, disputed bool) {
	words := strings.ToLower(line.Text)
	parcel := line.TrackingNo != ""
	switch {
	case words == "":
		r.Complain(invoice.FieldMissing, "Transaction Type", "Transaction Type is empty")
	case strings.Contains(words, "refund"):
		line.Kind = invoice.VoidCredit
		if line.Amount.Cents > 0 {
			line.Amount.Cents = -line.Amount.Cents
			line.Text += " (printed without a minus)"
		}
	case strings.Contains(words, "label purchase") && line.Amount.Cents < 0:
		r.Complain(invoice.FieldUnreadable, "Transaction Amount",
			"a purchase has a negative amount: ask the Postal Service which way the money went")
	case strings.Contains(words, "label purchase"):
		line.Kind = invoice.Freight
	case disputed, strings.Contains(words, "adjustment"), strings.Contains(words, "postage due"), strings.Contains(words, "correction"):
		line.Kind, line.Correction = invoice.Adjustment, true
	case strings.Contains(words, "scan form"), strings.Contains(words, "deposit"), strings.Contains(words, "transfer"), strings.Contains(words, "fee") && !parcel:
		line.Kind = invoice.InvoiceLevel
	default:
		line.Kind = invoice.Unknown
	}
}

// Lengths of a package's bar code: the number that people know, and what stands before it on the label, which is
// the application identifier 420 and the destination's ZIP code of five or nine digits.
const (
	picLength    = 22
	routedWithZ5 = 3 + 5 + picLength
	routedWithZ9 = 3 + 9 + picLength
)

// parcelNumber is the number of a package without the routing code that its bar code begins with.
func parcelNumber(pic string) string {
	routed := len(pic) == routedWithZ5 || len(pic) == routedWithZ9
	if routed && strings.HasPrefix(pic, "420") {
		return pic[len(pic)-picLength:]
	}
	return pic
}
