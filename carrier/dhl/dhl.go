// Package dhl reads the invoices of DHL Express: the CSV of MyBill, which has a row for each invoice and one for
// each of its shipments. Labels are not bought at DHL directly, so there is no adapter.
//
// Column names come from importers that are public; DHL lets customers choose and order columns, so they are
// read by name. docs/invoice-formats.md says of each fact how certain it is.
package dhl

import (
	"fmt"
	"io"
	"strings"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// Carrier is how labels and invoice lines name DHL.
const Carrier = "dhl"

// Express is the dialect of MyBill's files.
type Express struct{}

var _ invoice.Dialect = Express{}

// Name is "dhl-express".
func (Express) Name() string { return "dhl-express" }

// Detect knows a file by names that only it has.
func (Express) Detect(head []byte) bool {
	return sheet.Head(head).Has("Line Type", "Invoice Number", "Shipment Number", "Weight Charge")
}

// groups is how many groups of an extra charge a row may have; files with customs data have more than nine.
const groups = 20

// columns are where a file keeps what we read.
type columns struct {
	lineType, originalInvoiceNo, invoiceNo, invoiceType, invoiceDate, account, shipmentNo, shipmentDate, product,
	currency, total, tax, fee, weightCharge sheet.Col
	references []sheet.Col
	discounts  []sheet.Col
	others     []sheet.Pair
	extras     []extra
}

// extra is where one group of an extra charge stands.
type extra struct{ code, name, charge, tax, discount, total sheet.Col }

func readColumns(h *sheet.Header) columns {
	c := columns{
		lineType:          h.Need("Line Type"),
		originalInvoiceNo: h.Optional("Original Invoice Number"),
		invoiceNo:         h.Need("Invoice Number"),
		invoiceType:       h.Optional("Invoice Type"),
		invoiceDate:       h.Need("Invoice Date"),
		account:           h.Need("Billing Account"),
		shipmentNo:        h.Need("Shipment Number"),
		shipmentDate:      h.Optional("Shipment Date"),
		product:           h.Optional("Product Name"),
		currency:          h.Need("Currency"),
		total:             h.Need("Total amount (incl. VAT)", "Total amount(incl.VAT)"),
		tax:               h.Need("Total Tax"),
		fee:               h.Optional("Invoice Fee"),
		weightCharge:      h.Need("Weight Charge"),
	}
	for i := 1; i <= 3; i++ {
		c.references = append(c.references, h.Optional(fmt.Sprintf("Shipment Reference %d", i)))
		c.discounts = append(c.discounts, h.Optional(fmt.Sprintf("Discount %d Amount", i)))
		other := fmt.Sprintf("Other Charges %d", i)
		c.others = append(c.others, sheet.Pair{Label: h.Optional(other), Amount: h.Optional(other + " Amount")})
	}
	for i := 1; i <= groups; i++ {
		xc := fmt.Sprintf("XC%d ", i)
		c.extras = append(c.extras, extra{
			h.Optional(xc + "Code"), h.Optional(xc + "Name"), h.Optional(xc + "Charge"), h.Optional(xc + "Tax"),
			h.Optional(xc + "Discount"), h.Optional(xc + "Total"),
		})
	}
	return c
}

// Read implements [invoice.Dialect].
func (Express) Read(r io.Reader, sink invoice.Sink) error {
	rows, h, err := sheet.OpenNamed(r)
	if err != nil {
		return err
	}
	c := readColumns(h)
	if err := h.Check(); err != nil {
		return err
	}
	if err := rows.LearnMoney(c.amounts()...); err != nil {
		return err
	}
	b := book{columns: c, bills: map[billKey]*bill{}}
	if err := rows.Each(sink, b.read); err != nil {
		return err
	}
	return b.close(sink)
}

func (c columns) amounts() []sheet.Col {
	amounts := append([]sheet.Col{c.total, c.tax, c.fee, c.weightCharge}, c.discounts...)
	for _, x := range c.extras {
		amounts = append(amounts, x.charge, x.total)
	}
	return amounts
}

// billKey is what makes an invoice one.
type billKey struct{ account, invoiceNo, currency string }

// bill is an invoice whose row was read, and what its shipments add up to so far.
type bill struct {
	line      invoice.Line
	fee       int64
	sum       int64
	shipments int

	// absent is true for an invoice whose shipments came without or before its row.
	absent bool
}

// book keeps the invoices of a file and no lines.
type book struct {
	columns
	bills map[billKey]*bill
	order []*bill
}

// read takes a row for the total of an invoice or for the charges of a shipment.
func (b *book) read(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	kind := strings.ToUpper(r.NeedText(b.lineType))
	if kind != "I" && kind != "S" {
		r.Complain(invoice.FieldUnreadable, "Line Type", "Line Type must be I for an invoice or S for a shipment")
	}
	line := invoice.Line{
		Carrier:           Carrier,
		Account:           r.NeedID(b.account),
		InvoiceNo:         r.NeedID(b.invoiceNo),
		InvoiceDate:       r.NeedDate(b.invoiceDate, "20060102", "2006-01-02"),
		OriginalInvoiceNo: r.ID(b.originalInvoiceNo),
		Amount:            carrier.Money{Currency: r.Currency(b.currency)},
	}
	if line.OriginalInvoiceNo == line.InvoiceNo {
		line.OriginalInvoiceNo = ""
	}
	total := r.NeedMoney(b.total, line.Amount.Currency)
	line.Correction = isCreditNote(r.Text(b.invoiceType))
	key := billKey{line.Account, line.InvoiceNo, line.Amount.Currency}
	if kind == "I" {
		b.open(r, key, line, total.Cents)
		return lines
	}
	return append(lines, b.shipment(r, key, line, total)...)
}

// isCreditNote knows the types of invoices that give back.
func isCreditNote(invoiceType string) bool {
	return strings.HasPrefix(strings.ToUpper(invoiceType), "CN") || strings.Contains(strings.ToLower(invoiceType), "credit")
}

// open notes an invoice's total.
func (b *book) open(r *sheet.Row, key billKey, line invoice.Line, total int64) {
	fee := r.Money(b.fee, key.currency).Cents
	if b.bills[key] != nil {
		r.Complain(invoice.RowBroken, "Line Type",
			"the invoice has a second row, or its row comes after its shipments: fetch the file again and do not sort it")
	}
	if r.Rejected() {
		return
	}
	line.StatedCents = total
	line.Source.Row = r.No
	bill := &bill{line: line, fee: fee}
	b.bills[key] = bill
	b.order = append(b.order, bill)
}

// close accounts for what an invoice's total says beyond its shipments: the fee for the invoice itself, or the minor
// unit that rounding each shipment makes. More than that is no rounding, and the invoice does not foot.
func (b *book) close(sink invoice.Sink) error {
	for _, bill := range b.order {
		line := bill.line
		line.Correction = false
		line.Amount.Cents = line.StatedCents - bill.sum
		switch rest := line.Amount.Cents; {
		case rest == 0 && bill.shipments > 0:
			continue
		case bill.shipments == 0:
			line.Kind, line.LineNo, line.Text = invoice.InvoiceLevel, "invoice", "Invoice without shipments"
		case rest == bill.fee && bill.fee != 0:
			line.Kind, line.LineNo, line.Text = invoice.InvoiceLevel, "fee", "Invoice fee"
		case rest == 1 || rest == -1:
			line.Kind, line.LineNo, line.Text = invoice.Rounding, "rounding", "Rounding"
		default:
			continue
		}
		if err := sink.Line(line); err != nil {
			return err
		}
	}
	return nil
}
