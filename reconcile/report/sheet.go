package report

import (
	"strconv"

	"github.com/xuri/excelize/v2"

	"waybill/carrier"
)

// styles are how a workbook shows the types of cells.
type styles struct {
	header      int
	strong      int
	strongWhole int
	text        int
	whole       int
	date        int
	// money is by the number of a currency's decimals.
	money       [4]int
	strongMoney [4]int
}

func newStyles(f *excelize.File) (*styles, error) {
	var s styles
	bold := &excelize.Font{Bold: true}
	for _, style := range []struct {
		id *int
		as excelize.Style
	}{
		{&s.header, excelize.Style{
			Font:      &excelize.Font{Bold: true, Color: "FFFFFF"},
			Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"1F3A4D"}},
			Alignment: &excelize.Alignment{Vertical: "center"},
		}},
		{&s.strong, excelize.Style{Font: bold, CustomNumFmt: new("@")}},
		{&s.strongWhole, excelize.Style{Font: bold, CustomNumFmt: new("0")}},
		{&s.text, excelize.Style{CustomNumFmt: new("@")}},
		{&s.whole, excelize.Style{CustomNumFmt: new("0")}},
		{&s.date, excelize.Style{CustomNumFmt: new("yyyy-mm-dd")}},
		{&s.money[0], moneyStyle("#,##0", nil)},
		{&s.money[2], moneyStyle("#,##0.00", nil)},
		{&s.money[3], moneyStyle("#,##0.000", nil)},
		{&s.strongMoney[0], moneyStyle("#,##0", bold)},
		{&s.strongMoney[2], moneyStyle("#,##0.00", bold)},
		{&s.strongMoney[3], moneyStyle("#,##0.000", bold)},
	} {
		var err error
		if *style.id, err = f.NewStyle(&style.as); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

func moneyStyle(format string, font *excelize.Font) excelize.Style {
	return excelize.Style{CustomNumFmt: new(format), Font: font}
}

// typed is a cell's style and value. Text is of the type text, so that no spreadsheet takes it for a
// formula or a number: nothing needs to be put before it.
func (s *styles) typed(c cell) (style int, value any) {
	switch c := c.(type) {
	case textCell:
		if c == "" {
			return 0, nil
		}
		return s.text, clean(string(c))
	case countCell:
		if c == 0 {
			return 0, nil
		}
		return s.whole, int64(c)
	case wholeCell:
		return s.whole, int64(c)
	case moneyCell:
		if c.Currency == "" {
			return 0, nil
		}
		return s.money[decimals(c.Currency)], float(carrier.Money(c))
	case minorCell:
		if c.Currency == "" {
			return 0, nil
		}
		return s.whole, c.Cents
	case dateCell:
		if c == 0 {
			return 0, nil
		}
		return s.date, int64(c) + dayZero
	default:
		return 0, nil
	}
}

// float is the amount as a workbook keeps numbers: the nearest there is to its decimals, and exact
// again when it is shown with them. Nothing here is computed with it.
func float(m carrier.Money) float64 {
	f, _ := strconv.ParseFloat(m.Decimal(), 64) // Decimal writes nothing else.
	return f
}

// sheet is one of the small sheets. The first error stays, so that callers ask once.
type sheet struct {
	file   *excelize.File
	styles *styles
	name   string
	rows   int
	err    error
}

func (w *workbook) sheet(name string) *sheet {
	return &sheet{file: w.file, styles: w.styles, name: name}
}

// header appends a row of column names.
func (s *sheet) header(names ...string) {
	s.rows++
	for i, name := range names {
		s.set(i, s.styles.header, name)
	}
}

// row appends a row.
func (s *sheet) row(cells ...cell) {
	s.rows++
	for i, c := range cells {
		if style, value := s.styles.typed(c); value != nil {
			s.set(i, style, value)
		}
	}
}

// strong appends a row that stands out.
func (s *sheet) strong(cells ...cell) {
	s.row(cells...)
	for i, c := range cells {
		style := s.styles.strong
		switch c := c.(type) {
		case moneyCell:
			style = s.styles.strongMoney[decimals(c.Currency)]
		case wholeCell:
			style = s.styles.strongWhole
		}
		at := s.at(i)
		s.keep(s.file.SetCellStyle(s.name, at, at, style))
	}
}

// gap leaves a row empty.
func (s *sheet) gap() { s.rows++ }

func (s *sheet) set(column, style int, value any) {
	at := s.at(column)
	s.keep(s.file.SetCellValue(s.name, at, value))
	s.keep(s.file.SetCellStyle(s.name, at, at, style))
}

func (s *sheet) at(column int) string {
	at, err := excelize.CoordinatesToCellName(column+1, s.rows)
	s.keep(err)
	return at
}

// widths sets the widths of the first columns, in characters.
func (s *sheet) widths(widths ...float64) {
	for i, width := range widths {
		name, err := excelize.ColumnNumberToName(i + 1)
		s.keep(err)
		s.keep(s.file.SetColWidth(s.name, name, name, width))
	}
}

// table freezes the header and gives it filters.
func (s *sheet) table(columns int) {
	s.keep(s.file.SetPanes(s.name, frozenHeader()))
	s.keep(s.file.AutoFilter(s.name, filterRange(columns, s.rows), nil))
}

func (s *sheet) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}
