package sheet

import (
	"errors"
	"fmt"
	"strings"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

const (
	// maxID is longer than any carrier's number, and short enough that a slipped column shows.
	maxID = 64

	// maxText keeps a charge's name, not an essay.
	maxText = 120
)

// Row reads the fields of one row and keeps the first complaint. After a complaint the row is rejected,
// whatever its other fields say.
type Row struct {
	// No is the row's number as an editor counts lines.
	No int

	cells     []string
	file      *Rows
	complaint *invoice.Rejection
}

// Complain rejects the row, if nothing was said against it before. The advice must not repeat what the
// row holds.
func (r *Row) Complain(fault invoice.Fault, column, advice string) {
	if r.complaint == nil {
		r.complaint = &invoice.Rejection{Fault: fault, Column: column, Advice: advice}
	}
}

// Rejected tells whether there was a complaint.
func (r *Row) Rejected() bool { return r.complaint != nil }

// Fields are the row's fields as they stand. They are overwritten by the next row's.
func (r *Row) Fields() []string { return r.cells }

func (r *Row) raw(c Col) string {
	if c.at < 1 || c.at > len(r.cells) {
		return c.constant
	}
	return r.cells[c.at-1]
}

func (r *Row) blank() bool {
	for _, cell := range r.cells {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// checkWidth complains about a row in which fields are missing or too many: everything behind the fault
// stands under another column's name.
func (r *Row) checkWidth() {
	width := r.file.width
	if width == 0 {
		if len(r.cells) < r.file.atLeast {
			r.Complain(invoice.RowBroken, "", fmt.Sprintf("the row has %d fields of at least %d: fetch the file again",
				len(r.cells), r.file.atLeast))
		}
		return
	}
	surplus := Row{}
	if len(r.cells) > width {
		surplus.cells = r.cells[width:]
	}
	if len(r.cells) < width || !surplus.blank() {
		r.Complain(invoice.RowBroken, "", fmt.Sprintf("the row has %d fields and the header %d: quote fields that hold a delimiter",
			len(r.cells), width))
	}
}

// Text is a field without the white space around it. Text that is damaged is complained about.
func (r *Row) Text(c Col) string {
	value := strings.TrimSpace(r.raw(c))
	if invoice.Damaged(value) {
		r.Complain(invoice.TextDamaged, c.name, c.name+
			" holds control characters or letters in another encoding than the rest: save the file as \"CSV UTF-8\"")
		return ""
	}
	return value
}

// NeedText is a field that must say something.
func (r *Row) NeedText(c Col) string {
	value := r.Text(c)
	if value == "" {
		r.Complain(invoice.FieldMissing, c.name, c.name+" is empty")
	}
	return value
}

// ID is an identifier: text to the last zero. One that a spreadsheet turned into a number is complained
// about and never repaired.
func (r *Row) ID(c Col) string {
	value := invoice.CleanID(r.Text(c))
	switch {
	case invoice.Corrupted(value):
		r.Complain(invoice.IDCorrupted, c.name, c.name+
			" was turned into a number and lost its digits: fetch the file again and do not save it from a spreadsheet")
	case len(value) > maxID:
		r.Complain(invoice.FieldTooLong, c.name, fmt.Sprintf("%s is longer than %d bytes", c.name, maxID))
	}
	return value
}

// NeedID is an identifier that must be there.
func (r *Row) NeedID(c Col) string {
	value := r.ID(c)
	if value == "" {
		r.Complain(invoice.FieldMissing, c.name, c.name+" is empty")
	}
	return value
}

// OurReference is, of the references in these columns, the one that has the shape of ours; empty if none
// has. No charge is lost over what its sender wrote there.
func (r *Row) OurReference(columns ...Col) string {
	references := make([]string, 0, 8)
	for _, c := range columns {
		references = append(references, r.raw(c))
	}
	return invoice.OurReference(references...)
}

// Words is text for people, cut to a charge's name.
func (r *Row) Words(c Col) string {
	value := carrier.Sanitise(r.Text(c))
	if len(value) > maxText {
		value = strings.TrimSpace(strings.ToValidUTF8(value[:maxText], ""))
	}
	return value
}

// Date is a day in one of the layouts, which are those of package time; 0 for an empty field.
func (r *Row) Date(c Col, layouts ...string) invoice.Date {
	value := r.Text(c)
	if value == "" {
		return 0
	}
	date, err := invoice.ParseDateAs(value, layouts...)
	if err != nil {
		r.Complain(invoice.FieldUnreadable, c.name, c.name+": "+err.Error())
	}
	return date
}

// NeedDate is a day that must be there.
func (r *Row) NeedDate(c Col, layouts ...string) invoice.Date {
	r.NeedText(c)
	return r.Date(c, layouts...)
}

// Slashed is a day that may be written as YYYY-MM-DD or with slashes, in the order that the file's own
// dates show (see [Rows.LearnDays]); 0 for an empty field.
func (r *Row) Slashed(c Col) invoice.Date {
	value := r.Text(c)
	if !strings.Contains(value, "/") {
		return r.Date(c, "2006-01-02")
	}
	layouts, advice := r.file.days.layouts(value)
	if advice != "" {
		r.Complain(invoice.FieldUnreadable, c.name, c.name+": "+advice)
		return 0
	}
	return r.Date(c, layouts...)
}

// Currency is a code of ISO 4217.
func (r *Row) Currency(c Col) string {
	value := r.NeedText(c)
	if !carrier.IsCurrency(value) {
		r.Complain(invoice.FieldUnreadable, c.name, c.name+" must be a code of ISO 4217 such as USD")
	}
	return value
}

// NeedMoney is an amount in a currency.
func (r *Row) NeedMoney(c Col, currency string) carrier.Money {
	return r.money(c, r.NeedText(c), currency)
}

// Money is an amount in a currency, nothing for an empty field.
func (r *Row) Money(c Col, currency string) carrier.Money {
	value := r.Text(c)
	if value == "" {
		return carrier.Money{Currency: currency}
	}
	return r.money(c, value, currency)
}

func (r *Row) money(c Col, value, currency string) carrier.Money {
	cents, err := r.file.marks.cents(r.file.bare(value), currency)
	switch {
	case errors.Is(err, carrier.ErrAmountDecimals):
		r.Complain(invoice.FieldUnreadable, c.name, c.name+" has more decimals than its currency")
	case err != nil:
		r.Complain(invoice.FieldUnreadable, c.name, c.name+": "+err.Error())
	}
	return carrier.Money{Cents: cents, Currency: currency}
}
