package reconcile_test

import (
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/reconcile"
)

// stream yields values and then an error, if there is one.
func stream[T any](err error, values ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

func charges(trackingNos ...string) []reconcile.Charge {
	var out []reconcile.Charge
	for i, no := range trackingNos {
		out = append(out, charge(lineNo(i+1), func(c *reconcile.Charge) { c.TrackingNo = no }))
	}
	return out
}

func labels(trackingNos ...string) []reconcile.Label {
	var out []reconcile.Label
	for _, no := range trackingNos {
		out = append(out, label(func(l *reconcile.Label) { l.TrackingNo = no }))
	}
	return out
}

func TestGroupsMergesByTrackingNumber(t *testing.T) {
	t.Parallel()
	var got []string
	for g, err := range reconcile.Groups(
		stream(nil, charges("", "", "B", "B", "D")...), stream(nil, labels("A", "B", "C", "C")...),
	) {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%q %d labels %d charges", g.TrackingNo, len(g.Labels), len(g.Charges)))
	}
	require.Empty(t, cmp.Diff([]string{
		`"" 0 labels 1 charges`,
		`"" 0 labels 1 charges`,
		`"A" 1 labels 0 charges`,
		`"B" 1 labels 2 charges`,
		`"C" 2 labels 0 charges`,
		`"D" 0 labels 1 charges`,
	}, got))
}

func TestGroupsCountsLinesOfOneNumber(t *testing.T) {
	t.Parallel()
	same := []reconcile.Charge{charge(), charge(), charge(), charge(lineNo(2))}
	for g, err := range reconcile.Groups(stream(nil, same...), stream[reconcile.Label](nil)) {
		require.NoError(t, err)
		for i, want := range []int{0, 1, 2, 0} {
			require.Equal(t, want, g.Charges[i].Copy)
		}
	}
}

func TestGroupsStopsAtAnError(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	for name, seq := range map[string]iter.Seq2[reconcile.Group, error]{
		"ChargesAtOnce": reconcile.Groups(stream(lost, charges()...), stream(nil, labels("A")...)),
		"Charges":       reconcile.Groups(stream(lost, charges("A")...), stream(nil, labels("A", "B")...)),
		"Labels":        reconcile.Groups(stream(nil, charges("A", "B")...), stream(lost, labels("A")...)),
		"LabelsAtOnce":  reconcile.Groups(stream[reconcile.Charge](nil), stream(lost, labels()...)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var last error
			for g, err := range seq {
				require.NoError(t, last, "nothing follows an error")
				last = err
				require.Empty(t, g, "a group cut short is not judged")
			}
			require.ErrorIs(t, last, lost)
		})
	}
}

func TestGroupsRefusesAnUnsortedStream(t *testing.T) {
	t.Parallel()
	var last error
	for _, err := range reconcile.Groups(stream(nil, charges("B", "A")...), stream(nil, labels("A")...)) {
		last = err
	}
	require.ErrorIs(t, last, reconcile.ErrUnsorted)
}

func TestGroupsMayBeLeftEarly(t *testing.T) {
	t.Parallel()
	for g, err := range reconcile.Groups(stream(nil, charges("A", "B")...), stream(nil, labels("A", "B")...)) {
		require.NoError(t, err)
		require.Equal(t, "A", g.TrackingNo)
		break
	}
}
