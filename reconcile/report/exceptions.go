package report

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"os"

	"waybill/reconcile"
)

// ExceptionsName is the file with a row for each finding.
const ExceptionsName = "exceptions.csv"

// exceptionColumns are the columns of exceptions.csv, in order. New ones are added at the end.
var exceptionColumns = []string{
	"finding_id", "kind", "severity", "why", "carrier", "account", "invoice_no", "invoice_date", "line_no",
	"tracking_no", "reference", "order_id", "parcel_no", "label_version", "label_id", "intent_id",
	"caller_id", "idempotency_key", "billed", "billed_currency", "expected", "expected_currency",
	"difference", "difference_minor", "charge_text", "source", "advice",
}

// exceptions is exceptions.csv in the making.
type exceptions struct {
	file   *os.File
	buffer *bufio.Writer
	csv    *csv.Writer
}

func createExceptions(to *files) (*exceptions, error) {
	file, err := to.create(ExceptionsName)
	if err != nil {
		return nil, err
	}
	e := &exceptions{file: file, buffer: bufio.NewWriterSize(file, 1<<16)}
	e.csv = csv.NewWriter(e.buffer)
	if err := e.csv.Write(exceptionColumns); err != nil {
		return nil, errors.Join(fmt.Errorf("writing %s: %w", ExceptionsName, err), file.Close())
	}
	return e, nil
}

func (e *exceptions) write(f reconcile.Finding) error {
	err := e.csv.Write([]string{
		f.ID, string(f.Kind), string(f.Severity), string(f.Why), text(f.Carrier), text(f.Account),
		text(f.InvoiceNo), f.InvoiceDate.String(), text(f.LineNo), text(f.TrackingNo), text(f.Reference),
		number(f.OrderID), number(int64(f.ParcelNo)), number(int64(f.LabelVersion)), f.LabelID, f.IntentID,
		text(f.CallerID), text(f.IdempotencyKey), amount(f.Billed), f.Billed.Currency, amount(f.Expected),
		f.Expected.Currency, amount(f.Difference), minor(f.Difference), text(f.Text),
		text(f.Source.String()), text(f.Advice),
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", ExceptionsName, err)
	}
	return nil
}

func (e *exceptions) close() error {
	e.csv.Flush()
	if err := errors.Join(e.csv.Error(), e.buffer.Flush(), e.file.Sync(), e.file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", ExceptionsName, err)
	}
	return nil
}

// abandon closes what close may have closed already.
func (e *exceptions) abandon() { _ = e.file.Close() }
