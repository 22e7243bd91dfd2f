package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

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

func (s *Sum) addAll(o Sum) {
	s.Count += o.Count
	s.Cents += o.Cents
}

// Invoice is an invoice as it was read and as its lines were placed.
type Invoice struct {
	InvoiceKey
	Date invoice.Date

	// StatedCents is the total that the invoice states; Contradicts is true if its rows do not
	// agree about it.
	StatedCents int64
	Contradicts bool

	// Unstated is true where no row states a total: there is nothing to hold the lines against.
	Unstated bool

	// Lines is what was read and counts, Buckets where it went. Informative is what was read and only
	// repeats what other lines say: it is in no bucket.
	Lines       Sum
	Informative Sum
	Buckets     [Buckets]Sum

	// RoundsCents is by how many minor units the carrier's own rounding may part the stated total from
	// the lines.
	RoundsCents int64

	// RoundedCents is what it did part them by. It is in the bucket Rounding once the ledger is closed.
	RoundedCents int64

	// Digests tell its content, one for each file that holds a part. Stored is true where it comes from
	// an earlier run and no file of this one holds it, WithStored where at least a part does.
	Digests    []int64
	Stored     bool
	WithStored bool

	// Before is true for a stored invoice that a run as of an earlier day stored.
	Before bool

	// Contested is true where another copy of the invoice says something else, and this one is judged.
	Contested bool

	source invoice.Source
}

// Foots tells whether what counts adds up to the stated total, the carrier's rounding included.
func (i *Invoice) Foots() bool {
	return !i.Contradicts && i.Difference() == 0
}

// Difference is what the lines, the carrier's rounding included, are short of the stated total, in
// minor units. It is 0 for an invoice that foots.
func (i *Invoice) Difference() int64 {
	if i.Unstated {
		return 0
	}
	return i.StatedCents - i.Lines.Cents - i.RoundedCents
}

// foot decides whether informative lines count, by what the invoice states: where it adds up only with
// them, they do. Both readings are found in carriers' files, so neither is taken for granted.
func (i *Invoice) foot() {
	if i.Unstated {
		return
	}
	missing := i.StatedCents - i.Lines.Cents
	with := missing - i.Informative.Cents
	switch {
	case missing == 0:
	case with == 0, magnitude(missing) > i.RoundsCents && magnitude(with) <= i.RoundsCents:
		i.Lines.Count += i.Informative.Count
		i.Lines.Cents += i.Informative.Cents
		i.Informative, missing = Sum{}, with
	}
	if magnitude(missing) <= i.RoundsCents {
		i.RoundedCents = missing
	}
}

// footed is a copy of an invoice as [Invoice.foot] leaves it.
func (i *Invoice) footed() *Invoice {
	c := *i
	c.foot()
	return &c
}

// SetAside names one file's copy of an invoice that is not judged, because another copy is.
type SetAside struct {
	// File is the number under which the file's lines were taken.
	File int
	InvoiceKey

	// Informative is true where only the copy's informative lines are not judged.
	Informative bool
}

// FileInvoice is an invoice as one file prints it.
type FileInvoice struct {
	File int
	InvoiceKey
}

// Ledger keeps the invoices: it takes every line as it is read, settles which copies of an invoice
// count, and sees every line of those placed once. It holds invoices and no lines.
type Ledger struct {
	copies   map[FileInvoice]*copied
	invoices map[InvoiceKey]*Invoice
	rounds   map[string]int64
	// valid is what a person said of an invoice's contents; seen are the files of earlier days.
	valid map[InvoiceKey]map[int64]bool
	seen  map[int]bool
}

// copied is an invoice as one file prints it. The digest does not depend on the order of lines.
type copied struct {
	Invoice
	file   int
	digest uint64
	// digests are those of a stored invoice, which may be made of several files' parts.
	digests []int64
	// accepted is true for a content that a person said is valid.
	accepted bool
}

// contents are the contents that the copy is made of.
func (c *copied) contents() []int64 {
	if c.file == StoredFile {
		return c.digests
	}
	return []int64{int64(c.digest)} //nolint:gosec // G115: bits, not a number.
}

// StoredFile is the number under which the lines of invoices of earlier runs are taken.
const StoredFile = -1

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{
		copies:   make(map[FileInvoice]*copied),
		invoices: make(map[InvoiceKey]*Invoice),
		rounds:   make(map[string]int64),
		valid:    make(map[InvoiceKey]map[int64]bool),
		seen:     make(map[int]bool),
	}
}

// AllowRounding lets a carrier's stated totals differ from their lines by so many minor units. It must
// be called before the carrier's lines are taken.
func (b *Ledger) AllowRounding(carrier string, cents int64) { b.rounds[carrier] = cents }

// Take notes a line that was read from a file.
func (b *Ledger) Take(file int, l invoice.Line) {
	key := FileInvoice{File: file, InvoiceKey: keyOf(l)}
	c := b.copies[key]
	if c == nil {
		c = &copied{file: file, Invoice: Invoice{
			InvoiceKey:  key.InvoiceKey,
			Date:        l.InvoiceDate,
			StatedCents: l.StatedCents,
			Unstated:    l.Unstated,
			RoundsCents: b.rounds[l.Carrier],
			source:      l.Source,
		}}
		b.copies[key] = c
	}
	c.Contradicts = c.Contradicts || c.StatedCents != l.StatedCents || c.Unstated != l.Unstated
	if l.Informative {
		c.Informative.add(l.Amount.Cents)
	} else {
		c.Lines.add(l.Amount.Cents)
	}
	c.digest += digest(l)
}

// TakeStored notes an invoice of an earlier run, as its Lines, Digests and totals say. Its lines are not
// taken one by one; they count unless a file of this run holds the invoice.
func (b *Ledger) TakeStored(i Invoice) {
	i.Stored, i.WithStored = true, true
	i.RoundsCents = b.rounds[i.Carrier]
	b.copies[FileInvoice{File: StoredFile, InvoiceKey: i.InvoiceKey}] = &copied{
		Invoice: i, file: StoredFile, digests: i.Digests,
	}
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
		slices.SortFunc(copies, b.firstCome)
		heeded, passed := b.heed(key, copies)
		findings = append(append(findings, passed...), b.cameAgain(heeded)...)
		kept, found := settle(standFor(heeded))
		invoice := join(kept).footed()
		invoice.Contested = slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == InvoiceChanged })
		b.invoices[key] = invoice
		for _, c := range copies {
			judged := slices.Contains(kept, c)
			if !judged || c.Informative.Count > 0 && invoice.Informative.Count > 0 {
				aside = append(aside, SetAside{File: c.file, InvoiceKey: key, Informative: judged})
			}
		}
		findings = append(findings, found...)
		switch {
		case !invoice.Foots():
			findings = append(findings, notFooting(invoice))
		case invoice.RoundedCents != 0:
			findings = append(findings, rounded(invoice))
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
	for _, better := range []func(*copied) bool{
		func(c *copied) bool { return c.accepted },
		func(c *copied) bool { return c.footed().Foots() },
	} {
		if i := slices.IndexFunc(kept, better); i >= 0 {
			chosen = kept[i]
			break
		}
	}
	for _, c := range kept {
		if c != chosen {
			f := aboutCopy(InvoiceChanged, Error, OtherContent, c)
			// What the judged content asks. Whether the rest is owed is not said by which of them is valid.
			f.Expected = carrier.Money{Cents: chosen.Lines.Cents, Currency: c.Currency}
			findings = append(findings, f)
		}
	}
	return []*copied{chosen}, findings
}

// areParts tells whether files hold one invoice between them: none foots, all together do.
func areParts(copies []*copied) bool {
	return !slices.ContainsFunc(copies, func(c *copied) bool { return c.footed().Foots() }) &&
		join(copies).footed().Foots()
}

func join(parts []*copied) *Invoice {
	whole := parts[0].Invoice
	whole.Digests = nil
	for _, p := range parts {
		whole.Digests = append(whole.Digests, p.contents()...)
	}
	slices.Sort(whole.Digests)
	for _, p := range parts[1:] {
		whole.Stored = false
		whole.Contradicts = whole.Contradicts || p.Contradicts || p.StatedCents != whole.StatedCents ||
			p.Unstated != whole.Unstated
		whole.Lines.Count += p.Lines.Count
		whole.Lines.Cents += p.Lines.Cents
		whole.Informative.Count += p.Informative.Count
		whole.Informative.Cents += p.Informative.Cents
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

// PlaceAll notes where so many charges of a settled invoice went.
func (b *Ledger) PlaceAll(key InvoiceKey, bucket Bucket, charges Sum) error {
	invoice := b.invoices[key]
	if invoice == nil {
		return fmt.Errorf("placing %d charges of %s: it was never taken", charges.Count, key.InvoiceNo)
	}
	invoice.Buckets[bucket].addAll(charges)
	return nil
}

// Invoices are the invoices that are judged, in order, once the reading has ended.
func (b *Ledger) Invoices() []*Invoice {
	invoices := make([]*Invoice, 0, len(b.invoices))
	for _, key := range slices.SortedFunc(maps.Keys(b.invoices), InvoiceKey.compare) {
		invoices = append(invoices, b.invoices[key])
	}
	return invoices
}

// Taxed are the findings, for the record, about tax, duty and brokerage, one for each invoice that bears
// any, once all lines are placed.
func (b *Ledger) Taxed() []Finding {
	var findings []Finding
	for _, i := range b.Invoices() {
		if i.Buckets[Taxes].Cents != 0 {
			findings = append(findings, taxed(i))
		}
	}
	return findings
}

// Close returns the invoices in order, and an error if a line was placed twice or not at all: then
// no number of the report may be believed.
func (b *Ledger) Close() ([]*Invoice, error) {
	invoices := b.Invoices()
	for _, invoice := range invoices {
		var placed Sum
		for _, s := range invoice.Buckets {
			placed.Count += s.Count
			placed.Cents += s.Cents
		}
		if placed != invoice.Lines {
			return nil, fmt.Errorf("closing invoice %s: %d lines were read and %d placed",
				invoice.InvoiceNo, invoice.Lines.Count, placed.Count)
		}
		invoice.Buckets[Rounding].Cents += invoice.RoundedCents
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

// rounded says for the record that an invoice foots only with the carrier's rounding.
func rounded(i *Invoice) Finding {
	f := aboutInvoice(RoundedTotal, Info, CarrierRounds, i)
	f.ID = findingID(f.Kind, i.Carrier, i.Account, i.InvoiceNo, i.Currency)
	return f.expecting(carrier.Money{Cents: i.StatedCents, Currency: i.Currency})
}

// taxed says for the record what of an invoice is tax, duty and brokerage, which are not in any label's
// price.
func taxed(i *Invoice) Finding {
	f := aboutInvoice(TaxOrDuty, Info, NotInThePrice, i)
	f.ID = findingID(f.Kind, i.Carrier, i.Account, i.InvoiceNo, i.Currency)
	f.Billed.Cents = i.Buckets[Taxes].Cents
	return f.nothingExpected()
}

func aboutCopy(kind Kind, severity Severity, why Reason, c *copied) Finding {
	f := aboutInvoice(kind, severity, why, &c.Invoice)
	if contents := c.contents(); len(contents) > 0 {
		f.Content = contents[0]
	}
	// A content stays what it is under another name; that it came again is about the file.
	of := strconv.FormatInt(f.Content, 16)
	if kind == InvoiceResent {
		of += c.source.File
	}
	f.ID = findingID(kind, c.Carrier, c.Account, c.InvoiceNo, c.Currency, of)
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
