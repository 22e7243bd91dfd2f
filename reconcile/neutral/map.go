package neutral

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"waybill/reconcile/invoice"
	"waybill/reconcile/sheet"
)

// Map says how a file that is not the neutral one is to be read as if it were: which of its columns stand for ours,
// and what all its rows have in common without saying it.
type Map struct {
	// Columns are the file's names of our columns, under our names.
	Columns map[string]string `yaml:"columns"`

	// Constants are what every row says in columns that the file does not have, under our names.
	Constants map[string]string `yaml:"constants"`

	// Dates is how the file writes days: YYYY-MM-DD, which is also meant if it is empty, or another of dateForms.
	Dates string `yaml:"dates"`
}

// names are our columns.
var names = []string{
	"invoice_no", "invoice_date", "carrier", "account", "currency", "line_no", "kind", "tracking_no", "reference",
	"ship_date", "description", "amount", "invoice_total",
}

// dateForms are the ways to write days that a map can name, with the layouts of package time.
var dateForms = map[string]string{
	"YYYY-MM-DD":  "2006-01-02",
	"YYYYMMDD":    "20060102",
	"YYYY/MM/DD":  "2006/01/02",
	"DD.MM.YYYY":  "02.01.2006",
	"DD/MM/YYYY":  "02/01/2006",
	"MM/DD/YYYY":  "01/02/2006",
	"DD-MMM-YYYY": "02-Jan-2006",
}

// ReadMap reads a map from YAML and refuses what it does not understand: a misspelt column would be an empty one.
func ReadMap(r io.Reader) (Map, error) {
	var m Map
	switch err := yaml.NewDecoder(r, yaml.Strict()).Decode(&m); {
	case errors.Is(err, io.EOF):
		return Map{}, errors.New("the map of columns is empty")
	case err != nil:
		return Map{}, errors.New("reading the map of columns: " + yaml.FormatError(err, false, false))
	}
	return m, m.check()
}

func (m Map) check() error {
	var wrong []error
	for _, members := range []map[string]string{m.Columns, m.Constants} {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if !slices.Contains(names, name) {
				wrong = append(wrong, fmt.Errorf("%q is not one of %s", name, strings.Join(names, ", ")))
			}
			if strings.TrimSpace(members[name]) == "" {
				wrong = append(wrong, fmt.Errorf("%s is mapped to nothing: leave it out", name))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Constants)) {
		if _, both := m.Columns[name]; both {
			wrong = append(wrong, fmt.Errorf("%s is both a column and a constant", name))
		}
	}
	if m.Dates != "" && dateForms[m.Dates] == "" {
		wrong = append(wrong, fmt.Errorf("dates is not one of %s", strings.Join(slices.Sorted(maps.Keys(dateForms)), ", ")))
	}
	if len(m.Columns) == 0 {
		wrong = append(wrong, errors.New("columns names none"))
	}
	return errors.Join(wrong...)
}

func (m Map) layout() string {
	if m.Dates == "" {
		return dateForms["YYYY-MM-DD"]
	}
	return dateForms[m.Dates]
}

// Mapped is the dialect of files that a map describes.
type Mapped struct{ Map Map }

var _ invoice.Dialect = Mapped{}

// Name is "neutral": the map says what the file is, and the rest is the same.
func (Mapped) Name() string { return Name }

// Detect looks for the names that the map gives.
func (d Mapped) Detect(head []byte) bool {
	return sheet.Head(head).Has(slices.Collect(maps.Values(d.Map.Columns))...)
}

// Read implements [invoice.Dialect].
func (d Mapped) Read(r io.Reader, sink invoice.Sink) error { return read(r, sink, d.Map) }

// finder finds our columns in a header, by our names or by those of a map.
type finder struct {
	header *sheet.Header
	Map
}

func (f finder) need(name string) sheet.Col {
	if value, ok := f.Constants[name]; ok {
		return sheet.Constant(name, value)
	}
	if theirs, ok := f.Columns[name]; ok {
		return f.header.Need(theirs).Called(name)
	}
	return f.header.Need(name)
}

func (f finder) optional(name string) sheet.Col {
	if f.Constants[name] == "" && f.Columns[name] == "" {
		return f.header.Optional(name)
	}
	return f.need(name)
}

// needUnlessMapped is a column that our own files must have and mapped ones may do without.
func (f finder) needUnlessMapped(name string) sheet.Col {
	if len(f.Columns) > 0 {
		return f.optional(name)
	}
	return f.need(name)
}
