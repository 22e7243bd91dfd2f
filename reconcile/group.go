package reconcile

import (
	"cmp"
	"errors"
	"iter"
	"strconv"

	"waybill/reconcile/invoice"
)

// Charge is a line on its way to a bucket.
type Charge struct {
	invoice.Line

	// Copy counts lines of one invoice that cannot be told apart by number: 0 for the first.
	Copy int

	// Shipment names what has to be judged together where that is more than the line's own tracking
	// number: a shipment of several parcels, a number and the one that replaced it. Empty if it is not.
	Shipment string

	// Hint is what the line's reference names; nil if nothing.
	Hint *Hint
}

// Group is everything that bears one tracking number at one carrier, or belongs to one shipment: what
// has to be judged together, and nothing that has not. A line without any number is a group of its own.
type Group struct {
	TrackingNo string
	Labels     []Label
	Charges    []Charge
}

// ErrUnsorted is returned by [Groups] for a stream that is not in the order it must be in.
var ErrUnsorted = errors.New("stream is not sorted by tracking number")

// Groups merges charges and labels of one carrier into groups. Both streams come sorted by
// shipment, or tracking number where that is empty, byte by byte; charges of one by account, invoice and
// line number too. Only one group is in memory at a time.
func Groups(charges iter.Seq2[Charge, error], labels iter.Seq2[Label, error]) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		left := newHead(charges, func(c Charge) string { return cmp.Or(c.Shipment, c.TrackingNo) })
		defer left.stop()
		right := newHead(labels, func(l Label) string { return cmp.Or(l.Shipment, l.TrackingNo) })
		defer right.stop()
		for left.ok || right.ok {
			g := nextGroup(left, right)
			if left.err != nil || right.err != nil {
				break
			}
			if !yield(g, nil) {
				return
			}
		}
		// A group that an error cut short is not judged: half of it would be a false finding.
		if err := errors.Join(left.err, right.err); err != nil {
			yield(Group{}, err)
		}
	}
}

func nextGroup(charges *head[Charge], labels *head[Label]) Group {
	g := Group{TrackingNo: labels.key}
	if !labels.ok || charges.ok && charges.key < labels.key {
		g.TrackingNo = charges.key
	}
	for labels.ok && labels.key == g.TrackingNo {
		g.Labels = append(g.Labels, labels.value)
		labels.advance()
	}
	for charges.ok && charges.key == g.TrackingNo {
		c := charges.value
		c.Copy = copyOf(charges.previous, c)
		charges.previous = &c
		g.Charges = append(g.Charges, c)
		charges.advance()
		if g.TrackingNo == "" {
			break
		}
	}
	return g
}

// copyOf counts on from the line before if both bear the same name.
func copyOf(previous *Charge, c Charge) int {
	if previous == nil || previous.TrackingNo != c.TrackingNo || previous.Account != c.Account ||
		previous.InvoiceNo != c.InvoiceNo || previous.LineNo != c.LineNo {
		return 0
	}
	return previous.Copy + 1
}

// head is a stream's first element that is not taken yet.
type head[T any] struct {
	pull func() (T, error, bool)
	stop func()
	of   func(T) string

	value T
	key   string
	ok    bool
	err   error
	// previous is the element that was taken last.
	previous *T
}

func newHead[T any](seq iter.Seq2[T, error], of func(T) string) *head[T] {
	h := &head[T]{of: of}
	h.pull, h.stop = iter.Pull2(seq)
	h.advance()
	return h
}

func (h *head[T]) advance() {
	last := h.key
	h.value, h.err, h.ok = h.pull()
	if !h.ok {
		return
	}
	if h.err != nil {
		h.ok = false
		return
	}
	if h.key = h.of(h.value); h.key < last {
		h.ok, h.err = false, ErrUnsorted
	}
}

func decimal(n int) string { return strconv.Itoa(n) }
