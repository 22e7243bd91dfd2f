package reconcile

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// InvoiceKey is what makes an invoice one. Amounts of two currencies never meet: an invoice in two
// currencies foots in each.
type InvoiceKey struct {
	Carrier   string
	Account   string
	InvoiceNo string
	Currency  string
}

func (k InvoiceKey) compare(o InvoiceKey) int {
	return cmp.Or(cmp.Compare(k.Carrier, o.Carrier), cmp.Compare(k.Account, o.Account),
		cmp.Compare(k.InvoiceNo, o.InvoiceNo), cmp.Compare(k.Currency, o.Currency))
}

// Sum is so many lines, or labels, and their money in minor units.
type Sum struct {
	Count int64
	Cents int64
}

func (s *Sum) add(cents int64) {
	s.Count++
	s.Cents += cents
}

// Invoice is an invoice as it was read and as its lines were placed.
type Invoice struct {
	InvoiceKey
	Date invoice.Date

	// StatedCents is the total that the invoice states; Contradicts is true if its rows do not
	// agree about it.
	StatedCents int64
	Contradicts bool

	// Lines is what was read, Buckets where it went.
	Lines   Sum
	Buckets [Buckets]Sum

	source invoice.Source
}

// Foots tells whether the lines add up to the stated total.
func (i *Invoice) Foots() bool { return !i.Contradicts && i.Lines.Cents == i.StatedCents }

// SetAside names one file's copy of an invoice that is not judged, because another copy is.
type SetAside struct {
	// File is the number under which the file's lines were taken.
	File int
	InvoiceKey
}

// Ledger keeps the invoices: it takes every line as it is read, settles which copies of an invoice
// count, and sees every line of those placed once. It holds invoices and no lines.
type Ledger struct {
	seed     maphash.Seed
	copies   map[SetAside]*copied
	invoices map[InvoiceKey]*Invoice
}

// copied is an invoice as one file prints it. The digest does not depend on the order of lines.
type copied struct {
	Invoice
	file   int
	digest uint64
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{
		seed:     maphash.MakeSeed(),
		copies:   make(map[SetAside]*copied),
		invoices: make(map[InvoiceKey]*Invoice),
	}
}

// Take notes a line that was read from a file.
func (b *Ledger) Take(file int, l invoice.Line) {
	key := SetAside{File: file, InvoiceKey: keyOf(l)}
	c := b.copies[key]
	if c == nil {
		c = &copied{file: file, Invoice: Invoice{
			InvoiceKey:  key.InvoiceKey,
			Date:        l.InvoiceDate,
			StatedCents: l.StatedCents,
			source:      l.Source,
		}}
		b.copies[key] = c
	}
	c.Contradicts = c.Contradicts || c.StatedCents != l.StatedCents
	c.Lines.add(l.Amount.Cents)
	l.Source = invoice.Source{}
	c.digest += maphash.Comparable(b.seed, l)
}

// Settle ends the reading. It decides which copies of each invoice are judged, and reports those
// that are not and the invoices that do not foot. The same content twice counts once; other
// content under one number is a contradiction that a person must solve, unless the copies are
// parts that make up the stated total together.
func (b *Ledger) Settle() ([]SetAside, []Finding) {
	byInvoice := make(map[InvoiceKey][]*copied)
	for _, c := range b.copies {
		byInvoice[c.InvoiceKey] = append(byInvoice[c.InvoiceKey], c)
	}
	b.copies = nil
	var aside []SetAside
	var findings []Finding
	for _, key := range slices.SortedFunc(maps.Keys(byInvoice), InvoiceKey.compare) {
		copies := byInvoice[key]
		slices.SortFunc(copies, func(a, o *copied) int { return cmp.Compare(a.file, o.file) })
		kept, found := settle(copies)
		for _, c := range copies {
			if !slices.Contains(kept, c) {
				aside = append(aside, SetAside{File: c.file, InvoiceKey: key})
			}
		}
		invoice := join(kept)
		b.invoices[key] = invoice
		findings = append(findings, found...)
		if !invoice.Foots() {
			findings = append(findings, notFooting(invoice))
		}
	}
	return aside, findings
}

// settle chooses among the copies of one invoice.
func settle(copies []*copied) (kept []*copied, findings []Finding) {
	var resent []*copied
	for _, c := range copies {
		if slices.ContainsFunc(kept, func(k *copied) bool { return k.digest == c.digest }) {
			resent = append(resent, c)
		} else {
			kept = append(kept, c)
		}
	}
	for _, c := range resent {
		findings = append(findings, aboutCopy(InvoiceResent, Info, SameContent, c))
	}
	if len(kept) == 1 || areParts(kept) {
		return kept, findings
	}
	chosen := kept[0]
	if i := slices.IndexFunc(kept, func(c *copied) bool { return c.Foots() }); i >= 0 {
		chosen = kept[i]
	}
	for _, c := range kept {
		if c != chosen {
			findings = append(findings, aboutCopy(InvoiceChanged, Error, OtherContent, c))
		}
	}
	return []*copied{chosen}, findings
}

// areParts tells whether files hold one invoice between them: none foots, all together do.
func areParts(copies []*copied) bool {
	return !slices.ContainsFunc(copies, func(c *copied) bool { return c.Foots() }) && join(copies).Foots()
}

func join(parts []*copied) *Invoice {
	whole := parts[0].Invoice
	for _, p := range parts[1:] {
		whole.Contradicts = whole.Contradicts || p.Contradicts || p.StatedCents != whole.StatedCents
		whole.Lines.Count += p.Lines.Count
		whole.Lines.Cents += p.Lines.Cents
	}
	return &whole
}

// Place notes where a charge of a settled invoice went.
func (b *Ledger) Place(p Placement) error {
	invoice := b.invoices[keyOf(p.Charge.Line)]
	if invoice == nil {
		return fmt.Errorf("placing %s: its invoice was never taken", p.Charge.Source)
	}
	invoice.Buckets[p.Bucket].add(p.Charge.Amount.Cents)
	return nil
}

// Close returns the invoices in order, and an error if a line was placed twice or not at all: then
// no number of the report may be believed.
func (b *Ledger) Close() ([]*Invoice, error) {
	invoices := make([]*Invoice, 0, len(b.invoices))
	for _, key := range slices.SortedFunc(maps.Keys(b.invoices), InvoiceKey.compare) {
		invoice := b.invoices[key]
		var placed Sum
		for _, s := range invoice.Buckets {
			placed.Count += s.Count
			placed.Cents += s.Cents
		}
		if placed != invoice.Lines {
			return nil, fmt.Errorf("closing invoice %s: %d lines were read and %d placed",
				key.InvoiceNo, invoice.Lines.Count, placed.Count)
		}
		invoices = append(invoices, invoice)
	}
	return invoices, nil
}

func keyOf(l invoice.Line) InvoiceKey {
	return InvoiceKey{l.Carrier, l.Account, l.InvoiceNo, l.Amount.Currency}
}

func notFooting(i *Invoice) Finding {
	why := LinesMissTotal
	if i.Contradicts {
		why = TotalsDiffer
	}
	f := aboutInvoice(InvoiceNotFooting, Error, why, i)
	f.ID = findingID(f.Kind, i.Carrier, i.Account, i.InvoiceNo, i.Currency)
	return f.expecting(carrier.Money{Cents: i.StatedCents, Currency: i.Currency})
}

func aboutCopy(kind Kind, severity Severity, why Reason, c *copied) Finding {
	f := aboutInvoice(kind, severity, why, &c.Invoice)
	f.ID = findingID(kind, c.Carrier, c.Account, c.InvoiceNo, c.Currency, c.source.File)
	return f
}

func aboutInvoice(kind Kind, severity Severity, why Reason, i *Invoice) Finding {
	return Finding{
		Kind:        kind,
		Severity:    severity,
		Why:         why,
		Carrier:     i.Carrier,
		Account:     i.Account,
		InvoiceNo:   i.InvoiceNo,
		InvoiceDate: i.Date,
		Billed:      carrier.Money{Cents: i.Lines.Cents, Currency: i.Currency},
		Source:      invoice.Source{File: i.source.File},
	}
}
