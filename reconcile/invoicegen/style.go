package invoicegen

// style is how one world's files look: what varies between countries, exports and spreadsheets, and
// means the same.
type style struct {
	// encoding is of the text: "utf-8", "utf-8-bom", "cp1252".
	encoding string
	// comma is the decimal mark "," and, with it, the delimiter ";" and day before month.
	comma bool
	// trimmed leaves out the empty fields at the end of a row.
	trimmed bool
	// header adds a header row to a format that has none.
	header bool
	// excel dresses identifiers up as text, as people do for spreadsheets.
	excel bool
	// xlsx writes a workbook.
	xlsx bool
	// informative is what repeating rows bear: "zero", "repeats", "counts".
	informative string
	// pairs is how many charge columns a wide row has.
	pairs int
	// beside has the carriage in a column of its own and not among the pairs.
	beside bool
	// dates is the form of dates, where a format has several.
	dates string
	// parts splits a label's price into so many charges at most.
	parts int
	// positive writes refunds without a sign, where a format does either.
	positive bool
	// crlf ends rows as spreadsheets do.
	crlf bool
}

// drawStyle chooses among what the dialect's files have been seen to look like.
func (b *builder) drawStyle() style {
	one := func(options ...string) string { return options[b.chance.IntN(len(options))] }
	rarely := func(n int) bool { return b.chance.IntN(n) == 0 }
	s := style{
		encoding: one("utf-8", "utf-8", "utf-8-bom"), pairs: 25, parts: 1 + b.chance.IntN(4),
		crlf: rarely(3), excel: rarely(6),
	}
	switch b.Options.Dialect {
	case UPS:
		s.encoding = one("utf-8", "utf-8-bom", "cp1252")
		s.comma, s.trimmed, s.header = rarely(4), rarely(3), rarely(8)
		s.informative = one("zero", "repeats", "counts")
		s.dates, s.excel = "2006-01-02", false
		if s.comma {
			s.dates = "02/01/2006"
		}
	case FedEx:
		s.pairs = []int{25, 51}[b.chance.IntN(2)]
		s.dates, s.xlsx, s.beside = one("20060102", "02-Jan-2006", "1/2/2006"), b.Options.Workbooks && rarely(4), rarely(3)
		s.excel = s.excel && !s.xlsx
	case FedExIntl:
		s.pairs, s.dates, s.xlsx = 51, "02-Jan-2006", b.Options.Workbooks && rarely(4)
		s.excel = s.excel && !s.xlsx
		s.comma = rarely(3) && !s.xlsx
	case DHL:
		s.encoding = one("utf-8", "utf-8-bom", "cp1252")
		s.dates, s.comma, s.excel = "20060102", rarely(3), false
	case USPS:
		s.positive, s.parts = rarely(2), 1
	case EasyPostInvoice, EasyPostLog:
		s.parts, s.excel = 1, false
	case Neutral:
	}
	return s
}
