// Package invoicegen makes up a truth of labels, writes from it the invoice files that carriers would
// send, with faults planted in them, and says which findings must come out.
//
// It is the other side of a proof: it knows what is in the files because it put it there. What it
// expects follows from what carriers do and from what it planted, never from how files are read or
// lines are judged, and it shares no code with either. The same options give the same bytes.
//
// Names and addresses in the files are made up and easy to find again: no output may contain them.
package invoicegen

import (
	"math/rand/v2"
	"time"

	"waybill/carrier"
)

// Dialect is a format that invoices come in.
type Dialect string

// The formats, as `reconcile run --format` calls them.
const (
	Neutral   Dialect = "neutral"
	UPS       Dialect = "ups"
	FedEx     Dialect = "fedex"
	FedExIntl Dialect = "fedex-intl"
	DHL       Dialect = "dhl-express"
	USPS      Dialect = "usps-eps"
	// EasyPostInvoice and EasyPostLog are reports of a wallet: one of adjustments, one of payments.
	EasyPostInvoice Dialect = "easypost-invoice"
	EasyPostLog     Dialect = "easypost-payments"
)

// Dialects are all formats.
func Dialects() []Dialect {
	return []Dialect{Neutral, UPS, FedEx, FedExIntl, DHL, USPS, EasyPostInvoice, EasyPostLog}
}

// Carrier is the name that labels and lines of a format bear.
func (d Dialect) Carrier() string {
	switch d {
	case UPS:
		return "ups"
	case FedEx, FedExIntl:
		return "fedex"
	case DHL:
		return "dhl"
	case USPS:
		return "usps"
	case EasyPostInvoice, EasyPostLog:
		return "easypost"
	default:
		return "sim"
	}
}

// Options say which world to make.
type Options struct {
	// Seed decides everything that is left to chance.
	Seed uint64

	// Slot tells worlds apart that live in one database: accounts, orders and tracking numbers
	// follow from it. 0 to 9999.
	Slot int

	Dialect Dialect

	// Workbooks lets some worlds be written as XLSX, where the carrier offers that.
	Workbooks bool

	// Labels is how many fates are drawn; 12 if it is 0.
	Labels int

	// Plants are the fates to draw from, each at least once while there are labels. None means all
	// that the dialect can express.
	Plants []Plant
}

// Label is one label of the truth: what was bought and what became of it.
type Label struct {
	Carrier        string
	Account        string
	TrackingNo     string
	Reference      string
	CarrierLabelID string
	OrderID        int64
	ParcelNo       int32
	Version        int32
	IdempotencyKey string
	Cost           carrier.Money
	BoughtAt       time.Time

	// VoidedAt is zero for a label that is not void.
	VoidedAt time.Time

	// InDoubt is true for a purchase that we do not know the end of: there is an intent and no label.
	InDoubt bool
}

// Finding is one thing that must come out. Money of findings that say the same of the same thing is
// added up: whether a reader reports three lines or their sum is its own affair.
type Finding struct {
	Kind       string
	Account    string
	InvoiceNo  string
	TrackingNo string

	// Difference is what is disputed: positive is to claim, negative was not asked for.
	Difference carrier.Money

	// File is set for findings about rows that cannot be read, Rows is how many of them.
	File string
	Rows int

	// Plant is what caused it.
	Plant Plant
}

// File is a file as it lies in the folder.
type File struct {
	Name    string
	Content []byte
}

// World is a truth, its files, and what must be found in them.
type World struct {
	Options Options

	// AsOf is the day as of which everything is judged.
	AsOf time.Time

	Labels   []Label
	Invoices []Invoice
	Files    []File
	Findings []Finding

	// Planted lists the fates that were drawn, in order.
	Planted []Plant

	// Canaries are the names and streets that stand in the files and may stand nowhere else.
	Canaries []string
}

// AsOf is the day as of which every world is judged; the labels were bought months before it.
var asOf = time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC)

// monday is the day of the first weekly invoice.
var monday = time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC)

// defaultLabels is how many labels a world has: enough for several fates to meet on one invoice.
const defaultLabels = 12

// seedStream tells this generator's numbers apart from another's of the same seed.
const seedStream = 0x77617962696c6c

// New makes the world that the options describe.
func New(o Options) World {
	if o.Labels == 0 {
		o.Labels = defaultLabels
	}
	b := &builder{
		World:    World{Options: o, AsOf: asOf},
		chance:   rand.New(rand.NewPCG(o.Seed, seedStream)), //nolint:gosec // G404: it must be seen again.
		invoices: make(map[invoiceKey]*Invoice),
	}
	b.style = b.drawStyle()
	b.accounts = b.drawAccounts()
	for _, p := range b.fates() {
		b.Planted = append(b.Planted, p)
		b.plant = p
		plants[p].sow(b)
	}
	b.close()
	b.Files = b.write()
	return b.World
}
