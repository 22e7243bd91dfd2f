package simserver

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// invoiceLine is one line of an invoice. Credits are negative.
type invoiceLine struct {
	kind        string
	trackingNo  string
	reference   string
	shipDate    time.Time
	description string
	amountCents int64
}

// The kinds of lines in the neutral format.
const (
	freight      = "freight"
	adjustment   = "adjustment"
	voidCredit   = "void_credit"
	tax          = "tax"
	invoiceLevel = "invoice_level"
)

// bill turns the ledger into an honest invoice: a line for every charge, a credit for every void.
func bill(entries []Entry) []invoiceLine {
	lines := make([]invoiceLine, 0, len(entries))
	for _, e := range entries {
		line := invoiceLine{
			kind:        freight,
			trackingNo:  e.TrackingNo,
			reference:   e.Reference,
			shipDate:    e.At,
			description: "Shipping charge",
			amountCents: e.AmountCents,
		}
		if e.Kind == Void {
			line.kind, line.description, line.amountCents = voidCredit, "Credit for void label", -e.AmountCents
		}
		lines = append(lines, line)
	}
	return lines
}

// draft is an invoice on which mistakes are being planted. No two plants touch the same label.
type draft struct {
	lines []invoiceLine
	taken map[string]bool // tracking numbers

	// closed is when the last entry was made.
	closed time.Time

	// misstated is added to the total that the invoice states.
	misstated int64
}

// plants are the mistakes that can be asked for: what reconciliation must find, or see through.
var plants = map[string]func(*draft) error{
	// The same label billed twice, on a line of its own.
	"double": func(d *draft) error {
		i, err := d.take(freight)
		if err == nil {
			d.lines = append(d.lines, d.lines[i])
		}
		return err
	},
	// A label nobody bought.
	"orphan": func(d *draft) error {
		n := len(d.taken) + 1
		line := invoiceLine{
			kind:        freight,
			trackingNo:  fmt.Sprintf("SIM999999%03dORPHAN", n),
			reference:   fmt.Sprintf("ORPHAN%03d", n),
			shipDate:    d.closed,
			description: "Shipping charge",
			amountCents: 1234,
		}
		d.taken[line.trackingNo] = true
		d.lines = append(d.lines, line)
		return nil
	},
	// A label billed one unit of money too high.
	"wrong_amount": func(d *draft) error {
		i, err := d.take(freight)
		if err == nil {
			d.lines[i].amountCents += 100
		}
		return err
	},
	// A label that was charged and is not on the invoice.
	"unbilled": func(d *draft) error {
		i, err := d.take(freight)
		if err == nil {
			d.lines = slices.Delete(d.lines, i, i+1)
		}
		return err
	},
	// A void label billed without its credit.
	"after_void": func(d *draft) error {
		i, err := d.take(voidCredit)
		if err == nil {
			d.lines = slices.Delete(d.lines, i, i+1)
		}
		return err
	},
	// A later correction of weight: legitimate, and no second bill.
	"adjustment": func(d *draft) error {
		i, err := d.take(freight)
		if err == nil {
			line := d.lines[i]
			line.kind, line.description, line.amountCents = adjustment, "Weight correction", 75
			d.lines = append(d.lines, line)
		}
		return err
	},
	"tax": func(d *draft) error {
		d.lines = append(d.lines, invoiceLine{kind: tax, description: "Tax", amountCents: 321})
		return nil
	},
	"invoice_level": func(d *draft) error {
		d.lines = append(d.lines, invoiceLine{kind: invoiceLevel, description: "Weekly service fee", amountCents: 1500})
		return nil
	},
	// A total that is not the sum of the lines.
	"not_footing": func(d *draft) error {
		d.misstated += 100
		return nil
	},
}

// take finds the first line of a kind whose label no other plant has touched. A label with a void
// is taken only for its void, so that what is planted on freight stands alone.
func (d *draft) take(kind string) (int, error) {
	voided := map[string]bool{}
	for _, l := range d.lines {
		if l.kind == voidCredit {
			voided[l.trackingNo] = true
		}
	}
	for i, l := range d.lines {
		if l.kind != kind || d.taken[l.trackingNo] || (kind == freight && voided[l.trackingNo]) {
			continue
		}
		d.taken[l.trackingNo] = true
		return i, nil
	}
	return 0, fmt.Errorf("no %s line is left to plant it on", kind)
}

// Invoice prints the ledger as a neutral CSV: the same ledger and plants give the same bytes. Each
// plant is one of double, orphan, wrong_amount, unbilled, after_void, adjustment, tax,
// invoice_level, not_footing, and may be named more than once.
func (s *Server) Invoice(planted ...string) ([]byte, error) {
	entries := s.ledger.statement("") // What it sells in other carriers' formats, those bill.
	if len(entries) == 0 && len(planted) > 0 {
		return nil, errors.New("the ledger is empty: there is no invoice to plant anything on")
	}
	d := draft{lines: bill(entries), taken: map[string]bool{}}
	if len(entries) > 0 {
		d.closed = entries[len(entries)-1].At
	}
	for _, name := range planted {
		plant, ok := plants[name]
		if !ok {
			return nil, fmt.Errorf("plant %q is not known", name)
		}
		if err := plant(&d); err != nil {
			return nil, fmt.Errorf("planting %s: %w", name, err)
		}
	}
	return s.writeNeutral(d, len(entries)), nil
}

var neutralColumns = []string{
	"invoice_no", "invoice_date", "carrier", "account", "currency", "line_no", "kind", "tracking_no",
	"reference", "ship_date", "description", "amount", "invoice_total",
}

func (s *Server) writeNeutral(d draft, count int) []byte {
	// The invoice closes with the last entry, so the ledger alone decides its number and date.
	number, date := fmt.Sprintf("%s-%06d", s.cfg.Account, count), civilDate(d.closed)
	total := d.misstated
	for _, l := range d.lines {
		total += l.amountCents
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write(neutralColumns) // a buffer takes everything
	for i, l := range d.lines {
		_ = w.Write([]string{
			number, date, s.cfg.Carrier, s.cfg.Account, s.cfg.Currency, strconv.Itoa(i + 1), l.kind,
			l.trackingNo, l.reference, civilDate(l.shipDate), l.description,
			decimal(l.amountCents), decimal(total),
		})
	}
	w.Flush()
	return out.Bytes()
}

// civilDate is empty for lines that belong to no shipment.
func civilDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// decimal writes cents with two digits after the point.
func decimal(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

func (s *Server) printInvoice(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if format := query.Get("format"); format != "" && format != "neutral" {
		refuse(w, http.StatusBadRequest, "unknown_format", "The format must be neutral.")
		return
	}
	var planted []string
	if list := query.Get("plant"); list != "" {
		planted = strings.Split(list, ",")
	}
	invoice, err := s.Invoice(planted...)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, "not_plantable", err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	_, _ = w.Write(invoice)
}
