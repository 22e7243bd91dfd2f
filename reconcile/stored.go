package reconcile

import (
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
		if d := int64(c.digest); slices.Contains(stored.digests, d) { //nolint:gosec // G115: bits, not a number.
			known = append(known, d)
		}
	}
	slices.Sort(known)
	switch {
	case slices.Equal(slices.Compact(known), slices.Compact(slices.Clone(stored.digests))):
		return copies[1:]
	case !stored.footed().Foots() && !areParts(copies):
		return copies[1:]
	default:
		return slices.DeleteFunc(slices.Clone(copies), func(c *copied) bool {
			return c != stored && slices.Contains(known, int64(c.digest)) //nolint:gosec // G115: bits, not a number.
		})
	}
}
