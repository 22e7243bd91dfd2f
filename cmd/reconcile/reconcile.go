package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"waybill/reconcile"
)

// reconciliation is one run.
type reconciliation struct {
	settings settings
	files    []*inputFile
	conn     *pgx.Conn
	report   *reportFiles

	ledger *reconcile.Ledger
	totals *reconcile.Totals

	// errors and warnings are the first findings that somebody has to look at, for the terminal.
	errors   []reconcile.Finding
	warnings []reconcile.Finding
	// urgent is how many there are of both.
	urgent int

	distrusted bool
	keysRead   int64
}

// maxUrgent is a screenful. All findings are in exceptions.csv.
const maxUrgent = 20

// reconcile does one reconciliation and returns the exit status. It writes the report or leaves
// the folder as it was.
func (c *runCommand) reconcile(ctx context.Context, stdout io.Writer) (status int, err error) {
	s, err := c.settings()
	if err != nil {
		return 0, err
	}
	files, err := openFiles(s)
	if err != nil {
		return 0, err
	}
	if err := noneReadable(files); err != nil {
		return 0, err
	}
	conn, err := pgx.ConnectConfig(ctx, s.database)
	if err != nil {
		return 0, fmt.Errorf("connecting to the database: %w", err)
	}
	// Closing only says goodbye: all was read by then, or an error says so.
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	report, err := openReport(s.out)
	if err != nil {
		return 0, err
	}
	// What cannot be removed is a hidden file beside the report, and no reason to hide its result.
	defer func() { _ = report.abandon() }()
	r := &reconciliation{
		settings: s, files: files, conn: conn, report: report,
		ledger: reconcile.NewLedger(), totals: reconcile.NewTotals(),
	}
	summary, err := r.run(ctx)
	if err != nil {
		return 0, schemaError(err)
	}
	if err := report.publish(summary); err != nil {
		return 0, err
	}
	if err := r.print(stdout, summary); err != nil {
		return 0, fmt.Errorf("printing the summary: %w", err)
	}
	return summary.ExitStatus, nil
}

// noneReadable is the error of a run that has nothing to judge: it ends before it writes a report
// that would look like one.
func noneReadable(files []*inputFile) error {
	var all []error
	for _, f := range files {
		if f.refused == nil {
			return nil
		}
		all = append(all, fmt.Errorf("%s: %w", f.path, f.refused))
	}
	return inputError(fmt.Errorf("no invoice could be read; no report was written:\n%w", errors.Join(all...)))
}

// run stages, judges, checks and adds up.
func (r *reconciliation) run(ctx context.Context) (*summary, error) {
	if err := r.stage(ctx); err != nil {
		return nil, err
	}
	if err := noneReadable(r.files); err != nil {
		return nil, err
	}
	snap, err := takeSnapshot(ctx, r.conn)
	if err != nil {
		return nil, err
	}
	// Nothing was written: how the transaction ends does not matter.
	defer func() { _ = snap.tx.Rollback(context.WithoutCancel(ctx)) }()
	rules := reconcile.Rules{
		AsOf:      r.settings.asOf,
		GraceDays: r.settings.grace,
		Zone:      r.settings.zone,
		KeysSince: snap.now.Add(-r.settings.keyTTL),
	}
	if err := r.judge(ctx, snap, rules); err != nil {
		return nil, err
	}
	if err := r.checkRecords(ctx, snap, rules); err != nil {
		return nil, err
	}
	invoices, err := r.ledger.Close()
	if err != nil {
		return nil, err
	}
	return r.summarise(invoices), nil
}

// judge holds all lines against all labels.
func (r *reconciliation) judge(ctx context.Context, snap *snapshot, rules reconcile.Rules) error {
	lines := rows(ctx, snap, "invoice_lines", r.scanCharge, lineQuery, r.settings.carrier)
	for group, err := range reconcile.Groups(lines, snap.labels(ctx, r.settings)) {
		if err != nil {
			return err
		}
		verdict := rules.Judge(group)
		for _, p := range verdict.Placements {
			if err := r.ledger.Place(p); err != nil {
				return err
			}
		}
		for _, s := range verdict.Standings {
			r.totals.Stand(s)
		}
		for _, f := range verdict.Findings {
			if err := r.find(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRecords holds labels, keys and intents against each other.
func (r *reconciliation) checkRecords(ctx context.Context, snap *snapshot, rules reconcile.Rules) error {
	for pair, err := range snap.labelsByKey(ctx, r.settings, rules.KeysSince) {
		if err != nil {
			return err
		}
		if err := r.findIf(rules.JudgeLabelKey(pair.label, pair.key)); err != nil {
			return err
		}
	}
	for pair, err := range snap.keys(ctx, r.settings) {
		if err != nil {
			return err
		}
		r.keysRead++
		if err := r.findIf(rules.JudgeKey(pair.key, pair.label)); err != nil {
			return err
		}
	}
	for pair, err := range snap.intents(ctx, r.settings) {
		if err != nil {
			return err
		}
		if err := r.findIf(rules.JudgeIntent(pair.intent, pair.label)); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciliation) findIf(f reconcile.Finding, found bool) error {
	if !found {
		return nil
	}
	return r.find(f)
}

// find reports a finding.
func (r *reconciliation) find(f reconcile.Finding) error {
	if f.Carrier == "" {
		f.Carrier = r.settings.carrier
	}
	r.totals.Find(f)
	r.distrusted = r.distrusted || f.Kind.Distrusts()
	if f.Severity != reconcile.Info {
		r.urgent++
	}
	switch {
	case f.Severity == reconcile.Error && len(r.errors) < maxUrgent:
		r.errors = append(r.errors, f)
	case f.Severity == reconcile.Warning && len(r.warnings) < maxUrgent:
		r.warnings = append(r.warnings, f)
	}
	return r.report.exception(f)
}

// status is what the run has to say by its exit status.
func (r *reconciliation) status() int {
	switch {
	case r.distrusted:
		return exitInput
	case r.urgent > 0:
		return exitFindings
	default:
		return exitClean
	}
}
