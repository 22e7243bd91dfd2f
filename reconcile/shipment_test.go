package reconcile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// parcel is a label of a shipment of several parcels.
func parcel(n string) reconcile.Label {
	return label(func(l *reconcile.Label) { l.LabelID, l.TrackingNo, l.Shipment = "L"+n, "T"+n, "T1" })
}

func ofShipment(trackingNo string) func(*reconcile.Charge) {
	return func(c *reconcile.Charge) { c.TrackingNo, c.MasterTrackingNo, c.Shipment = trackingNo, "T1", "T1" }
}

func TestJudgeShipments(t *testing.T) {
	t.Parallel()
	type lines = []string
	parcels := []reconcile.Label{parcel("1"), parcel("2")}
	for name, tt := range map[string]struct {
		labels  []reconcile.Label
		charges []reconcile.Charge
		want    told
	}{
		"EachParcelAtItsCost": {
			parcels,
			[]reconcile.Charge{charge(ofShipment("T1")), charge(ofShipment("T2"), lineNo(2))},
			told{lines{"matched 8.40", "matched 8.40"}, nil, lines{"billed", "billed"}},
		},
		"SharedOutOtherwise": {
			parcels,
			[]reconcile.Charge{charge(ofShipment("T1"), amount(1000)), charge(ofShipment("T2"), lineNo(2), amount(680))},
			told{lines{"matched 10.00", "matched 6.80"}, nil, lines{"billed", "billed"}},
		},
		"AllAtTheFirst": {
			parcels,
			[]reconcile.Charge{charge(ofShipment("T1"), amount(1680))},
			told{lines{"matched 16.80"}, nil, lines{"billed", "billed"}},
		},
		"TooMuchAtTheFirst": {
			parcels,
			[]reconcile.Charge{charge(ofShipment("T1"), amount(1780))},
			told{
				lines{"amount_differs 17.80"},
				lines{"error over_billed more_than_the_label_cost 1.00"},
				lines{"billed", "billed"},
			},
		},
		"TooMuchForOne": {
			parcels,
			[]reconcile.Charge{charge(ofShipment("T1")), charge(ofShipment("T2"), lineNo(2), amount(940))},
			told{
				lines{"matched 8.40", "amount_differs 9.40"},
				lines{"error over_billed more_than_the_label_cost 1.00"},
				lines{"billed", "billed"},
			},
		},
		"AParcelOfTheShipmentByTheMasterNumber": {
			[]reconcile.Label{parcel("1")},
			[]reconcile.Charge{charge(ofShipment("T9"))},
			told{lines{"matched 8.40"}, nil, lines{"billed"}},
		},
		"ANumberThatReplacedAnother": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{charge(func(c *reconcile.Charge) { c.TrackingNo, c.OriginalTrackingNo, c.Shipment = "T7", "T1", "T1" })},
			told{lines{"matched 8.40"}, nil, lines{"billed"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := rules.Judge(reconcile.Group{TrackingNo: "T1", Labels: tt.labels, Charges: tt.charges})
			require.Empty(t, cmp.Diff(tt.want, tell(got), cmp.AllowUnexported(told{})))
		})
	}
}

func TestTolerancesAreEitherBoundAndAsymmetric(t *testing.T) {
	t.Parallel()
	tolerant := rules
	tolerant.Tolerances = map[invoice.Kind]reconcile.Tolerance{
		reconcile.Price: {
			Over:  reconcile.Allowance{Cents: 5, BasisPoints: 100},
			Under: reconcile.Allowance{Cents: 100},
		},
	}
	for billed, want := range map[int64]reconcile.Kind{
		848: reconcile.WithinTolerance, // one percent of 8.40 is 0.08
		849: reconcile.OverBilled,
		740: reconcile.WithinTolerance,
		739: reconcile.UnderBilled,
	} {
		v := tolerant.Judge(reconcile.Group{
			Labels: []reconcile.Label{label()}, Charges: []reconcile.Charge{charge(amount(billed))},
		})
		require.Len(t, v.Findings, 1)
		require.Equal(t, want, v.Findings[0].Kind, billed)
		require.Equal(t, billed-840, v.Findings[0].Difference.Cents)
	}
}

func TestClaimsSayUntilWhen(t *testing.T) {
	t.Parallel()
	until := rules
	until.DisputeDays = 15
	v := until.Judge(reconcile.Group{
		Labels: []reconcile.Label{label()}, Charges: []reconcile.Charge{charge(amount(900))},
	})
	require.Equal(t, "2026-03-22", v.Findings[0].DisputeBy.String())
}
