// Package report writes what a reconciliation found, for those who read it: finance, a job of the
// night, a person at the terminal. All outputs come from the same findings and totals.
//
// It promises that the same findings and totals give the same bytes, and that a report in its
// folder is never half of one: files are written beside their place and moved there when all are
// whole, summary.json last. It judges nothing, opens no database and reads no clock.
package report

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// Parameters are what a run was asked to do. They are printed on every output, so that a report can
// be made again.
type Parameters struct {
	Carrier string

	// AsOf is the day as of whose end all was judged; Since the first day whose labels must be
	// billed, or 0 for all.
	AsOf  invoice.Date
	Since invoice.Date

	// Zone turns instants into days.
	Zone      *time.Location
	GraceDays int

	// KeyTTL is the retention of idempotency keys, as a duration is written.
	KeyTTL string
}

// File is an invoice file as a run read it.
type File struct {
	// Name is without a folder: outputs must not depend on the machine.
	Name   string
	SHA256 string

	// Format is the dialect's name; empty if none was recognised.
	Format   string
	Lines    int64
	Rejected int64

	// Ignored are columns that were not read.
	Ignored []string

	// Refused says why the file was not read, or not to its end; empty if it was.
	Refused string
}

// Run is all that a report tells besides the findings.
type Run struct {
	Files    []File
	Invoices []*reconcile.Invoice

	// Bought is the labels of the run, counted without looking at how they stand; Labels is how they
	// stand. Publish refuses totals that do not come to the same.
	Bought []Bought
	Labels []reconcile.LabelTotal

	// PreviousAsOf is the as-of day of the run before, or 0 for the first and where no state is kept;
	// Cleared are the findings of earlier runs that this one no longer makes.
	PreviousAsOf invoice.Date
	Cleared      []reconcile.Finding

	// CompletedKeys is how many completed idempotency keys were held against their labels.
	CompletedKeys int64
}

// Check refuses totals that do not add up. Who keeps a run's findings asks it first: Publish would
// refuse the run as well, and what is kept should not be of a run that nobody sees.
func (r Run) Check() error {
	if err := checkFooting(r.Invoices); err != nil {
		return err
	}
	_, err := rollForward(r.Bought, r.Labels)
	return err
}

// Bought is the labels of one currency and what they cost, in its minor units.
type Bought struct {
	Currency string
	Labels   int64
	Cents    int64
}

// Report is a report in the making. Its methods are called from one goroutine.
type Report struct {
	dir        string
	parameters Parameters
	files      *files
	exceptions *table
	workbook   *workbook
	claims     *claims
	tally      *tally

	// published is set by Publish.
	published *summary
}

// Open makes the folder if it is missing, and begins a report in it. What stands there stays until
// Publish replaces it. The report must be closed.
func Open(dir string, p Parameters) (*Report, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("making the folder: %w", err)
	}
	all := &files{dir: dir}
	r := &Report{dir: dir, parameters: p, files: all, claims: newClaims(all, p), tally: newTally(p)}
	var err error
	if r.exceptions, err = all.createTable(ExceptionsName, exceptionHeader()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.workbook, err = newWorkbook(p); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Find takes a finding. The outputs keep the order in which findings come.
func (r *Report) Find(f reconcile.Finding) error {
	r.tally.add(f)
	cells := exceptionCells(f, r.parameters)
	if err := r.exceptions.write(cells); err != nil {
		return err
	}
	if err := r.workbook.exception(cells); err != nil {
		return err
	}
	return r.claims.add(f)
}

// Result is what the findings taken so far come to.
func (r *Report) Result() Result { return r.tally.result() }

// Publish puts the whole report in its place, and takes away the dispute files of the report before
// that this one has not. It refuses totals that do not add up. After an error the folder may hold new
// files beside the old summary.json, never half a file; running again mends it.
func (r *Report) Publish(run Run) error {
	if err := run.Check(); err != nil {
		return err
	}
	s := r.summarise(run)
	if err := r.write(run, s); err != nil {
		return err
	}
	stale := r.stale()
	if err := r.files.place(stale); err != nil {
		return err
	}
	r.published = s
	return nil
}

// write ends all files, summary.json last.
func (r *Report) write(run Run, s *summary) error {
	if err := r.exceptions.close(); err != nil {
		return err
	}
	if err := r.claims.close(); err != nil {
		return err
	}
	if err := r.files.writeInvoices(run.Invoices); err != nil {
		return err
	}
	if err := r.workbook.write(r.files, run, s); err != nil {
		return err
	}
	if err := writePage(r.files, newPage(r.tally, run, s)); err != nil {
		return err
	}
	for _, o := range r.files.outputs {
		s.Outputs = append(s.Outputs, summaryOutput{Name: o.name, SHA256: o.sha256(), Bytes: o.bytes})
	}
	slices.SortFunc(s.Outputs, func(a, b summaryOutput) int { return strings.Compare(a.Name, b.Name) })
	return writeSummary(r.files, s)
}

// stale are the dispute files that the summary standing in the folder names and this report has not:
// who finds one there would claim what was settled since. A file that no summary names is not ours.
func (r *Report) stale() []string {
	var before struct {
		Outputs []summaryOutput `json:"outputs"`
	}
	content, err := os.ReadFile(filepath.Join(r.dir, SummaryName))
	if err != nil || json.Unmarshal(content, &before) != nil {
		// No report stands there, or one that names no files.
		return nil
	}
	var names []string
	for _, o := range before.Outputs {
		mine := slices.ContainsFunc(r.files.outputs, func(n *output) bool { return n.name == o.Name })
		if isDisputes(o.Name) && !mine {
			names = append(names, o.Name)
		}
	}
	return names
}

// Close removes what Publish did not put in its place, and lets go of what is held. It does nothing
// to a published report.
func (r *Report) Close() error {
	err := r.files.abandon()
	if r.workbook != nil {
		err = errors.Join(err, r.workbook.close())
	}
	return err
}
