package sheet

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// Col is a column: where it stands and what people call it. The zero Col is a column that the file does
// not have: every row is empty in it.
type Col struct {
	// at is the position counted from 1.
	at   int
	name string

	// constant is what every row says in a column that the file does not have.
	constant string
}

// Constant is a column that the file does not have and in which every row says the same.
func Constant(name, value string) Col { return Col{name: name, constant: value} }

// At is a column known by its position, counted from 1 as documents count.
func At(position int, name string) Col { return Col{at: position, name: name} }

// Present tells whether rows can say anything in the column.
func (c Col) Present() bool { return c.at > 0 || c.constant != "" }

// Called is the column under another name in complaints.
func (c Col) Called(name string) Col {
	c.name = name
	return c
}

// Header is the first row of a file whose columns are known by name. Names are compared without regard
// to case and to white space around and between words.
type Header struct {
	names    []string
	raw      []string
	read     []bool
	problems []string
}

// OpenNamed opens a file whose first row names its columns.
func OpenNamed(r io.Reader) (*Rows, *Header, error) {
	rows, err := Open(r)
	if err != nil {
		return nil, nil, err
	}
	h, err := rows.Header()
	return rows, h, err
}

// Header takes the next row for the header. Rows after it must have as many fields.
func (s *Rows) Header() (*Header, error) {
	r, err := s.take()
	switch {
	case errors.Is(err, io.EOF):
		return nil, &invoice.FileError{Fault: invoice.FileEmpty, Advice: "the file is empty: fetch the invoice again"}
	case err != nil:
		return nil, err
	case r.broken:
		return nil, &invoice.FileError{
			Fault:  invoice.FileUnreadable,
			Advice: "the header row is not CSV: it must name the columns, separated by commas",
		}
	}
	s.width = len(r.cells)
	return NewHeader(r.cells), nil
}

// NewHeader is a header of the given names.
func NewHeader(names []string) *Header {
	h := &Header{raw: slices.Clone(names), read: make([]bool, len(names))}
	for _, name := range names {
		h.names = append(h.names, columnName(name))
	}
	return h
}

// Optional is the column of a name, absent if the file has none. Of other names that the same column has
// gone by, the first that is found counts. A name twice is a complaint: there is no telling which is meant.
func (h *Header) Optional(name string, others ...string) Col {
	for _, n := range append([]string{name}, others...) {
		wanted := columnName(n)
		i := slices.Index(h.names, wanted)
		if i < 0 {
			continue
		}
		if slices.Contains(h.names[i+1:], wanted) {
			h.problems = append(h.problems, "the header names "+name+" twice: rename or remove one")
		}
		h.read[i] = true
		return Col{at: i + 1, name: name}
	}
	return Col{}
}

// Need is the column of a name. A file without it is refused by [Header.Check].
func (h *Header) Need(name string, others ...string) Col {
	c := h.Optional(name, others...)
	if !c.Present() {
		h.problems = append(h.problems, name)
	}
	return c
}

// Pairs are the positions of columns that stand in pairs under the same two names, again and again: the
// name of a charge and its amount. They are read by position from the first pair on, because tools rename
// repeated columns in their own ways (a number, a dot and a number, a number in brackets).
func (h *Header) Pairs(label, amount string) []Pair {
	var pairs []Pair
	for i := 0; i+1 < len(h.names); i++ {
		if isNumbered(h.names[i], columnName(label)) && isNumbered(h.names[i+1], columnName(amount)) {
			pairs = append(pairs, Pair{At(i+1, label), At(i+2, amount)})
			h.read[i], h.read[i+1] = true, true
			i++
		}
	}
	return pairs
}

// Pair is a charge's name beside its amount.
type Pair struct{ Label, Amount Col }

// isNumbered tells whether a name is another with something like a number behind it.
func isNumbered(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base)
	return ok && strings.Trim(rest, " ._-#()0123456789") == ""
}

// Has tells whether the header has all of these names. It marks none as read.
func (h *Header) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(h.names, columnName(n)) })
}

// Check refuses the file if a column that it needs is missing or named twice.
func (h *Header) Check() error {
	var missing, twice []string
	for _, p := range h.problems {
		if strings.HasPrefix(p, "the header") {
			twice = append(twice, p)
		} else {
			missing = append(missing, p)
		}
	}
	if len(twice) > 0 {
		return &invoice.FileError{Fault: invoice.ColumnMissing, Advice: twice[0]}
	}
	if missing == nil {
		return nil
	}
	advice := "the header lacks " + strings.Join(missing, ", ")
	if !slices.Contains(h.read, true) {
		advice += ": the first row must name the columns, separated by commas"
	}
	return &invoice.FileError{Fault: invoice.ColumnMissing, Advice: advice}
}

// Ignored are the names of the columns that nothing is read from.
func (h *Header) Ignored() []string {
	var names []string
	for i, read := range h.read {
		if !read {
			names = append(names, carrier.Sanitise(h.raw[i]))
		}
	}
	return names
}

func columnName(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// Head is the header that the first bytes of a file hold, for [invoice.Dialect.Detect]. It is empty if
// they hold none.
func Head(head []byte) *Header { return NewHeader(FirstRow(head)) }

// FirstRow are the fields of the first row that the first bytes of a file hold.
func FirstRow(head []byte) []string {
	rows, err := Open(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	r, err := rows.take()
	if err != nil {
		return nil
	}
	return r.cells
}
