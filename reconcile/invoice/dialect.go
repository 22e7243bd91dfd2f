package invoice

import "io"

// Dialect reads one format of invoice files. What is known of a carrier's own format lives in
// that carrier's package; the format that is nobody's is in reconcile/neutral.
type Dialect interface {
	// Name is what --format calls it.
	Name() string

	// Detect tells from the first bytes of a file whether it is in this dialect.
	Detect(head []byte) bool

	// Read gives every row of a file to the sink, as a line or as a rejection: none is dropped.
	// It stops at the sink's first error and returns it. A file that cannot be read as a whole
	// ends in a [FileError].
	Read(r io.Reader, sink Sink) error
}

// Sink receives what a dialect reads, in the order of the file.
type Sink interface {
	Line(Line) error
	Reject(Rejection) error

	// Ignored names the columns that were not read, once.
	Ignored(columns []string)
}

// Fault names what is wrong with an input.
type Fault string

// What can be wrong with a row or with a file.
const (
	// IDCorrupted: an identifier was turned into a number on its way.
	IDCorrupted Fault = "id_corrupted"

	// TextDamaged: a NUL, or bytes that are not UTF-8.
	TextDamaged Fault = "text_damaged"

	// FieldMissing: a field that must say something is empty.
	FieldMissing Fault = "field_missing"

	// FieldUnreadable: a date, an amount, a currency or a kind in no form we know.
	FieldUnreadable Fault = "field_unreadable"

	// FieldTooLong: an identifier longer than any carrier's.
	FieldTooLong Fault = "field_too_long"

	// RowBroken: the row is not CSV, or has more or fewer fields than the header.
	RowBroken Fault = "row_broken"

	// RowForeign: the row is another carrier's.
	RowForeign Fault = "row_foreign"

	// FileEmpty: no row at all.
	FileEmpty Fault = "file_empty"

	// ColumnMissing: the header lacks a column, or names one twice.
	ColumnMissing Fault = "column_missing"

	// FileUnreadable: the file could not be opened, is no text, or is in no dialect we know.
	FileUnreadable Fault = "file_unreadable"
)

// Rejection is a row that could not be taken for a line. It never repeats the row's values: where
// columns slipped, any of them may be somebody's name.
type Rejection struct {
	Source Source
	Fault  Fault
	// Column is empty where the row as a whole is meant.
	Column string
	// Advice says what is wrong and what to do about it.
	Advice string
}

// FileError is a file that cannot be read as a whole.
type FileError struct {
	Fault  Fault
	Advice string
}

// Error is the advice.
func (e *FileError) Error() string { return e.Advice }
