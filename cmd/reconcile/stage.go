package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// makeRoom lets the run's connection use more of the server's memory than a request's does, unless it may
// already: with Postgres' defaults, made for many connections, a million lines are sorted and joined on disk.
// It compiles no queries either: for each that takes long enough to be compiled that is most of the time.
func makeRoom(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		SELECT set_config(name, bytes, false)
		FROM (VALUES ('work_mem', '128MB'), ('temp_buffers', '64MB')) AS room (name, bytes)
		WHERE pg_size_bytes(current_setting(name)) < pg_size_bytes(bytes)
		UNION ALL
		SELECT set_config('jit', 'off', false)`)
	if err != nil {
		return fmt.Errorf("asking for memory to sort in: %w", err)
	}
	return nil
}

// stageTable makes the table that lines are staged in. The database sorts and joins a million of
// them on disk where we would have to hold them. Temporary: no other session sees it, nothing of
// it is logged, and it goes with the connection.
const stageTable = `
	CREATE TEMPORARY TABLE staged_lines (
		file_no       integer NOT NULL,
		row_no        integer NOT NULL,
		bill_no       bigint NOT NULL,
		account       text NOT NULL,
		invoice_no    text NOT NULL,
		invoice_date  integer NOT NULL,
		line_no       text NOT NULL,
		kind          text NOT NULL,
		correction    boolean NOT NULL,
		informative   boolean NOT NULL,
		tracking_no   text NOT NULL,
		master_no     text NOT NULL,
		original_no   text NOT NULL,
		reference     text NOT NULL,
		ship_date     integer NOT NULL,
		charge_text   text NOT NULL,
		cents         bigint NOT NULL,
		currency      text NOT NULL,
		stated_cents  bigint NOT NULL
	)`

// billTable tells what bill each line is on: an invoice in one currency as one file prints it. Bills of
// earlier runs are numbered below zero.
const billTable = `
	CREATE TEMPORARY TABLE staged_bills (
		bill_no    bigint NOT NULL,
		account    text NOT NULL,
		invoice_no text NOT NULL,
		currency   text NOT NULL
	)`

// stage brings the lines of all files into the database, and sets aside the copies of invoices
// that do not count.
func (r *reconciliation) stage(ctx context.Context) error {
	r.ledger.AllowRounding(r.settings.carrier, r.settings.rules.RoundingMinor)
	for _, table := range []string{stageTable, billTable} {
		if _, err := r.conn.Exec(ctx, table); err != nil {
			return fmt.Errorf("making the tables that lines are staged in: %w", err)
		}
	}
	var bytes int64
	for _, f := range r.files {
		if f.refused == nil {
			bytes += f.bytes
		}
	}
	r.progress.BeginReading("reading", bytes)
	defer r.progress.End()
	for number, f := range r.files {
		if r.state != nil && r.state.seen[seenFile{f.name, f.sha256}] {
			r.ledger.Seen(number)
		}
		if err := r.stageFile(ctx, number, f); err != nil {
			return err
		}
	}
	aside, findings := r.ledger.Settle()
	if err := r.setAside(ctx, aside); err != nil {
		return err
	}
	for _, f := range findings {
		if err := r.find(f); err != nil {
			return err
		}
	}
	if err := r.stageStored(ctx); err != nil {
		return err
	}
	if err := r.stageBills(ctx); err != nil {
		return err
	}
	// Without statistics the planner takes a table for small.
	if _, err := r.conn.Exec(ctx, `ANALYZE staged_lines, staged_bills`); err != nil {
		return fmt.Errorf("counting the staged lines: %w", err)
	}
	return r.stageShipments(ctx)
}

// stageBills says what the numbers of bills stand for.
func (r *reconciliation) stageBills(ctx context.Context) error {
	rows := make([][]any, 0, len(r.bills))
	for bill, number := range r.bills {
		rows = append(rows, []any{number, bill.Account, bill.InvoiceNo, bill.Currency})
	}
	if _, err := r.conn.CopyFrom(ctx, pgx.Identifier{"staged_bills"},
		[]string{"bill_no", "account", "invoice_no", "currency"}, pgx.CopyFromRows(rows)); err != nil {
		return fmt.Errorf("staging bills: %w", err)
	}
	if _, err := r.conn.Exec(ctx, `
		INSERT INTO staged_bills
		SELECT DISTINCT bill_no, account, invoice_no, currency FROM staged_lines WHERE bill_no < 0`); err != nil {
		return fmt.Errorf("staging bills of earlier runs: %w", err)
	}
	return nil
}

// setAside takes back the lines that are not judged.
func (r *reconciliation) setAside(ctx context.Context, aside []reconcile.SetAside) error {
	var files []int
	var accounts, numbers, currencies []string
	var informative []bool
	for _, a := range aside {
		files = append(files, a.File)
		accounts = append(accounts, a.Account)
		numbers = append(numbers, a.InvoiceNo)
		currencies = append(currencies, a.Currency)
		informative = append(informative, a.Informative)
	}
	if _, err := r.conn.Exec(ctx, `
		DELETE FROM staged_lines AS s
		USING unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::boolean[])
			AS a (file_no, account, invoice_no, currency, informative)
		WHERE s.file_no = a.file_no
			AND s.account = a.account
			AND s.invoice_no = a.invoice_no
			AND s.currency = a.currency
			AND (s.informative OR NOT a.informative)`,
		files, accounts, numbers, currencies, informative); err != nil {
		return fmt.Errorf("setting aside %d copies of invoices: %w", len(aside), err)
	}
	return nil
}

// stageFile stages one file. A file that breaks off keeps the lines read before, and its finding
// says that they are not all.
func (r *reconciliation) stageFile(ctx context.Context, number int, f *inputFile) error {
	if f.refused == nil {
		s := &stager{reconciliation: r, ctx: ctx, number: number, file: f, lines: copier{conn: r.conn}}
		err := f.read(s, r.progress)
		if s.err = cmp.Or(s.err, s.lines.flush(ctx)); s.err != nil {
			return fmt.Errorf("staging %s: %w", f.name, s.err)
		}
		if err != nil {
			f.refused = refusal(err)
		}
	}
	switch {
	case f.refused != nil:
		return r.find(r.input(f).Unread(f.refused))
	case f.lines+f.rejected == 0:
		f.refused = &invoice.FileError{Fault: invoice.FileEmpty, Advice: "the file has no rows below its header"}
		return r.find(r.input(f).Unread(f.refused))
	}
	return nil
}

// input is how findings name a file.
func (r *reconciliation) input(f *inputFile) reconcile.Input {
	return reconcile.Input{Carrier: r.settings.carrier, Name: f.name, SHA256: f.sha256}
}

// refusal takes any error of reading for the file's.
func refusal(err error) *invoice.FileError {
	var refused *invoice.FileError
	if !errors.As(err, &refused) {
		refused = unreadable(err)
	}
	return refused
}

// stager is the sink of one file.
type stager struct {
	*reconciliation
	ctx    context.Context //nolint:containedctx // Sinks are called without one.
	number int
	file   *inputFile
	lines  copier
	// foreign is the last row that was another carrier's.
	foreign int
	// err is an error of ours, as opposed to the file's.
	err error
}

// Line implements [invoice.Sink].
func (s *stager) Line(l invoice.Line) error {
	l.Source.File = s.file.name
	if l.Carrier != s.settings.carrier {
		if s.foreign == l.Source.Row {
			// A row of several charges is one row.
			return nil
		}
		s.foreign = l.Source.Row
		return s.Reject(invoice.Rejection{
			Source: l.Source,
			Fault:  invoice.RowForeign,
			Column: "carrier",
			Advice: "the row is another carrier's than --carrier: reconcile one carrier at a time",
		})
	}
	s.file.lines++
	s.ledger.Take(s.number, l)
	s.err = s.lines.add(s.ctx, s.number, s.billNo(l), l)
	return s.err
}

// billNo is the number of the line's bill.
func (s *stager) billNo(l invoice.Line) int64 {
	bill := reconcile.FileInvoice{File: s.number, InvoiceKey: reconcile.InvoiceKey{
		Carrier: l.Carrier, Account: l.Account, InvoiceNo: l.InvoiceNo, Currency: l.Amount.Currency,
	}}
	number, known := s.bills[bill]
	if !known {
		number = int64(len(s.bills))
		s.bills[bill] = number
	}
	return number
}

// Reject implements [invoice.Sink].
func (s *stager) Reject(rejection invoice.Rejection) error {
	s.file.rejected++
	// A finding may have to go to the database itself.
	if s.err = s.lines.wait(); s.err == nil {
		s.err = s.find(s.input(s.file).Rejected(rejection))
	}
	return s.err
}

// Ignored implements [invoice.Sink].
func (s *stager) Ignored(columns []string) { s.file.ignored = columns }

// lineQuery reads the staged lines whose numbers are not plain, in the order that groups are made in, each with the intent that
// its reference names.
const lineQuery = `
	SELECT
		s.file_no,
		s.row_no,
		s.account,
		s.invoice_no,
		s.invoice_date,
		s.line_no,
		s.kind,
		s.correction,
		s.tracking_no,
		s.master_no,
		s.original_no,
		s.reference,
		s.ship_date,
		s.charge_text,
		s.cents,
		s.currency,
		s.stated_cents,
		coalesce(sh.shipment, CASE WHEN s.tracking_no = '' THEN s.master_no ELSE '' END),
		coalesce(i.intent_id::text, ''),
		coalesce(i.order_id, 0),
		coalesce(i.parcel_no, 0),
		coalesce(i.label_version, 0),
		coalesce(i.caller_id, ''),
		i.label_id IS NOT NULL
	FROM staged_numbers n
	JOIN staged_lines s ON coalesce(nullif(s.tracking_no, ''), s.master_no) = n.tracking_no
	LEFT JOIN staged_shipments sh ON sh.tracking_no = s.tracking_no
	LEFT JOIN label_intents i ON i.reference = s.reference AND i.carrier = $1
	WHERE NOT n.plain
	ORDER BY
		-- Byte by byte, as Go compares.
		coalesce(sh.shipment, nullif(s.tracking_no, ''), s.master_no) COLLATE "C",
		s.account COLLATE "C",
		s.invoice_no COLLATE "C",
		s.line_no COLLATE "C",
		s.file_no,
		s.row_no`

// scanCharge reads a row of lineQuery.
func (r *reconciliation) scanCharge(row pgx.CollectableRow) (reconcile.Charge, error) {
	var (
		c       reconcile.Charge
		h       reconcile.Hint
		file    int
		dates   [2]int32
		kind    string
		charged carrier.Money
	)
	err := row.Scan(&file, &c.Source.Row, &c.Account, &c.InvoiceNo, &dates[0], &c.LineNo, &kind,
		&c.Correction, &c.TrackingNo, &c.MasterTrackingNo, &c.OriginalTrackingNo, &c.Reference, &dates[1], &c.Text, &charged.Cents, &charged.Currency, &c.StatedCents,
		&c.Shipment,
		&h.IntentID, &h.OrderID, &h.ParcelNo, &h.LabelVersion, &h.CallerID, &h.Labelled)
	if err != nil {
		return c, fmt.Errorf("reading a staged line: %w", err)
	}
	c.Source.File, c.Carrier = r.fileName(file), r.settings.carrier
	c.Kind, c.Amount = invoice.Kind(kind), charged
	c.InvoiceDate, c.ShipDate = invoice.Date(dates[0]), invoice.Date(dates[1])
	if h.IntentID != "" {
		c.Hint = &h
	}
	return c, nil
}
