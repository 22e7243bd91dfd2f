// Package report writes what a reconciliation found, for those who read it: finance, a job of the
// night, a person at the terminal. All outputs come from the same findings and totals.
//
// It promises that the same findings and totals give the same bytes, and that a report in its
// folder is never half of one: files are written beside their place and moved there when all are
// whole, summary.json last. It judges nothing, opens no database and reads no clock.
package report

import (
	"errors"
	"fmt"
	"os"
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
	Parameters Parameters
	Files      []File
	Invoices   []*reconcile.Invoice

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

// Bought is the labels of one currency and what they cost, in its minor units.
type Bought struct {
	Currency string
	Labels   int64
	Cents    int64
}

// maxUrgent is a screenful. All findings are in exceptions.csv.
const maxUrgent = 20

// Report is a report in the making. Its methods are called from one goroutine.
type Report struct {
	dir        string
	files      *files
	exceptions *exceptions

	totals *reconcile.Totals

	// errors and warnings are the first findings that somebody has to look at.
	errors   []reconcile.Finding
	warnings []reconcile.Finding
	// urgent is how many there are of both.
	urgent     int
	distrusted bool

	// published is set by Publish.
	published *summary
}

// Open makes the folder if it is missing, and begins a report in it. What stands there stays until
// Publish replaces it. The report must be closed.
func Open(dir string) (*Report, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("making the folder: %w", err)
	}
	r := &Report{dir: dir, files: &files{dir: dir}, totals: reconcile.NewTotals()}
	var err error
	if r.exceptions, err = createExceptions(r.files); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Find takes a finding. The outputs keep the order in which findings come.
func (r *Report) Find(f reconcile.Finding) error {
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
	return r.exceptions.write(f)
}

// Result is what the findings taken so far come to.
func (r *Report) Result() Result {
	switch {
	case r.distrusted:
		return Distrusted
	case r.urgent > 0:
		return Findings
	default:
		return Clean
	}
}

// Publish puts the whole report in its place. After an error the folder may hold new files beside
// the old summary.json, never half a file; running again mends it.
func (r *Report) Publish(run Run) error {
	summary := r.summarise(run)
	if err := r.exceptions.close(); err != nil {
		return err
	}
	if err := writeSummary(r.files, summary); err != nil {
		return err
	}
	if err := r.files.place(); err != nil {
		return err
	}
	r.published = summary
	return nil
}

// Close removes what Publish did not put in its place. It does nothing after Publish.
func (r *Report) Close() error {
	if r.exceptions != nil {
		r.exceptions.abandon()
	}
	return r.files.abandon()
}
