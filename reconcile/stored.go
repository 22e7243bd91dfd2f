package reconcile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"waybill/reconcile/invoice"
)

// digest tells a line's content, wherever it was read. Digests of an invoice's lines are added up, so
// that their order plays no part.
func digest(l invoice.Line) uint64 {
	h := make([]byte, 0, 512)
	for _, text := range []string{
		l.Carrier, l.Account, l.InvoiceNo, l.OriginalInvoiceNo, l.LineNo, string(l.Kind), l.TrackingNo,
		l.MasterTrackingNo, l.OriginalTrackingNo, l.Reference, l.Text, l.Amount.Currency,
	} {
		h = strconv.AppendInt(h, int64(len(text)), 10)
		h = append(append(h, ':'), text...)
	}
	for _, n := range []int64{int64(l.InvoiceDate), int64(l.ShipDate), l.Amount.Cents, l.StatedCents} {
		h = append(strconv.AppendInt(h, n, 10), ',')
	}
	for _, b := range []bool{l.Correction, l.Informative, l.Unstated} {
		h = strconv.AppendBool(h, b)
	}
	sum := sha256.Sum256(h)
	return binary.BigEndian.Uint64(sum[:])
}

// standFor lets files stand for an invoice of an earlier run whose content they hold, or the earlier run
// for files that hold only a part of it. One that did not foot gives way to any file.
func standFor(copies []*copied) []*copied {
	stored := copies[0]
	if stored.file != StoredFile || len(copies) == 1 {
		return copies
	}
	var known []int64
	for _, c := range copies[1:] {
		if d := c.contents()[0]; slices.Contains(stored.digests, d) {
			known = append(known, d)
		}
	}
	slices.Sort(known)
	switch {
	case slices.Equal(slices.Compact(known), slices.Compact(slices.Clone(stored.digests))):
		return copies[1:]
	case !stored.accepted && !stored.footed().Foots() && !areParts(copies):
		return copies[1:]
	default:
		return slices.DeleteFunc(slices.Clone(copies), func(c *copied) bool {
			return c != stored && slices.Contains(known, c.contents()[0])
		})
	}
}

// Decide tells what a person said of one content of an invoice: that it is valid, or that it was given up for
// one that is. It must be called before Settle.
func (b *Ledger) Decide(key InvoiceKey, content int64, valid bool) {
	if b.valid[key] == nil {
		b.valid[key] = make(map[int64]bool)
	}
	b.valid[key][content] = valid
}

// Seen tells that a file was there on an earlier day, under the name that it has. It must be called before
// Settle.
func (b *Ledger) Seen(file int) { b.seen[file] = true }

// firstCome orders the copies of an invoice: what earlier runs left, files that were there on an earlier day,
// then by file.
func (b *Ledger) firstCome(x, y *copied) int {
	rank := func(c *copied) int {
		switch {
		case c.file == StoredFile:
			return 0
		case b.seen[c.file]:
			return 1
		default:
			return 2
		}
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.file, y.file))
}

// heed marks the contents that a person accepted, and passes over those that were given up for them. While
// no accepted content is at hand nothing is given up: an invoice that was known would be gone.
func (b *Ledger) heed(key InvoiceKey, copies []*copied) (kept []*copied, findings []Finding) {
	said := b.valid[key]
	for _, c := range copies {
		c.accepted = slices.ContainsFunc(c.contents(), func(d int64) bool { return said[d] })
	}
	if !slices.ContainsFunc(copies, func(c *copied) bool { return c.accepted }) {
		return copies, nil
	}
	for _, c := range copies {
		stands := slices.ContainsFunc(c.contents(), func(d int64) bool {
			valid, known := said[d]
			return valid || !known
		})
		switch {
		case stands:
			kept = append(kept, c)
		case c.file != StoredFile:
			findings = append(findings, aboutCopy(InvoiceResent, Info, GivenUp, c))
		}
	}
	return kept, findings
}

// cameAgain says for the record which files bring what a run of an earlier day stored, and were not there
// then. Of several that bring the same, the first stands for the stored one.
func (b *Ledger) cameAgain(copies []*copied) (findings []Finding) {
	if len(copies) == 0 || !copies[0].Before {
		return nil
	}
	var brought []int64
	for _, c := range copies[1:] {
		d := c.contents()[0]
		if !slices.Contains(copies[0].digests, d) || slices.Contains(brought, d) {
			continue
		}
		brought = append(brought, d)
		if !b.seen[c.file] {
			findings = append(findings, aboutCopy(InvoiceResent, Info, SameContent, c))
		}
	}
	return findings
}
