// Package neutral reads the invoice format that is no carrier's: a CSV with named columns, for
// carriers without a dialect of their own and for everything that people convert by hand. A [Map] lets
// it read files whose columns bear other names.
//
// Every row ends as a line or as a rejection that names the row, the column and the cure. Nothing
// is guessed: no float, no repaired identifier, no date in two readings.
package neutral

import (
	"io"

	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// Name is what --format calls this dialect.
const Name = "neutral"

// Dialect is the neutral CSV.
type Dialect struct{}

var _ invoice.Dialect = Dialect{}

// Name is "neutral".
func (Dialect) Name() string { return Name }

// Detect looks for the header's own names.
func (Dialect) Detect(head []byte) bool {
	return sheet.Head(head).Has("invoice_no", "line_no", "invoice_total")
}

// Read implements [invoice.Dialect].
func (Dialect) Read(r io.Reader, sink invoice.Sink) error { return read(r, sink, Map{}) }

func read(r io.Reader, sink invoice.Sink, m Map) error {
	rows, h, err := sheet.OpenNamed(r)
	if err != nil {
		return err
	}
	c, err := readColumns(h, m)
	if err != nil {
		return err
	}
	if ignored := h.Ignored(); len(ignored) > 0 {
		sink.Ignored(ignored)
	}
	if err := rows.LearnMoney(c.amount, c.total); err != nil {
		return err
	}
	return rows.Each(sink, c.read)
}
