package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5"

	"waybill/reconcile"
	"waybill/reconcile/report"
)

// reconciliation is one run.
type reconciliation struct {
	settings settings
	files    []*inputFile
	conn     *pgx.Conn
	report   *report.Report
	progress *report.Progress

	ledger *reconcile.Ledger
	totals *reconcile.Totals

	// bills are the numbers of the bills that were read.
	bills map[reconcile.FileInvoice]int64

	keysRead int64
	stderr   io.Writer

	// state is what earlier runs left; nil for a run that keeps nothing.
	state *state
}

// reconcile does one reconciliation and returns the exit status. It writes the report or leaves
// the folder as it was.
func (c *runCommand) reconcile(ctx context.Context, stdout, stderr io.Writer) (status int, err error) {
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
	if err := makeRoom(ctx, conn); err != nil {
		return 0, err
	}
	out, err := report.Open(s.out, s.told())
	if err != nil {
		return 0, usageError(fmt.Errorf("--out: %w", err))
	}
	// What cannot be removed is a hidden file beside the report, and no reason to hide its result.
	defer func() { _ = out.Close() }()
	r := newReconciliation(s, files, conn, out, stderr)
	run, err := r.run(ctx)
	if err == nil {
		err = run.Check()
	}
	if err == nil {
		err = r.keep(ctx, &run)
	}
	if err != nil {
		return 0, schemaError(err)
	}
	if err := out.Publish(run); err != nil {
		return 0, err
	}
	return out.Result().ExitStatus(), out.Print(stdout)
}

func newReconciliation(
	s settings, files []*inputFile, conn *pgx.Conn, out *report.Report, stderr io.Writer,
) *reconciliation {
	return &reconciliation{
		settings: s, files: files, conn: conn, report: out, stderr: stderr,
		progress: report.NewProgress(stderr),
		ledger:   reconcile.NewLedger(), totals: reconcile.NewTotals(), bills: make(map[reconcile.FileInvoice]int64),
	}
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
func (r *reconciliation) run(ctx context.Context) (report.Run, error) {
	snap, err := r.prepare(ctx)
	if err != nil {
		return report.Run{}, err
	}
	// Nothing but temporary tables was written: how it ends after an error does not matter.
	defer func() { _ = snap.tx.Rollback(context.WithoutCancel(ctx)) }()
	return r.judgeAll(ctx, snap)
}

// prepare brings the lines to where the labels are, and takes the snapshot in which they are compared.
func (r *reconciliation) prepare(ctx context.Context) (*snapshot, error) {
	if err := r.recall(ctx); err != nil {
		return nil, err
	}
	if err := r.stage(ctx); err != nil {
		return nil, err
	}
	if err := noneReadable(r.files); err != nil {
		return nil, err
	}
	if err := r.settleDoubts(ctx, r.stderr); err != nil {
		return nil, err
	}
	snap, err := takeSnapshot(ctx, r.conn)
	if err != nil {
		return nil, err
	}
	if err := snap.match(ctx, r.settings); err != nil {
		return nil, errors.Join(err, snap.tx.Rollback(context.WithoutCancel(ctx)))
	}
	return snap, nil
}

// judgeAll judges, checks and adds up what one snapshot shows, and ends it.
func (r *reconciliation) judgeAll(ctx context.Context, snap *snapshot) (report.Run, error) {
	rules := r.settings.judging()
	rules.KeysSince = snap.now.Add(-r.settings.keyTTL)
	if err := r.judge(ctx, snap, rules); err != nil {
		return report.Run{}, err
	}
	for _, f := range r.ledger.Taxed() {
		if err := r.find(f); err != nil {
			return report.Run{}, err
		}
	}
	if err := r.judgeAccounts(rules); err != nil {
		return report.Run{}, err
	}
	if err := r.checkRecords(ctx, snap, rules); err != nil {
		return report.Run{}, err
	}
	if err := r.checkPurchases(ctx, snap, rules); err != nil {
		return report.Run{}, err
	}
	bought, err := snap.bought(ctx, r.settings)
	if err != nil {
		return report.Run{}, err
	}
	out := r.told()
	out.Bought = bought
	if out.Invoices, err = r.ledger.Close(); err != nil {
		return report.Run{}, err
	}
	// Those of earlier runs have taken part in judging; what the report foots is what was read.
	out.Invoices = slices.DeleteFunc(out.Invoices, func(i *reconcile.Invoice) bool { return i.Stored })
	if err := snap.tx.Commit(ctx); err != nil {
		return report.Run{}, fmt.Errorf("ending the snapshot: %w", err)
	}
	return out, nil
}

// told is what the report says besides findings, invoices and purchases.
func (r *reconciliation) told() report.Run {
	out := report.Run{
		Labels:        r.totals.Labels(),
		CompletedKeys: r.keysRead,
	}
	for _, f := range r.files {
		out.Files = append(out.Files, f.told())
	}
	return out
}

// judge holds all lines against all labels: what is plain in the database, the rest by the rules.
func (r *reconciliation) judge(ctx context.Context, snap *snapshot, rules reconcile.Rules) error {
	lines := rows(ctx, snap, "invoice_lines", r.scanCharge, lineQuery, r.settings.carrier)
	var staged int64
	for _, f := range r.files {
		staged += f.lines
	}
	r.progress.BeginCounting("judging", staged)
	defer r.progress.End()
	if err := r.takePlain(ctx, snap); err != nil {
		return err
	}
	for group, err := range reconcile.Groups(lines, snap.labels(ctx, r.settings)) {
		if err != nil {
			return err
		}
		r.progress.Add(len(group.Charges))
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
	if r.state != nil {
		if err := r.state.find(&f); err != nil {
			return err
		}
	}
	return r.report.Find(f)
}
