package ups

import (
	"strings"

	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// Where the columns stand, counted from 1 as UPS's dictionary does.
const (
	accountAt        = 3
	invoiceNumberAt  = 6
	invoiceAmountAt  = 11
	trackingNumberAt = 21
	netAmountAt      = 53

	// leastFields is up to where a row must reach. Empty fields at its end get lost on the way.
	leastFields = netAmountAt
)

var (
	version             = sheet.At(1, "version")
	recipientNumber     = sheet.At(2, "recipient number")
	accountNumber       = sheet.At(accountAt, "account number")
	invoiceDate         = sheet.At(5, "invoice date")
	invoiceNumber       = sheet.At(invoiceNumberAt, "invoice number")
	invoiceCurrency     = sheet.At(10, "invoice currency code")
	invoiceAmount       = sheet.At(invoiceAmountAt, "invoice amount")
	transactionDate     = sheet.At(12, "transaction date")
	leadShipmentNumber  = sheet.At(14, "lead shipment number")
	shipmentReference1  = sheet.At(16, "shipment reference number 1")
	shipmentReference2  = sheet.At(17, "shipment reference number 2")
	trackingNumber      = sheet.At(trackingNumberAt, "tracking number")
	packageReference1   = sheet.At(22, "package reference number 1")
	packageReference2   = sheet.At(23, "package reference number 2")
	packageReference3   = sheet.At(24, "package reference number 3")
	packageReference4   = sheet.At(25, "package reference number 4")
	packageReference5   = sheet.At(26, "package reference number 5")
	categoryCode        = sheet.At(35, "charge category code")
	categoryDetailCode  = sheet.At(36, "charge category detail code")
	classificationCode  = sheet.At(44, "charge classification code")
	descriptionCode     = sheet.At(45, "charge description code")
	description         = sheet.At(46, "charge description")
	transactionCurrency = sheet.At(51, "transaction currency code")
	netAmount           = sheet.At(netAmountAt, "net amount")
	originalTracking    = sheet.At(201, "original tracking number")
)

// readRow makes a line of a row, unless there is a complaint about it.
func readRow(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	if !isVersion(r.Text(version)) {
		r.Complain(invoice.RowBroken, "version", "the row is not of version 2.1, or its fields have slipped: fetch the file again")
	}
	line := invoice.Line{
		Carrier:            Carrier,
		Account:            account(r),
		InvoiceNo:          r.NeedID(invoiceNumber),
		InvoiceDate:        r.Slashed(invoiceDate),
		TrackingNo:         r.ID(trackingNumber),
		MasterTrackingNo:   r.ID(leadShipmentNumber),
		OriginalTrackingNo: r.ID(originalTracking),
		Reference: r.OurReference(shipmentReference1, shipmentReference2, packageReference1, packageReference2,
			packageReference3, packageReference4, packageReference5),
		ShipDate: r.Slashed(transactionDate),
		Text:     r.Words(description),
	}
	if line.InvoiceDate == 0 {
		r.Complain(invoice.FieldMissing, "invoice date", "invoice date is empty")
	}
	if line.MasterTrackingNo == line.TrackingNo {
		line.MasterTrackingNo = ""
	}
	readAmounts(r, &line)
	c := readCharge(r)
	c.sort(&line)
	line.LineNo = c.name()
	return append(lines, line)
}

// account is the number that pays. Where it is missing, the number that the invoice went to is it.
func account(r *sheet.Row) string {
	if id := r.ID(accountNumber); id != "" {
		return id
	}
	return r.NeedID(recipientNumber)
}

// readAmounts reads what the row charges and what the invoice says in all. A row in another currency than the
// invoice's total has no total to be held against.
func readAmounts(r *sheet.Row, line *invoice.Line) {
	total := r.NeedMoney(invoiceAmount, r.Currency(invoiceCurrency))
	currency := total.Currency
	if r.Text(transactionCurrency) != "" {
		currency = r.Currency(transactionCurrency)
	}
	line.Amount = r.NeedMoney(netAmount, currency)
	line.StatedCents = total.Cents
	if currency != total.Currency {
		line.StatedCents, line.Unstated = 0, true
	}
}

func readCharge(r *sheet.Row) charge {
	return charge{
		category: strings.ToUpper(r.ID(categoryCode)),
		detail:   strings.ToUpper(r.ID(categoryDetailCode)),
		class:    strings.ToUpper(r.ID(classificationCode)),
		code:     strings.ToUpper(r.ID(descriptionCode)),
	}
}
