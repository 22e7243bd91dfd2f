package neutral

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

type column struct {
	name     string
	required bool
}

// columns are the names we read, and whether a file must have them.
var columns = []column{
	{"invoice_no", true},
	{"invoice_date", true},
	{"carrier", true},
	{"account", true},
	{"currency", true},
	{"line_no", true},
	{"kind", true},
	{"tracking_no", true},
	{"reference", false},
	{"ship_date", false},
	{"description", false},
	{"amount", true},
	{"invoice_total", true},
}

const (
	// maxID is longer than any carrier's number, and short enough that a slipped column shows.
	maxID = 64

	// maxText keeps a charge's name, not an essay.
	maxText = 120
)

// header knows where each column stands in this file.
type header struct {
	at      map[string]int
	fields  int
	ignored []string
}

func readHeader(names []string) (header, error) {
	h := header{at: make(map[string]int, len(names)), fields: len(names)}
	for i, raw := range names {
		name := columnName(raw)
		if !slices.ContainsFunc(columns, func(c column) bool { return c.name == name }) {
			h.ignored = append(h.ignored, carrier.Sanitise(raw))
			continue
		}
		if _, twice := h.at[name]; twice {
			return header{}, &invoice.FileError{
				Fault:  invoice.ColumnMissing,
				Advice: fmt.Sprintf("the header names %s twice: rename or remove one", name),
			}
		}
		h.at[name] = i
	}
	return h, h.complete()
}

func (h header) complete() error {
	var missing []string
	for _, c := range columns {
		if _, ok := h.at[c.name]; c.required && !ok {
			missing = append(missing, c.name)
		}
	}
	if missing == nil {
		return nil
	}
	advice := "the header lacks " + strings.Join(missing, ", ")
	if len(h.at) == 0 {
		advice += ": the first row must name the columns, separated by commas"
	}
	return &invoice.FileError{Fault: invoice.ColumnMissing, Advice: advice}
}

// line makes a line of one row's fields, or says why it cannot.
func (h header) line(fields []string) (invoice.Line, *invoice.Rejection) {
	if len(fields) != h.fields {
		return invoice.Line{}, &invoice.Rejection{
			Fault: invoice.RowBroken,
			Advice: fmt.Sprintf("the row has %d fields and the header %d: quote fields that hold a comma",
				len(fields), h.fields),
		}
	}
	r := reader{header: h, values: fields}
	line := invoice.Line{
		InvoiceNo:   r.id("invoice_no", true),
		InvoiceDate: r.date("invoice_date", true),
		Carrier:     r.id("carrier", true),
		Account:     r.id("account", true),
		LineNo:      r.id("line_no", true),
		Kind:        r.kind(),
		TrackingNo:  r.id("tracking_no", false),
		Reference:   r.id("reference", false),
		ShipDate:    r.date("ship_date", false),
		Text:        r.words("description"),
	}
	currency := r.currency()
	line.Amount = carrier.Money{Cents: r.cents("amount", currency), Currency: currency}
	line.StatedCents = r.cents("invoice_total", currency)
	if r.rejection == nil && line.Kind == invoice.VoidCredit && line.Amount.Cents > 0 {
		r.reject(invoice.FieldUnreadable, "amount",
			"a void_credit gives money back: its amount must be negative, or its kind is another")
	}
	return line, r.rejection
}

// reader reads the fields of one row and keeps the first complaint.
type reader struct {
	header
	values    []string
	rejection *invoice.Rejection
}

func (r *reader) reject(fault invoice.Fault, column, advice string) {
	if r.rejection == nil {
		r.rejection = &invoice.Rejection{Fault: fault, Column: column, Advice: advice}
	}
}

// text is a field, "" where the file has no such column.
func (r *reader) text(column string, required bool) string {
	i, ok := r.at[column]
	if !ok {
		return ""
	}
	value := strings.TrimSpace(r.values[i])
	switch {
	case invoice.Damaged(value):
		r.reject(invoice.TextDamaged, column, column+" holds control characters or is not UTF-8: save the file as \"CSV UTF-8\"")
		return ""
	case required && value == "":
		r.reject(invoice.FieldMissing, column, column+" is empty")
	}
	return value
}

func (r *reader) id(column string, required bool) string {
	value := invoice.CleanID(r.text(column, required))
	switch {
	case invoice.Corrupted(value):
		r.reject(invoice.IDCorrupted, column, column+
			" was turned into a number and lost its digits: fetch the file again and do not save it from a spreadsheet")
	case len(value) > maxID:
		r.reject(invoice.FieldTooLong, column, fmt.Sprintf("%s is longer than %d bytes", column, maxID))
	case required && value == "":
		r.reject(invoice.FieldMissing, column, column+" is empty")
	}
	return value
}

func (r *reader) date(column string, required bool) invoice.Date {
	value := r.text(column, required)
	if value == "" {
		return 0
	}
	date, err := invoice.ParseDate(value)
	if err != nil {
		r.reject(invoice.FieldUnreadable, column, column+": "+err.Error())
	}
	return date
}

var kindNames = func() (names []string) {
	for _, k := range invoice.Kinds() {
		names = append(names, string(k))
	}
	return names
}()

func (r *reader) kind() invoice.Kind {
	kind, ok := invoice.ParseKind(r.text("kind", true))
	if !ok {
		r.reject(invoice.FieldUnreadable, "kind",
			"kind must be one of "+strings.Join(kindNames, ", "))
	}
	return kind
}

func (r *reader) currency() string {
	value := r.text("currency", true)
	if !carrier.IsCurrency(value) {
		r.reject(invoice.FieldUnreadable, "currency", "currency must be a code of ISO 4217 such as USD")
	}
	return value
}

func (r *reader) cents(column, currency string) int64 {
	cents, err := carrier.ParseCents(r.text(column, true), currency)
	switch {
	case errors.Is(err, carrier.ErrAmountDecimals):
		r.reject(invoice.FieldUnreadable, column, column+" has more decimals than its currency")
	case err != nil:
		r.reject(invoice.FieldUnreadable, column, column+": "+err.Error())
	}
	return cents
}

func (r *reader) words(column string) string {
	value := carrier.Sanitise(r.text(column, false))
	if len(value) > maxText {
		value = strings.ToValidUTF8(value[:maxText], "")
	}
	return value
}
