package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/reconcile"
	"waybill/reconcile/report"
)

// keep stores what this run read and found, in one transaction: invoices, their lines and the findings
// about them belong together. Running it again with the same files and the same day changes nothing.
func (r *reconciliation) keep(ctx context.Context, run *report.Run) error {
	if r.state == nil {
		return nil
	}
	run.PreviousAsOf = r.state.previous
	if r.state.lookBack {
		return nil
	}
	if err := r.state.flush(); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error {
		for _, step := range []struct {
			what string
			do   func(context.Context, pgx.Tx) error
		}{
			{"the run", r.keepRun},
			{"the files", r.keepFiles},
			{"the invoices", r.keepInvoices},
			{"the findings", r.keepFindings},
		} {
			if err := step.do(ctx, tx); err != nil {
				return fmt.Errorf("keeping %s: %w", step.what, err)
			}
		}
		var err error
		run.Cleared, err = r.cleared(ctx, tx)
		return err
	})
	return err
}

func (r *reconciliation) keepRun(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO reconcile_runs (carrier, as_of)
		VALUES ($1, $2)
		ON CONFLICT DO NOTHING`, r.settings.carrier, r.state.asOf.Start(time.UTC))
	return err
}

// keepFiles registers the files by content, and makes a table of the ids under which their lines are
// kept. Lines of earlier runs have theirs.
func (r *reconciliation) keepFiles(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `
		CREATE TEMPORARY TABLE kept_files ON COMMIT DROP AS
		SELECT -file_id::integer AS file_no, file_id FROM invoice_files WHERE carrier = $1`, r.settings.carrier); err != nil {
		return err
	}
	for number, f := range r.files {
		if f.sha256 == "" || f.dialect == nil {
			continue
		}
		var id int64
		err := tx.QueryRow(ctx, `
			WITH added AS (
				INSERT INTO invoice_files (carrier, sha256, name, format, lines, rejected, first_as_of)
				VALUES ($1, $2, $3, $4, $5, $6, $7)
				ON CONFLICT ON CONSTRAINT invoice_files_content DO NOTHING
				RETURNING file_id
			)
			SELECT file_id FROM added
			UNION ALL
			SELECT file_id FROM invoice_files WHERE carrier = $1 AND sha256 = $2`,
			r.settings.carrier, f.sha256, f.name, f.dialect.Name(), f.lines, f.rejected,
			r.state.asOf.Start(time.UTC)).Scan(&id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO kept_files VALUES ($1, $2)`, number, id); err != nil {
			return err
		}
	}
	return nil
}

// keepInvoices stores the invoices that are new, and replaces those whose content is another than what
// was stored: parts that came together, one that did not foot before.
func (r *reconciliation) keepInvoices(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `
		CREATE TEMPORARY TABLE kept_invoices (
			account text, invoice_no text, currency text, invoice_date date, stated_cents bigint,
			lines bigint, cents bigint, foots boolean, digests bigint[]
		) ON COMMIT DROP`); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `CREATE TEMPORARY TABLE kept_bills (bill_no bigint, invoice_id bigint) ON COMMIT DROP`); err != nil {
		return err
	}
	var rows [][]any
	for _, i := range r.ledger.Invoices() {
		if i.Stored {
			continue
		}
		stated := &i.StatedCents
		if i.Unstated {
			stated = nil
		}
		rows = append(rows, []any{
			i.Account, i.InvoiceNo, i.Currency, i.Date.Start(time.UTC), stated, i.Lines.Count, i.Lines.Cents,
			i.Foots(), i.Digests,
		})
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"kept_invoices"}, []string{
		"account", "invoice_no", "currency", "invoice_date", "stated_cents", "lines", "cents", "foots", "digests",
	}, pgx.CopyFromRows(rows)); err != nil {
		return err
	}
	name, day := r.settings.carrier, r.state.asOf.Start(time.UTC)
	return inOrder(ctx, tx, []statement{
		{`DELETE FROM kept_invoices AS k
		USING invoices AS i
		WHERE i.carrier = $1 AND i.account = k.account AND i.invoice_no = k.invoice_no
			AND i.currency = k.currency AND i.digests = k.digests`, []any{name}},
		{`DELETE FROM invoices AS i
		USING kept_invoices AS k
		WHERE i.carrier = $1 AND i.account = k.account AND i.invoice_no = k.invoice_no
			AND i.currency = k.currency`, []any{name}},
		{`INSERT INTO invoices (
			carrier, account, invoice_no, currency, invoice_date, stated_cents, lines, cents, foots, digests,
			first_as_of
		)
		SELECT $1, account, invoice_no, currency, invoice_date, stated_cents, lines, cents, foots, digests, $2
		FROM kept_invoices`, []any{name, day}},
		{`INSERT INTO kept_bills
		SELECT b.bill_no, i.invoice_id
		FROM staged_bills b
		JOIN kept_invoices k USING (account, invoice_no, currency)
		JOIN invoices i USING (account, invoice_no, currency)
		WHERE i.carrier = $1`, []any{name}},
		// Uncounted, they look so small that all lines would be read once for each.
		{`ANALYZE kept_bills, kept_files`, nil},
		{`INSERT INTO invoice_lines (
			invoice_id, file_id, row_no, line_no, kind, correction, tracking_no, master_no, original_no, reference,
			ship_date, charge_text, cents
		)
		SELECT
			b.invoice_id, f.file_id, s.row_no, s.line_no, s.kind, s.correction, s.tracking_no, s.master_no,
			s.original_no, s.reference, CASE WHEN s.ship_date <> 0 THEN date '1970-01-01' + s.ship_date END,
			s.charge_text, s.cents
		FROM staged_lines s
		JOIN kept_files f USING (file_no)
		JOIN kept_bills b USING (bill_no)`, nil},
	})
}

// statement is one step of several.
type statement struct {
	sql  string
	args []any
}

func inOrder(ctx context.Context, tx pgx.Tx, statements []statement) error {
	for _, s := range statements {
		if _, err := tx.Exec(ctx, s.sql, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// keepFindings moves the findings on: what is found again keeps its id, its first day and what a person
// decided, unless it has outgrown the decision; what is found no longer is cleared. A finding about a label
// that this run did not have to look at, because it was bought before --since, is left as it is.
func (r *reconciliation) keepFindings(ctx context.Context, tx pgx.Tx) error {
	if err := r.reopenFindings(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO findings
		SELECT DISTINCT ON (finding_id) * FROM staged_findings ORDER BY finding_id, abs(difference_cents) DESC
		ON CONFLICT (finding_id) DO UPDATE
		SET severity = excluded.severity,
			why = excluded.why,
			billed_cents = excluded.billed_cents,
			expected_cents = excluded.expected_cents,
			difference_cents = excluded.difference_cents,
			currency = excluded.currency,
			dispute_by = excluded.dispute_by,
			-- As it stands now: a person may have decided while this run was under way.
			state = CASE
				WHEN findings.state = 'cleared' THEN 'open'
				WHEN findings.state = 'new' AND findings.first_seen < excluded.last_seen THEN 'open'
				ELSE findings.state
			END,
			last_seen = excluded.last_seen,
			cleared_on = NULL`); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		UPDATE findings AS f
		SET state = 'cleared', cleared_on = $2, last_seen = greatest(last_seen, first_seen)
		WHERE f.carrier = $1
			AND f.state <> 'cleared'
			AND NOT EXISTS (SELECT 1 FROM staged_findings s WHERE s.finding_id = f.finding_id)
			-- What this run could not find is not gone.
			AND (f.invoice_date IS NULL OR f.invoice_date > $3)
			AND NOT EXISTS (
				SELECT 1
				FROM labels l
				WHERE f.invoice_no = '' AND l.label_id = nullif(f.label_id, '')::uuid AND l.bought_at < $4
			)`,
		r.settings.carrier, r.state.asOf.Start(time.UTC), (r.state.asOf - memoryDays).Start(time.UTC),
		r.settings.begin())
	return err
}

// reopenFindings opens again what has outgrown what a person decided about it, and notes why. It asks the
// stored findings as they stand now: a person may have decided while this run was under way.
func (r *reconciliation) reopenFindings(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		SELECT f.finding_id, f.state, f.severity, f.billed_cents, f.difference_cents, f.currency,
			s.severity, s.billed_cents, s.difference_cents, s.currency
		FROM findings f
		JOIN staged_findings s USING (finding_id)
		WHERE f.state NOT IN ('new', 'open', 'cleared')
		ORDER BY f.finding_id, abs(s.difference_cents) DESC
		FOR UPDATE OF f`)
	if err != nil {
		return err
	}
	reopened := make(map[string]string)
	var id string
	var was knownFinding
	var is reconcile.Stake
	_, err = pgx.ForEachRow(rows, []any{
		&id, &was.state, &was.stake.Severity, &was.stake.Billed, &was.stake.Difference, &was.stake.Currency,
		&is.Severity, &is.Billed, &is.Difference, &is.Currency,
	}, func() error {
		if why, outgrown := was.reopens(is); outgrown && reopened[id] == "" {
			reopened[id] = fmt.Sprintf("reopened, it was %s: it %s", was.state, why)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(reopened)) {
		if err := inOrder(ctx, tx, changing(id, reconcile.Open, runner, reopened[id])); err != nil {
			return err
		}
	}
	return nil
}

// changing moves a finding to a state, and notes who did it and why.
func changing(id string, to reconcile.State, actor, why string) []statement {
	return []statement{
		{`UPDATE findings SET state = $2 WHERE finding_id = $1`, []any{id, string(to)}},
		{
			`INSERT INTO finding_changes (finding_id, state, actor, why) VALUES ($1, $2, $3, $4)`,
			[]any{id, string(to), actor, why},
		},
	}
}

// cleared reads the findings that this run, or an earlier one of the same day, found gone.
func (r *reconciliation) cleared(ctx context.Context, tx pgx.Tx) ([]reconcile.Finding, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+storedFinding+`
		FROM findings f
		WHERE f.carrier = $1 AND f.cleared_on = $2
		ORDER BY f.finding_id`, r.settings.carrier, r.state.asOf.Start(time.UTC))
	if err != nil {
		return nil, fmt.Errorf("reading what is cleared: %w", err)
	}
	return pgx.CollectRows(rows, scanFinding)
}

// storedFinding are the columns that scanFinding takes.
const storedFinding = `f.finding_id, f.carrier, f.kind, f.severity, f.why, f.account, f.invoice_no, f.invoice_date,
			f.line_no, f.tracking_no, f.reference, f.order_id, f.parcel_no, f.label_version, f.label_id, f.intent_id,
			f.billed_cents, f.expected_cents, f.difference_cents, f.currency, f.charge_text, f.dispute_by, f.state,
			f.first_seen`

func scanFinding(row pgx.CollectableRow) (reconcile.Finding, error) {
	var f reconcile.Finding
	var date, disputeBy *time.Time
	var since time.Time
	var currency string
	err := row.Scan(&f.ID, &f.Carrier, &f.Kind, &f.Severity, &f.Why, &f.Account, &f.InvoiceNo, &date,
		&f.LineNo, &f.TrackingNo, &f.Reference, &f.OrderID, &f.ParcelNo, &f.LabelVersion, &f.LabelID, &f.IntentID,
		&f.Billed.Cents, &f.Expected.Cents, &f.Difference.Cents, &currency, &f.Text, &disputeBy, &f.State, &since)
	if err != nil {
		return f, fmt.Errorf("reading a finding: %w", err)
	}
	f.InvoiceDate, f.DisputeBy, f.FirstSeen = dateOf(date), dateOf(disputeBy), dateOf(&since)
	for _, m := range []*carrier.Money{&f.Billed, &f.Expected, &f.Difference} {
		m.Currency = currency
	}
	return f, nil
}
