// Package sheet reads the tables that carriers send: rows out of CSV in the encodings and with the
// delimiters that are about, and out of a row its text, identifiers, dates and amounts.
//
// It streams: a row is in memory, and the few ahead of it that a file's habits are learnt from. Nothing
// is guessed and nothing repaired. A row that cannot be read in one way only is rejected, with its row
// number, its column and the cure, and the rows after it are read.
//
// What columns mean is a dialect's affair. Sheet knows no carrier.
package sheet

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/transform"

	"waybill/reconcile/invoice"
)

// aheadRows is how many rows a file's habits are learnt from: enough that a day after the twelfth and an
// amount with cents are among them, few enough to hold.
const aheadRows = 256

// Rows are the rows of one file. They are read once, in order.
type Rows struct {
	csv   *csv.Reader
	limit *rowLimit

	// width is how many fields every row has, 0 where there is no header; then it has atLeast so many.
	width, atLeast int

	// sign is the currency sign that amounts may bear.
	sign string

	ahead []record
	marks marks
	days  dayOrder
}

// record is a row as CSV gives it, or what was wrong with it.
type record struct {
	no     int
	cells  []string
	broken bool
}

// Open looks at how a file is written. A file that is empty or no text ends in an [invoice.FileError].
func Open(r io.Reader) (*Rows, error) {
	if err := refuseForeign(&r); err != nil {
		return nil, err
	}
	limit := &rowLimit{r: transform.NewReader(r, &decoder{}), left: maxRow}
	buffered := bufio.NewReaderSize(limit, maxRow)
	// The buffer takes what one read gives: a file's first row may need several.
	head, err := buffered.Peek(maxRow)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errRowTooLong) {
		return nil, fileError(err)
	}
	if len(head) == 0 {
		return nil, &invoice.FileError{Fault: invoice.FileEmpty, Advice: "the file is empty: fetch the invoice again"}
	}
	s := &Rows{csv: csv.NewReader(buffered), limit: limit}
	s.csv.Comma = delimiterOf(head)
	s.csv.FieldsPerRecord = -1
	s.csv.ReuseRecord = true
	return s, nil
}

// Pad lets rows of a file without a header end early: what lost its empty last fields on the way is
// whole as long as it has so many.
func (s *Rows) Pad(atLeast int) { s.atLeast = atLeast }

// Sign lets amounts bear a currency sign in front of their digits, with a minus before or behind it. It says
// nothing about the currency.
func (s *Rows) Sign(sign string) { s.sign = sign }

// bare is an amount without its currency sign.
func (s *Rows) bare(amount string) string {
	unsigned, negative := strings.CutPrefix(amount, "-")
	digits, ok := strings.CutPrefix(unsigned, s.sign)
	switch {
	case s.sign == "" || !ok:
		return amount
	case negative:
		return "-" + digits
	}
	return digits
}

// Each gives every row to read, which appends the lines that it makes of it. A row that read complained
// about is rejected as a whole; so is one that is broken. Rows with nothing in them are passed over.
// Each ends at the end of the file, at the first error of read or of the sink, or in a [invoice.FileError].
func (s *Rows) Each(sink invoice.Sink, read func(*Row, []invoice.Line) []invoice.Line) error {
	var lines []invoice.Line
	for {
		row, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if row.complaint == nil {
			lines = read(row, lines[:0])
		}
		if err := s.deliver(sink, row, lines); err != nil {
			return err
		}
	}
}

func (s *Rows) deliver(sink invoice.Sink, row *Row, lines []invoice.Line) error {
	if row.complaint != nil {
		row.complaint.Source.Row = row.No
		return sink.Reject(*row.complaint)
	}
	for _, line := range lines {
		line.Source.Row = row.No
		if err := sink.Line(line); err != nil {
			return err
		}
	}
	return nil
}

// next is the next row that says anything, or [io.EOF].
func (s *Rows) next() (*Row, error) {
	for {
		r, err := s.take()
		if err != nil {
			return nil, err
		}
		row := &Row{No: r.no, cells: r.cells, file: s}
		if r.broken {
			row.Complain(invoice.RowBroken, "",
				"the row is not CSV: quote a field that holds a delimiter or a quotation mark, and double the marks inside it")
			return row, nil
		}
		if row.blank() {
			continue
		}
		row.checkWidth()
		return row, nil
	}
}

func (s *Rows) take() (record, error) {
	if len(s.ahead) > 0 {
		r := s.ahead[0]
		s.ahead = s.ahead[1:]
		return r, nil
	}
	return s.read()
}

// read gives a record whose cells are overwritten by the next.
func (s *Rows) read() (record, error) {
	s.limit.next()
	cells, err := s.csv.Read()
	var broken *csv.ParseError
	switch {
	case errors.As(err, &broken):
		return record{no: broken.StartLine, broken: true}, nil
	case errors.Is(err, io.EOF):
		return record{}, io.EOF
	case err != nil:
		return record{}, fileError(err)
	}
	no, _ := s.csv.FieldPos(0)
	return record{no: no, cells: cells}, nil
}

// fill reads rows ahead.
func (s *Rows) fill(n int) error {
	for len(s.ahead) < n {
		r, err := s.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r.cells = append([]string(nil), r.cells...)
		s.ahead = append(s.ahead, r)
	}
	return nil
}

// First is the next row without taking it: what a file without a header is known by. It is nil at the end.
func (s *Rows) First() (*Row, error) {
	if err := s.fill(1); err != nil || len(s.ahead) == 0 {
		return nil, err
	}
	return &Row{No: s.ahead[0].no, cells: s.ahead[0].cells, file: s}, nil
}

// Skip takes the next row and forgets it.
func (s *Rows) Skip() error {
	_, err := s.take()
	return err
}

// LearnMoney looks ahead for the file's decimal mark in columns of amounts. A file whose rows do not show
// it keeps only such amounts as can be read in one way.
func (s *Rows) LearnMoney(columns ...Col) error {
	return s.learn(columns, func(amount string) { s.marks.learn(s.bare(amount)) })
}

// LearnDays looks ahead for whether the file's dates with slashes put the day or the month first. Where
// they do not show it, semicolons between the fields do: no country that parts them so puts the month first.
func (s *Rows) LearnDays(columns ...Col) error {
	if err := s.learn(columns, s.days.learn); err != nil {
		return err
	}
	s.days.dayFirst = s.days.dayFirst || s.csv.Comma == ';' && !s.days.monthFirst
	return nil
}

func (s *Rows) learn(columns []Col, learn func(string)) error {
	if err := s.fill(aheadRows); err != nil {
		return err
	}
	for _, r := range s.ahead {
		row := Row{cells: r.cells}
		for _, c := range columns {
			learn(strings.TrimSpace(row.raw(c)))
		}
	}
	return nil
}

func fileError(err error) error {
	if errors.Is(err, errRowTooLong) {
		return &invoice.FileError{Fault: invoice.FileUnreadable, Advice: err.Error()}
	}
	return fmt.Errorf("reading a sheet: %w", err)
}
