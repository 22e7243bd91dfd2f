package invoicegen

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// sheet is a file before it is encoded.
type sheet struct {
	name string
	rows [][]string
}

// write writes every invoice in the world's dialect.
func (b *builder) write() []File {
	var files []File
	for _, sheets := range b.sheets() {
		files = append(files, b.encode(sheets))
	}
	return files
}

// sheets lays the invoices out as rows: a file for each, and one more for each that comes again.
func (b *builder) sheets() []sheet {
	if b.Options.Dialect == EasyPostInvoice || b.Options.Dialect == EasyPostLog {
		return []sheet{b.wallet()}
	}
	var out []sheet
	for i := range b.Invoices {
		inv := &b.Invoices[i]
		if len(inv.Billings) == 0 {
			continue
		}
		out = append(out, b.layout(inv))
		b.refuse(inv, out[len(out)-1])
		if inv.resent || inv.changed != 0 {
			out = append(out, b.copy(inv))
		}
	}
	return out
}

// layout is an invoice in the world's dialect.
func (b *builder) layout(inv *Invoice) sheet {
	switch b.Options.Dialect {
	case UPS:
		return b.ups(inv)
	case FedEx:
		return b.fedex(inv)
	case FedExIntl:
		return b.fedexIntl(inv)
	case DHL:
		return b.dhl(inv)
	case USPS:
		return b.usps(inv)
	default:
		return b.neutral(inv)
	}
}

// copy is the invoice as it comes a second time.
func (b *builder) copy(inv *Invoice) sheet {
	again := *inv
	if inv.changed != 0 {
		again.Billings = slices.Clone(inv.Billings)
		first := &again.Billings[0]
		first.Charges = slices.Clone(first.Charges)
		first.Charges[0].Cents += inv.changed
	}
	s := b.layout(&again)
	stem, ext, _ := strings.Cut(s.name, ".")
	// It sorts after the first.
	s.name = stem + "_again." + ext
	return s
}

// refuse expects a finding for each row that cannot be read.
func (b *builder) refuse(inv *Invoice, s sheet) {
	rows := 0
	for _, row := range s.rows {
		if slices.ContainsFunc(inv.Billings, func(x Billing) bool {
			return x.refused && slices.Contains(row, x.TrackingNo)
		}) {
			rows++
		}
	}
	if rows > 0 {
		b.Findings = append(b.Findings, Finding{Kind: "id_corrupted", File: s.name, Rows: rows, Plant: CorruptedID})
	}
}

// encode makes bytes of rows.
func (b *builder) encode(s sheet) File {
	if b.style.xlsx {
		return File{Name: s.name, Content: workbook(s.rows)}
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.UseCRLF = b.style.crlf
	if b.style.comma {
		w.Comma = ';'
	}
	for _, row := range s.rows {
		// Writing to memory does not fail.
		_ = w.Write(row)
	}
	w.Flush()
	content := text.Bytes()
	switch b.style.encoding {
	case "cp1252":
		narrow, err := charmap.Windows1252.NewEncoder().Bytes(content)
		if err == nil {
			content = narrow
		}
	case "utf-8-bom":
		content = append([]byte("\xef\xbb\xbf"), content...)
	}
	return File{Name: s.name, Content: content}
}

// extension is of the world's files.
func (b *builder) extension() string {
	if b.style.xlsx {
		return "xlsx"
	}
	return "csv"
}

// id dresses an identifier up, in worlds where somebody did so for a spreadsheet.
func (b *builder) id(s string) string {
	if s == "" || !b.style.excel || strings.Contains(s, "E+") {
		return s
	}
	switch len(s) % 3 {
	case 0:
		return `="` + s + `"`
	case 1:
		return "'" + s
	default:
		return "\u00a0" + s + " "
	}
}

// amount writes money with the world's decimal mark.
func (b *builder) amount(inv *Invoice, cents int64) string {
	s := inv.money(cents)
	if b.style.comma {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s
}

// table is rows with named columns.
type table struct {
	header []string
	rows   [][]string
}

// row adds a row of the values that have one; a name that is no column is a fault of this package.
func (t *table) row(values map[string]string) {
	row := make([]string, len(t.header))
	for name, value := range values {
		i := slices.Index(t.header, name)
		if i < 0 {
			panic(fmt.Sprintf("no column %q", name))
		}
		row[i] = value
	}
	t.rows = append(t.rows, row)
}

// sheet is the table under a file's name.
func (t *table) sheet(name string) sheet {
	return sheet{name: name, rows: append([][]string{t.header}, t.rows...)}
}
