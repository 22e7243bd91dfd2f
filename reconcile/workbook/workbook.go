// Package workbook makes CSV of a workbook (XLSX), so that dialects read one kind of table. Rows keep their
// numbers.
//
// A workbook keeps numbers and days where a carrier wrote text, and shows them as somebody chose. What is
// written to CSV is what the workbook holds: numbers with the digits that they have, days as YYYY-MM-DD. A
// long number that lost its digits stays in the form that says so, for identifiers are refused by it.
//
// The library reads a workbook as a whole. It is kept on disk where it is large, and what it may unpack to is
// bounded.
package workbook

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"waybill/reconcile/invoice"
)

const (
	// unpacked bounds what a file may unpack to: a full sheet of a wide invoice takes less.
	unpacked = 4 << 30

	// inMemory is what of it is held in memory; the rest is on disk.
	inMemory = 16 << 20
)

// OrText gives a workbook as CSV and any other file as it is. What it gives must be closed; that leaves the
// underlying file open.
func OrText(r io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading an invoice file: %w", err)
	}
	if !bytes.Equal(head, []byte("PK\x03\x04")) {
		return io.NopCloser(buffered), nil
	}
	return open(buffered)
}

func open(r io.Reader) (io.ReadCloser, error) {
	book, err := excelize.OpenReader(r, excelize.Options{UnzipSizeLimit: unpacked, UnzipXMLSizeLimit: inMemory})
	if err != nil {
		return nil, refused("the file is no workbook that can be read: save it again, or fetch it as CSV")
	}
	s, err := onlySheet(book)
	if err != nil {
		_ = book.Close()
		return nil, err
	}
	return s, nil
}

func refused(advice string) error {
	return &invoice.FileError{Fault: invoice.FileUnreadable, Advice: advice}
}

// onlySheet opens the sheet that has rows. Of several, nobody can tell which is the invoice.
func onlySheet(book *excelize.File) (*sheet, error) {
	name := ""
	for _, n := range book.GetSheetList() {
		full, err := hasRows(book, n)
		switch {
		case err != nil:
			return nil, err
		case full && name != "":
			return nil, refused("the workbook has several sheets with rows: keep the one with the invoice's lines")
		case full:
			name = n
		}
	}
	if name == "" {
		return nil, &invoice.FileError{Fault: invoice.FileEmpty, Advice: "the workbook is empty: fetch the invoice again"}
	}
	raw, err := book.Rows(name)
	if err != nil {
		return nil, fmt.Errorf("opening a sheet: %w", err)
	}
	shown, err := book.Rows(name)
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("opening a sheet: %w", err)
	}
	s := &sheet{book: book, raw: raw, shown: shown}
	if props, err := book.GetWorkbookProps(); err == nil && props.Date1904 != nil {
		s.since1904 = *props.Date1904
	}
	s.csv = csv.NewWriter(&s.buffer)
	return s, nil
}

func hasRows(book *excelize.File, name string) (bool, error) {
	rows, err := book.Rows(name)
	if err != nil {
		return false, fmt.Errorf("opening a sheet: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		cells, err := rows.Columns()
		if err != nil {
			return false, refused("the workbook cannot be read: save it again, or fetch it as CSV")
		}
		if strings.TrimSpace(strings.Join(cells, "")) != "" {
			return true, nil
		}
	}
	return false, nil
}

// sheet is a sheet's rows as CSV. It reads each row twice: as the workbook holds it, and as it shows it, because
// only what is shown tells a day from a number.
type sheet struct {
	book       *excelize.File
	raw, shown *excelize.Rows
	since1904  bool

	csv    *csv.Writer
	buffer bytes.Buffer
	width  int
}

// Read implements [io.Reader].
func (s *sheet) Read(p []byte) (int, error) {
	for s.buffer.Len() == 0 {
		if !s.raw.Next() || !s.shown.Next() {
			if err := errors.Join(s.raw.Error(), s.shown.Error()); err != nil {
				return 0, refused("the workbook breaks off: fetch it again")
			}
			return 0, io.EOF
		}
		if err := s.row(); err != nil {
			return 0, err
		}
	}
	return s.buffer.Read(p)
}

// row writes the next row. Rows end where their last cell with something in it is; CSV's are as long as the first.
func (s *sheet) row() error {
	raw, err := s.raw.Columns(excelize.Options{RawCellValue: true})
	if err != nil {
		return refused("a row of the workbook cannot be read: save it again, or fetch it as CSV")
	}
	shown, err := s.shown.Columns()
	if err != nil {
		return refused("a row of the workbook cannot be read: save it again, or fetch it as CSV")
	}
	for i := range raw {
		if i < len(shown) {
			raw[i] = s.text(raw[i], shown[i])
		}
		// A line break inside a cell would move the rows after it.
		raw[i] = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(raw[i])
	}
	if s.width == 0 {
		s.width = len(raw)
	}
	for len(raw) < s.width {
		raw = append(raw, "")
	}
	if len(raw) == 0 {
		// A row above the first that says anything.
		s.buffer.WriteString("\n")
		return nil
	}
	if err := s.csv.Write(raw); err != nil {
		return fmt.Errorf("writing a row as CSV: %w", err)
	}
	s.csv.Flush()
	return nil
}

// Close gives back what the workbook took, the files it unpacked to above all.
func (s *sheet) Close() error {
	return errors.Join(s.raw.Close(), s.shown.Close(), s.book.Close())
}

var (
	// dayNumber is what a day is held as: days since 1900 or 1904, for years that have carriers.
	dayNumber = regexp.MustCompile(`^[2-7][0-9]{4}(\.[0-9]+)?$`)

	// dayShown is what a day is shown as, in any order and with any marks.
	dayShown = regexp.MustCompile(`^[0-9]{1,4}[-/. ]([0-9]{1,2}|\p{L}{3,9})[-/. ,]+[0-9]{2,4}\b|^\p{L}{3,9},? [0-9]{1,2},? [0-9]{2,4}`)

	fraction = regexp.MustCompile(`^-?[0-9]+\.[0-9]+$|^-?[0-9](\.[0-9]+)?E-[0-9]+$`)
)

// text is a cell as text: a day as YYYY-MM-DD, and a fraction with the digits that a workbook guarantees, which are
// fifteen: 8.4000000000000004 is 8.4. A long number whose digits end after the fifteenth has lost the others, and is
// written in the form that says so. Everything else is as it is held.
func (s *sheet) text(raw, shown string) string {
	if raw != shown && dayNumber.MatchString(raw) && dayShown.MatchString(shown) {
		if number, err := strconv.ParseFloat(raw, 64); err == nil {
			if day, err := excelize.ExcelDateToTime(number, s.since1904); err == nil {
				return day.Format(time.DateOnly)
			}
		}
	}
	if isZeroFilled(raw) {
		number, _ := strconv.ParseFloat(raw, 64)
		return strconv.FormatFloat(number, 'E', -1, 64)
	}
	if len(raw) > 15 && fraction.MatchString(raw) || strings.Contains(raw, "E-") && fraction.MatchString(raw) {
		return trimmed(raw)
	}
	return raw
}

// zeroFilled is longer by three than the digits that a workbook keeps: a number that ends in so many zeros by chance
// is one of a thousand at most.
const zeroFilled = 18

func isZeroFilled(raw string) bool {
	return len(raw) >= zeroFilled && strings.Trim(raw, "0123456789") == "" && strings.Trim(raw[15:], "0") == ""
}

// trimmed rounds a fraction to fifteen digits.
func trimmed(raw string) string {
	number, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return raw
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(number, 'g', 15, 64), 64)
	if err != nil {
		return raw
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
