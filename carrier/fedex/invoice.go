package fedex

import (
	"io"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// invoiceCarrier is how labels and invoice lines name FedEx.
const invoiceCarrier = "fedex"

// BillingOnline is the dialect of the files of FedEx Billing Online in the United States: a header, one row
// for each tracking number of an invoice, and in it up to 25 or 51 pairs of a charge's name and its amount.
type BillingOnline struct{}

// BillingOnlineIntl is the dialect of the files of FedEx Billing Online elsewhere: the same idea with other
// names, in which amounts may include value added tax.
type BillingOnlineIntl struct{}

var (
	_ invoice.Dialect = BillingOnline{}
	_ invoice.Dialect = BillingOnlineIntl{}
)

// Name is "fedex".
func (BillingOnline) Name() string { return "fedex" }

// Detect knows a file by names that only it has.
func (BillingOnline) Detect(head []byte) bool {
	return sheet.Head(head).Has("Express or Ground Tracking ID", "Original Amount Due", "Net Charge Amount")
}

// Read implements [invoice.Dialect].
func (BillingOnline) Read(r io.Reader, sink invoice.Sink) error {
	return readBilling(r, sink, unitedStates)
}

// Name is "fedex-intl".
func (BillingOnlineIntl) Name() string { return "fedex-intl" }

// Detect knows a file by names that only it has.
func (BillingOnlineIntl) Detect(head []byte) bool {
	return sheet.Head(head).Has("Air Waybill Number", "Air Waybill Total Amount")
}

// Read implements [invoice.Dialect].
func (BillingOnlineIntl) Read(r io.Reader, sink invoice.Sink) error {
	return readBilling(r, sink, elsewhere)
}

// layouts are the forms of dates that are documented or were seen. Those with slashes put the month first;
// files from elsewhere are only taken with dates that can be read in one way.
var (
	layoutsUS   = []string{"20060102", "2006-01-02", "02-Jan-2006", "2-Jan-2006", "1/2/2006", "1/2/06"}
	layoutsIntl = []string{"20060102", "2006-01-02", "02-Jan-2006", "2-Jan-2006"}
)

// billing is where a file keeps what we read, whichever of the two it is.
type billing struct {
	layouts []string

	account, invoiceNo, invoiceDate, currency, total, prefix, trackingNo, net, transportation,
	service, ground, shipDate, master, crossRef, crossRefPrefix sheet.Col
	references []sheet.Col
	pairs      []sheet.Pair
}

func unitedStates(h *sheet.Header) billing {
	return billing{
		layouts:        layoutsUS,
		account:        h.Need("Bill to Account Number"),
		invoiceNo:      h.Need("Invoice Number"),
		invoiceDate:    h.Need("Invoice Date"),
		currency:       h.Optional("Currency Code", "Currency"),
		total:          h.Need("Original Amount Due"),
		prefix:         h.Optional("Ground Tracking ID Prefix"),
		trackingNo:     h.Need("Express or Ground Tracking ID"),
		net:            h.Need("Net Charge Amount"),
		transportation: h.Optional("Transportation Charge Amount"),
		service:        h.Optional("Service Type"),
		ground:         h.Optional("Ground Service"),
		shipDate:       h.Optional("Shipment Date"),
		master:         h.Optional("TDMasterTrackingID", "MPS Package ID"),
		crossRef:       h.Optional("CrossRefTrackingID"),
		crossRefPrefix: h.Optional("CrossRefTrackingID Prefix"),
		references: []sheet.Col{
			h.Optional("Original Customer Reference"), h.Optional("Original Ref#2"), h.Optional("Original Ref#3/PO Number"),
			h.Optional("Original Department Reference Description"), h.Optional("Updated Customer Reference"),
			h.Optional("Updated Ref#2"), h.Optional("Updated Ref#3/PO Number"),
		},
		pairs: h.Pairs("Tracking ID Charge Description", "Tracking ID Charge Amount"),
	}
}

func elsewhere(h *sheet.Header) billing {
	return billing{
		layouts:     layoutsIntl,
		account:     h.Need("Bill to Account Number"),
		invoiceNo:   h.Need("FedEx Invoice Number"),
		invoiceDate: h.Need("Invoice Date"),
		currency:    h.Need("Bill to Currency"),
		total:       h.Need("Original Amount Due"),
		trackingNo:  h.Need("Air Waybill Number"),
		net:         h.Need("Air Waybill Total Amount"),
		service:     h.Optional("Service Type", "Service"),
		shipDate:    h.Optional("Ship Date", "Shipment Date"),
		master:      h.Optional("Master Air Waybill Number"),
		references: []sheet.Col{
			h.Optional("Shipper Reference 1"), h.Optional("Shipper Reference 2"), h.Optional("Shipper Reference 3"),
		},
		pairs: h.Pairs("Air Waybill Charge Label", "Air Waybill Charge Amount"),
	}
}

func readBilling(r io.Reader, sink invoice.Sink, columns func(*sheet.Header) billing) error {
	rows, h, err := sheet.OpenNamed(r)
	if err != nil {
		return err
	}
	b := columns(h)
	if err := h.Check(); err != nil {
		return err
	}
	if len(b.pairs) == 0 {
		return &invoice.FileError{
			Fault:  invoice.ColumnMissing,
			Advice: "the header has no pair of a charge's description and its amount: fetch the file with all columns",
		}
	}
	if err := rows.LearnMoney(b.amounts()...); err != nil {
		return err
	}
	return rows.Each(sink, b.read)
}

func (b billing) amounts() []sheet.Col {
	columns := []sheet.Col{b.total, b.net, b.transportation}
	for _, p := range b.pairs {
		columns = append(columns, p.Amount)
	}
	return columns
}

// read makes the lines of a row: one for each charge, which add up to the row's net amount.
func (b billing) read(r *sheet.Row, lines []invoice.Line) []invoice.Line {
	currency := "USD"
	if b.currency.Present() {
		currency = r.Currency(b.currency)
	}
	base := invoice.Line{
		Carrier:          invoiceCarrier,
		Account:          r.NeedID(b.account),
		InvoiceNo:        r.NeedID(b.invoiceNo),
		InvoiceDate:      r.NeedDate(b.invoiceDate, b.layouts...),
		TrackingNo:       r.ID(b.prefix) + r.ID(b.trackingNo),
		MasterTrackingNo: r.ID(b.master),
		Reference:        r.OurReference(b.references...),
		ShipDate:         r.Date(b.shipDate, b.layouts...),
		StatedCents:      r.NeedMoney(b.total, currency).Cents,
	}
	if other := r.ID(b.crossRefPrefix) + r.ID(b.crossRef); other != base.TrackingNo {
		base.OriginalTrackingNo = other
	}
	if base.MasterTrackingNo == base.TrackingNo {
		base.MasterTrackingNo = ""
	}
	net := r.NeedMoney(b.net, currency)
	return append(lines, b.breakDown(r, base, net)...)
}

// breakDown makes the lines of a row's charges. What the charges say and the net amount does not, or the other
// way round, is a line of its own: the net amount is what is paid. Some files have the carriage among the pairs and
// some beside them, so the transportation charge is a line only where the row adds up better with it.
func (b billing) breakDown(r *sheet.Row, base invoice.Line, net carrier.Money) []invoice.Line {
	var lines []invoice.Line
	sum := int64(0)
	for _, p := range b.pairs {
		label, amount := r.Words(p.Label), r.Money(p.Amount, net.Currency)
		if isSubtotal(label) || label == "" && amount.Cents == 0 {
			continue
		}
		lines = append(lines, chargeLine(base, label, amount))
		sum += amount.Cents
	}
	if transportation := r.Money(b.transportation, net.Currency); transportation.Cents != 0 && sum != net.Cents {
		service := r.Words(b.service)
		if service == "" {
			service = r.Words(b.ground)
		}
		line := chargeLine(base, "Transportation Charge", transportation)
		line.Text = "Transportation Charge " + service
		if len(lines) == 0 || abs(net.Cents-sum-transportation.Cents) < abs(net.Cents-sum) {
			lines = append(lines, line)
			sum += transportation.Cents
		}
	}
	switch rest := (carrier.Money{Cents: net.Cents - sum, Currency: net.Currency}); {
	case len(lines) == 0:
		return append(lines, chargeLine(base, "Transportation Charge", rest))
	case rest.Cents != 0:
		return append(lines, chargeLine(base, "Not itemised", rest))
	}
	return lines
}

// chargeLine is the line of one charge of a row.
func chargeLine(base invoice.Line, label string, amount carrier.Money) invoice.Line {
	base.Text = label
	base.LineNo = lineName(label)
	base.Amount = amount
	base.Kind, base.Correction = sortCharge(label, amount.Cents, base.TrackingNo != "" || base.MasterTrackingNo != "")
	return base
}

func abs(n int64) int64 { return max(n, -n) }
