package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"waybill/carrier"
	"waybill/reconcile"
)

// The files of a report.
const (
	exceptionsName = "exceptions.csv"
	summaryName    = "summary.json"
)

// reportMode keeps the report from other users of the machine: it names orders and prices.
const reportMode = 0o640

// reportFiles writes a report beside its place and moves it there when it is whole: a report that
// stands in the folder is never half of one. summary.json comes last and says what belongs to it.
type reportFiles struct {
	dir        string
	file       *os.File
	buffer     *bufio.Writer
	exceptions *csv.Writer
	// pending are temporary files that nobody moved yet.
	pending []string
}

// exceptionColumns are the columns of exceptions.csv, in order. New ones are added at the end.
var exceptionColumns = []string{
	"finding_id", "kind", "severity", "why", "carrier", "account", "invoice_no", "invoice_date", "line_no",
	"tracking_no", "reference", "order_id", "parcel_no", "label_version", "label_id", "intent_id",
	"caller_id", "idempotency_key", "billed", "billed_currency", "expected", "expected_currency",
	"difference", "difference_minor", "charge_text", "source", "advice",
}

func openReport(dir string) (*reportFiles, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, usageError(fmt.Errorf("--out: %w", err))
	}
	r := &reportFiles{dir: dir}
	file, err := r.create(exceptionsName)
	if err != nil {
		return nil, usageError(fmt.Errorf("--out: %w", err))
	}
	r.file = file
	r.buffer = bufio.NewWriterSize(file, 1<<16)
	r.exceptions = csv.NewWriter(r.buffer)
	if err := r.exceptions.Write(exceptionColumns); err != nil {
		return nil, errors.Join(fmt.Errorf("writing %s: %w", exceptionsName, err), r.abandon())
	}
	return r, nil
}

func (r *reportFiles) create(name string) (*os.File, error) {
	file, err := os.CreateTemp(r.dir, "."+name+".*")
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", name, err)
	}
	r.pending = append(r.pending, file.Name())
	if err := file.Chmod(reportMode); err != nil {
		return nil, errors.Join(fmt.Errorf("creating %s: %w", name, err), file.Close(), r.abandon())
	}
	return file, nil
}

// exception appends a finding.
func (r *reportFiles) exception(f reconcile.Finding) error {
	err := r.exceptions.Write([]string{
		f.ID, string(f.Kind), string(f.Severity), string(f.Why), text(f.Carrier), text(f.Account),
		text(f.InvoiceNo), f.InvoiceDate.String(), text(f.LineNo), text(f.TrackingNo), text(f.Reference),
		number(f.OrderID), number(int64(f.ParcelNo)), number(int64(f.LabelVersion)), f.LabelID, f.IntentID,
		text(f.CallerID), text(f.IdempotencyKey), amount(f.Billed), f.Billed.Currency, amount(f.Expected),
		f.Expected.Currency, amount(f.Difference), minor(f.Difference), text(f.Text),
		text(f.Source.String()), text(f.Advice),
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", exceptionsName, err)
	}
	return nil
}

// text keeps a spreadsheet from running a cell as a formula. Such text comes from carriers and
// callers, and finance opens the file with a click.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

// number leaves out what is not known.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func amount(m carrier.Money) string {
	if m.Currency == "" {
		return ""
	}
	return m.Decimal()
}

func minor(m carrier.Money) string {
	if m.Currency == "" {
		return ""
	}
	return strconv.FormatInt(m.Cents, 10)
}

// publish puts the whole report in its place.
func (r *reportFiles) publish(s *summary) error {
	r.exceptions.Flush()
	err := errors.Join(r.exceptions.Error(), r.buffer.Flush(), r.file.Sync(), r.file.Close())
	if err != nil {
		return fmt.Errorf("writing %s: %w", exceptionsName, err)
	}
	file, err := r.create(summaryName)
	if err != nil {
		return err
	}
	err = json.MarshalWrite(file, s, jsontext.WithIndent("  "))
	if err == nil {
		_, err = file.WriteString("\n")
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", summaryName, err)
	}
	for i, name := range []string{exceptionsName, summaryName} {
		if err := os.Rename(r.pending[i], filepath.Join(r.dir, name)); err != nil {
			return fmt.Errorf("putting %s in its place: %w", name, err)
		}
	}
	r.pending = nil
	return nil
}

// abandon removes what publish did not move. It does nothing after publish.
func (r *reportFiles) abandon() error {
	var all []error
	if r.pending != nil && r.file != nil {
		_ = r.file.Close() // It may be closed already.
	}
	for _, name := range r.pending {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = append(all, fmt.Errorf("cleaning up: %w", err))
		}
	}
	r.pending = nil
	return errors.Join(all...)
}
