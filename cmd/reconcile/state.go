package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// memoryDays is how far back invoices of earlier runs take part in judging: twice as long as carriers
// take to bill or credit anything.
const memoryDays = 400

// state is what earlier runs of a carrier left, and what this one will leave.
type state struct {
	ctx  context.Context //nolint:containedctx // Findings come from where there is none.
	conn *pgx.Conn
	asOf invoice.Date

	// previous is the as-of day of the run before, 0 for the first. A run as of a day before the last
	// is a look back: it knows the states of findings and changes none.
	previous invoice.Date
	lookBack bool

	// known are the findings of earlier runs, by id; files the names of the files that stored lines
	// were read from.
	known map[string]knownFinding
	files map[int]string

	// seen are the files of earlier days.
	seen map[seenFile]bool

	// batch are findings on their way into the database.
	batch [][]any
}

// seenFile is a file by name and content.
type seenFile struct{ name, sha256 string }

type knownFinding struct {
	state reconcile.State
	since invoice.Date
	stake reconcile.Stake
}

// reopens tells why a finding that a person has taken up comes back: it is more than what they decided
// about.
func (k knownFinding) reopens(now reconcile.Stake) (why string, reopened bool) {
	switch k.state {
	case reconcile.Acknowledged, reconcile.Disputed, reconcile.CreditedBack:
		return now.Outgrows(k.stake)
	default:
		return "", false
	}
}

// recall reads what earlier runs left, and keeps other runs of the carrier out until this one ends: the
// lock goes with the connection.
func (r *reconciliation) recall(ctx context.Context) error {
	if !r.settings.store {
		return nil
	}
	s := &state{
		ctx: ctx, conn: r.conn, asOf: r.settings.asOf,
		known: make(map[string]knownFinding), files: make(map[int]string), seen: make(map[seenFile]bool),
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	var previous, last *time.Time
	if err := r.conn.QueryRow(ctx, `
		SELECT max(as_of) FILTER (WHERE as_of < $2), max(as_of)
		FROM reconcile_runs
		WHERE carrier = $1`, r.settings.carrier, s.asOf.Start(time.UTC)).Scan(&previous, &last); err != nil {
		return fmt.Errorf("reading the last run: %w", err)
	}
	s.previous = dateOf(previous)
	s.lookBack = dateOf(last) > s.asOf
	r.state = s
	for _, read := range []func(context.Context) error{r.recallFindings, r.recallInvoices, r.recallContents, r.recallFiles} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	_, err := r.conn.Exec(ctx, `CREATE TEMPORARY TABLE staged_findings (LIKE findings)`)
	if err != nil {
		return fmt.Errorf("making the table that findings are staged in: %w", err)
	}
	return nil
}

// lock keeps other runs of the carrier out for as long as the connection lives. It waits a little: the
// server may not have noticed yet that the run before is gone.
func (r *reconciliation) lock(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error {
		return inOrder(ctx, tx, []statement{
			{`SET LOCAL lock_timeout = '10s'`, nil},
			{`SELECT pg_advisory_lock(hashtextextended('waybill reconcile ' || $1, 0))`, []any{r.settings.carrier}},
		})
	})
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == lockNotAvailable {
		return fmt.Errorf("another run for %s is under way: wait for its end", r.settings.carrier)
	}
	if err != nil {
		return fmt.Errorf("asking for the carrier's lock: %w", err)
	}
	return nil
}

// lockNotAvailable is Postgres' code for a lock that was not to be had in time.
const lockNotAvailable = "55P03"

// dateOf is a day of the database, 0 for none.
func dateOf(t *time.Time) invoice.Date {
	if t == nil {
		return 0
	}
	return invoice.DateOf(*t, time.UTC)
}

// dayOf is a day for the database, nil for none.
func dayOf(d invoice.Date) *time.Time {
	if d == 0 {
		return nil
	}
	return new(d.Start(time.UTC))
}

func (r *reconciliation) recallFindings(ctx context.Context) error {
	rows, err := r.conn.Query(ctx, `
		SELECT finding_id, state, first_seen, severity, billed_cents, difference_cents, currency
		FROM findings
		WHERE carrier = $1`, r.settings.carrier)
	if err != nil {
		return fmt.Errorf("reading earlier findings: %w", err)
	}
	var id string
	var since time.Time
	var known knownFinding
	_, err = pgx.ForEachRow(rows, []any{
		&id, &known.state, &since, &known.stake.Severity, &known.stake.Billed, &known.stake.Difference,
		&known.stake.Currency,
	}, func() error {
		known.since = dateOf(&since)
		r.state.known[id] = known
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading earlier findings: %w", err)
	}
	return nil
}

func (r *reconciliation) recallInvoices(ctx context.Context) error {
	s := r.state
	rows, err := r.conn.Query(ctx, `
		SELECT account, invoice_no, currency, invoice_date, stated_cents, lines, cents, digests, first_as_of < $3
		FROM invoices
		WHERE carrier = $1 AND invoice_date > $2 AND first_as_of <= $3`,
		r.settings.carrier, (s.asOf - memoryDays).Start(time.UTC), s.asOf.Start(time.UTC))
	if err != nil {
		return fmt.Errorf("reading earlier invoices: %w", err)
	}
	var i reconcile.Invoice
	var date time.Time
	var stated *int64
	r.ledger.AllowRounding(r.settings.carrier, r.settings.rules.RoundingMinor)
	_, err = pgx.ForEachRow(rows, []any{
		&i.Account, &i.InvoiceNo, &i.Currency, &date, &stated, &i.Lines.Count, &i.Lines.Cents, &i.Digests,
		&i.Before,
	}, func() error {
		i.Carrier, i.Date = r.settings.carrier, dateOf(&date)
		i.Unstated, i.StatedCents = stated == nil, *cmp.Or(stated, new(int64))
		r.ledger.TakeStored(i)
		i.Digests = nil // a slice of its own for each
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading earlier invoices: %w", err)
	}
	return nil
}

// recallContents tells the ledger which contents of invoices a person accepted, and which gave way.
func (r *reconciliation) recallContents(ctx context.Context) error {
	rows, err := r.conn.Query(ctx, `
		SELECT account, invoice_no, currency, digest, accepted
		FROM invoice_contents
		WHERE carrier = $1`, r.settings.carrier)
	if err != nil {
		return fmt.Errorf("reading which invoices were accepted: %w", err)
	}
	key := reconcile.InvoiceKey{Carrier: r.settings.carrier}
	var content int64
	var accepted bool
	_, err = pgx.ForEachRow(rows, []any{&key.Account, &key.InvoiceNo, &key.Currency, &content, &accepted}, func() error {
		r.ledger.Decide(key, content, accepted)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading which invoices were accepted: %w", err)
	}
	return nil
}

func (r *reconciliation) recallFiles(ctx context.Context) error {
	rows, err := r.conn.Query(ctx, `
		SELECT file_id, name, sha256, first_as_of < $2
		FROM invoice_files
		WHERE carrier = $1`, r.settings.carrier, r.state.asOf.Start(time.UTC))
	if err != nil {
		return fmt.Errorf("reading the names of earlier files: %w", err)
	}
	var id int
	var file seenFile
	var before bool
	_, err = pgx.ForEachRow(rows, []any{&id, &file.name, &file.sha256, &before}, func() error {
		r.state.files[id] = file.name
		r.state.seen[file] = before
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the names of earlier files: %w", err)
	}
	return nil
}

// fileName is what outputs call the file of a staged line; lines of earlier runs bear its negative id.
func (r *reconciliation) fileName(number int) string {
	if number < 0 {
		return r.state.files[-number]
	}
	return r.files[number].name
}

// stageStored adds the lines of earlier runs' invoices that no file of this one holds: a label that was
// billed last month and is billed again today is billed twice.
func (r *reconciliation) stageStored(ctx context.Context) error {
	if r.state == nil {
		return nil
	}
	var accounts, numbers, currencies []string
	for _, i := range r.ledger.Invoices() {
		if i.WithStored {
			accounts, numbers, currencies = append(accounts, i.Account), append(numbers, i.InvoiceNo), append(currencies, i.Currency)
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	_, err := r.conn.Exec(ctx, `
		INSERT INTO staged_lines (
			file_no, row_no, bill_no, account, invoice_no, invoice_date, line_no, kind, correction, informative,
			tracking_no, master_no, original_no, reference, ship_date, charge_text, cents, currency, stated_cents
		)
		SELECT
			-l.file_id, l.row_no, -i.invoice_id, i.account, i.invoice_no, i.invoice_date - date '1970-01-01', l.line_no, l.kind,
			l.correction, false, l.tracking_no, l.master_no, l.original_no, l.reference,
			coalesce(l.ship_date - date '1970-01-01', 0), l.charge_text, l.cents, i.currency, coalesce(i.stated_cents, 0)
		FROM unnest($2::text[], $3::text[], $4::text[]) AS k (account, invoice_no, currency)
		JOIN invoices i ON i.carrier = $1 AND i.account = k.account AND i.invoice_no = k.invoice_no
			AND i.currency = k.currency
		JOIN invoice_lines l USING (invoice_id)`, r.settings.carrier, accounts, numbers, currencies)
	if err != nil {
		return fmt.Errorf("recalling the lines of earlier invoices: %w", err)
	}
	return nil
}

// find gives a finding its place in its life. What is for the record only has none: it would be new every
// night.
func (s *state) find(f *reconcile.Finding) error {
	if f.Severity == reconcile.Info && f.Kind != reconcile.VoidCreditMissing {
		// A credit that is awaited grows old.
		return nil
	}
	f.State, f.FirstSeen = reconcile.New, s.asOf
	if known, ok := s.known[f.ID]; ok && known.since <= s.asOf {
		f.State, f.FirstSeen = known.state, known.since
		if known.state == reconcile.Cleared || known.state == reconcile.New && known.since < s.asOf {
			f.State = reconcile.Open
		}
		if _, reopened := known.reopens(f.Stake()); reopened && !s.lookBack {
			f.State = reconcile.Open
		}
	}
	s.batch = append(s.batch, []any{
		f.ID, f.Carrier, string(f.Kind), string(f.Severity), string(f.Why), f.Account, f.InvoiceNo,
		dayOf(f.InvoiceDate), f.LineNo, f.TrackingNo, f.Reference, f.OrderID, f.ParcelNo, f.LabelVersion,
		f.LabelID, f.IntentID, f.Billed.Cents, f.Expected.Cents, f.Difference.Cents, f.Stake().Currency, f.Text,
		dayOf(f.DisputeBy), string(f.State), f.FirstSeen.Start(time.UTC), s.asOf.Start(time.UTC), nil,
		contentOf(*f),
	})
	if len(s.batch) == batchFindings {
		return s.flush()
	}
	return nil
}

// contentOf is a finding's content for the database, nil for none.
func contentOf(f reconcile.Finding) *int64 {
	if f.Content == 0 {
		return nil
	}
	return &f.Content
}

// batchFindings is how many findings are held in memory on their way to the database.
const batchFindings = 1000

var findingColumns = []string{
	"finding_id", "carrier", "kind", "severity", "why", "account", "invoice_no", "invoice_date", "line_no",
	"tracking_no", "reference", "order_id", "parcel_no", "label_version", "label_id", "intent_id",
	"billed_cents", "expected_cents", "difference_cents", "currency", "charge_text", "dispute_by", "state",
	"first_seen", "last_seen", "cleared_on", "content",
}

func (s *state) flush() error {
	_, err := s.conn.CopyFrom(s.ctx, pgx.Identifier{"staged_findings"}, findingColumns, pgx.CopyFromRows(s.batch))
	s.batch = s.batch[:0]
	if err != nil {
		return fmt.Errorf("staging findings: %w", err)
	}
	return nil
}
