package easypost

import (
	"io"
	"strings"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// PaymentLog is the dialect of the report payment_log: every movement of the wallet. It states no total; what
// moved in a day is taken for an invoice of that day.
type PaymentLog struct{}

var _ invoice.Dialect = PaymentLog{}

// Name is "easypost-payments".
func (PaymentLog) Name() string { return "easypost-payments" }

// Detect knows a report by names that only it has.
func (PaymentLog) Detect(head []byte) bool {
	return sheet.Head(head).Has("source_type", "target_type", "amount", "created_at")
}

// Read implements [invoice.Dialect].
func (PaymentLog) Read(r io.Reader, sink invoice.Sink) error {
	return readReport(r, sink, func(h *sheet.Header) (reader, []sheet.Col) {
		p := payment{
			created:  h.Need("created_at"),
			id:       h.Need("id"),
			status:   h.Need("status"),
			source:   h.Need("source_type"),
			target:   h.Need("target_type"),
			charge:   h.Optional("charge_type"),
			amount:   h.Need("amount"),
			tracking: h.Optional("tracking_code", "tracking_number", "tracking number"),
			shipment: h.Optional("shipment_id"),
			other:    h.Optional("other"),
		}
		return p.read, []sheet.Col{p.amount}
	})
}

// payment is where a report keeps what we read.
type payment struct {
	created, id, status, source, target, charge, amount, tracking, shipment, other sheet.Col
}

// read makes the line of a movement. Amounts bear no sign: money that leaves the wallet is charged, money that
// comes into it is given back. A payment that did not go through moves nothing, and is a line of nothing.
func (p payment) read(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	day := r.NeedDate(p.created, instants...)
	line := invoice.Line{
		Carrier:     invoiceCarrier,
		Account:     wallet,
		InvoiceNo:   "payments-" + day.String(),
		InvoiceDate: day,
		ShipDate:    day,
		LineNo:      r.NeedID(p.id),
		TrackingNo:  r.ID(p.tracking),
		Amount:      p.signed(r),
		Unstated:    true,
	}
	line.Text = strings.TrimSpace(r.Words(p.charge) + " " + r.Words(p.source) + " to " + r.Words(p.target))
	line.Kind, line.Correction = p.sort(r, line.TrackingNo != "" || r.ID(p.shipment) != "", line.Amount.Cents)
	switch status := strings.ToLower(r.NeedText(p.status)); status {
	case "complete", "creditable":
	case "pending", "failure":
		line.Amount.Cents = 0
		line.Text = status + " " + line.Text
	default:
		r.Complain(invoice.FieldUnreadable, "status", "status is none of pending, complete, failure, creditable")
	}
	return append(lines, line)
}

// signed is the amount as a charge: positive out of the wallet, which the report calls user, negative into it.
func (p payment) signed(r *sheet.Row) carrier.Money {
	amount := r.NeedMoney(p.amount, billedIn)
	out, in := r.NeedText(p.source) == "user", r.NeedText(p.target) == "user"
	switch {
	case amount.Cents < 0:
		r.Complain(invoice.FieldUnreadable, "amount", "amount has a sign, which this report does not write: fetch it again")
	case out == in:
		r.Complain(invoice.FieldUnreadable, "source_type",
			"source_type and target_type do not say whether money left the wallet or came into it")
	case in:
		amount.Cents = -amount.Cents
	}
	return amount
}

// sort says what a movement is for. A service_fee with a shipment is the purchase of its label; without, it is
// a fee. What is paid into the wallet or out of it to the bank is no cost: it is the invoice's, and no label's.
func (p payment) sort(r *sheet.Row, shipment bool, cents int64) (kind invoice.Kind, correction bool) {
	charge := strings.ToLower(r.Text(p.charge))
	switch {
	case strings.EqualFold(r.Text(p.other), "delta"):
		return invoice.Adjustment, true
	case (charge == "refund" || charge == "partial_refund") && cents <= 0:
		return invoice.VoidCredit, false
	case charge == "service_fee" && shipment:
		return invoice.Freight, false
	case charge == "insurance" && shipment:
		return invoice.Accessorial, false
	case (charge == "manual_credit" || charge == "manual_debit") && shipment:
		return invoice.Adjustment, true
	}
	switch charge {
	case "service_fee", "insurance", "manual_credit", "manual_debit", "recharge", "payment_refund",
		"payment_failure_deduction", "subscription":
		return invoice.InvoiceLevel, false
	}
	return invoice.Unknown, false
}
