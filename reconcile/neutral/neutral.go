// Package neutral reads the invoice format that is no carrier's: a CSV with named columns, for
// carriers without a dialect of their own and for everything that people convert by hand.
//
// Every row ends as a line or as a rejection that names the row, the column and the cure. Nothing
// is guessed: no float, no repaired identifier, no date in two readings.
package neutral

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"waybill/reconcile/invoice"
)

// Name is what --format calls this dialect.
const Name = "neutral"

// maxRow bounds one row. A quotation mark that is never closed makes the rest of the file one row:
// it must not be read into memory.
const maxRow = 64 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// Dialect is the neutral CSV.
type Dialect struct{}

var _ invoice.Dialect = Dialect{}

// Name is "neutral".
func (Dialect) Name() string { return Name }

// Detect looks for the header's own names.
func (Dialect) Detect(head []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(head, byteOrderMark), []byte("\n"))
	names, err := csv.NewReader(bytes.NewReader(first)).Read()
	if err != nil {
		return false
	}
	found := 0
	for _, name := range names {
		switch columnName(name) {
		case "invoice_no", "line_no", "invoice_total":
			found++
		}
	}
	return found == 3
}

// Read implements [invoice.Dialect].
func (Dialect) Read(r io.Reader, sink invoice.Sink) error {
	limited := &rowLimit{r: r, left: maxRow}
	buffered := bufio.NewReader(limited)
	if err := skipMark(buffered); err != nil {
		return err
	}
	rows := csv.NewReader(buffered)
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true

	limited.next()
	names, err := rows.Read()
	if err != nil {
		return headerError(err)
	}
	h, err := readHeader(names)
	if err != nil {
		return err
	}
	if len(h.ignored) > 0 {
		sink.Ignored(h.ignored)
	}
	for {
		limited.next()
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := take(h, rows, fields, err, sink); err != nil {
			return err
		}
	}
}

// take hands one row to the sink.
func take(h header, rows *csv.Reader, fields []string, err error, sink invoice.Sink) error {
	var broken *csv.ParseError
	switch {
	case errors.As(err, &broken):
		return sink.Reject(invoice.Rejection{
			Source: invoice.Source{Row: broken.StartLine},
			Fault:  invoice.RowBroken,
			Advice: "the row is not CSV: quote a field that holds a comma or a quotation mark, and double the marks inside it",
		})
	case err != nil:
		return fileError(err)
	}
	row, _ := rows.FieldPos(0)
	line, rejection := h.line(fields)
	if rejection != nil {
		rejection.Source.Row = row
		return sink.Reject(*rejection)
	}
	line.Source.Row = row
	return sink.Line(line)
}

// skipMark passes over a byte order mark, and refuses the one that says "not UTF-8".
func skipMark(r *bufio.Reader) error {
	head, err := r.Peek(len(byteOrderMark))
	if err != nil && !errors.Is(err, io.EOF) {
		return fileError(err)
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return &invoice.FileError{
			Fault:  invoice.FileUnreadable,
			Advice: "the file is UTF-16: save it as \"CSV UTF-8\"",
		}
	}
	if bytes.Equal(head, byteOrderMark) {
		_, err = r.Discard(len(byteOrderMark))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fileError(err)
	}
	return nil
}

func headerError(err error) error {
	var broken *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return &invoice.FileError{
			Fault:  invoice.FileEmpty,
			Advice: "the file is empty: fetch the invoice again",
		}
	case errors.As(err, &broken):
		return &invoice.FileError{
			Fault:  invoice.FileUnreadable,
			Advice: "the header row is not CSV: it must name the columns, separated by commas",
		}
	default:
		return fileError(err)
	}
}

func fileError(err error) error {
	if errors.Is(err, errRowTooLong) {
		return &invoice.FileError{Fault: invoice.FileUnreadable, Advice: err.Error()}
	}
	return fmt.Errorf("reading a neutral CSV: %w", err)
}

var errRowTooLong = fmt.Errorf(
	"a row is longer than %d KiB: look for a quotation mark that is not closed", maxRow>>10)

// rowLimit fails once one row takes more bytes than a row can have.
type rowLimit struct {
	r    io.Reader
	left int
}

// next allows another row. What the buffers between hold already is not counted twice: the bound
// is a bound on memory, not an exact length.
func (l *rowLimit) next() { l.left = maxRow }

func (l *rowLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errRowTooLong
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}

func columnName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
