package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"waybill/reconcile/invoice"
)

// batchBytes is how much of the lines is held in memory on its way to the database, twice: while one
// batch is copied the next is read.
const batchBytes = 1 << 20

// copier brings lines into the database while the next are read. Nothing else may use the connection
// before wait has returned.
type copier struct {
	conn *pgx.Conn
	// batch is being filled; spare is the one before, which is on its way while done is not nil.
	batch, spare []byte
	done         chan error
}

// copyLines is the table's columns in the order in which add writes them.
const copyLines = `COPY staged_lines (
		file_no, row_no, bill_no, account, invoice_no, invoice_date, line_no, kind, correction, informative,
		tracking_no, master_no, original_no, reference, ship_date, charge_text, cents, currency, stated_cents
	) FROM STDIN`

// add takes a line. An error may be that of an earlier batch.
func (c *copier) add(ctx context.Context, file int, bill int64, l invoice.Line) error {
	r := copyRow(c.batch)
	r = r.number(int64(file)).number(int64(l.Source.Row)).number(bill)
	r = r.text(l.Account).text(l.InvoiceNo).number(int64(l.InvoiceDate)).text(l.LineNo).text(string(l.Kind))
	r = r.truth(l.Correction).truth(l.Informative)
	r = r.text(l.TrackingNo).text(l.MasterTrackingNo).text(l.OriginalTrackingNo).text(l.Reference)
	r = r.number(int64(l.ShipDate)).text(l.Text).number(l.Amount.Cents).text(l.Amount.Currency).number(l.StatedCents)
	r[len(r)-1] = '\n'
	if c.batch = r; len(c.batch) < batchBytes {
		return nil
	}
	return c.send(ctx)
}

// send puts the batch on its way, once the one before has arrived.
func (c *copier) send(ctx context.Context) error {
	if err := c.wait(); err != nil || len(c.batch) == 0 {
		return err
	}
	done, batch := make(chan error, 1), c.batch
	go func() {
		_, err := c.conn.PgConn().CopyFrom(ctx, bytes.NewReader(batch), copyLines)
		done <- err
	}()
	c.batch, c.spare, c.done = c.spare[:0], batch, done
	return nil
}

// flush brings everything into the database that was added.
func (c *copier) flush(ctx context.Context) error {
	if err := c.send(ctx); err != nil {
		return err
	}
	return c.wait()
}

// wait ends when nothing is on its way any more.
func (c *copier) wait() error {
	if c.done == nil {
		return nil
	}
	err := <-c.done
	c.done = nil
	if err != nil {
		return fmt.Errorf("copying lines: %w", err)
	}
	return nil
}

// copyRow is rows in the text format of COPY. Each field ends in a tab, the last in a line feed.
type copyRow []byte

func (r copyRow) number(n int64) copyRow { return append(strconv.AppendInt(r, n, 10), '\t') }

func (r copyRow) truth(b bool) copyRow {
	if b {
		return append(r, "t\t"...)
	}
	return append(r, "f\t"...)
}

// escapes are the characters that the format gives a meaning to.
var escapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

func (r copyRow) text(s string) copyRow {
	if strings.ContainsAny(s, "\\\t\n\r") {
		s = escapes.Replace(s)
	}
	return append(append(r, s...), '\t')
}
