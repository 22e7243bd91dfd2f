package reconcile_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// rules judge as of 2026-03-31 with 14 days of grace; bought is a month before.
var (
	rules = reconcile.Rules{
		AsOf:      day("2026-03-31"),
		GraceDays: 14,
		Zone:      time.UTC,
		KeysSince: time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC),
	}
	bought = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
)

func day(s string) invoice.Date {
	d, err := invoice.ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

func usd(cents int64) carrier.Money { return carrier.Money{Cents: cents, Currency: "USD"} }

// label returns a label of 8.40 USD, changed by the options.
func label(change ...func(*reconcile.Label)) reconcile.Label {
	l := reconcile.Label{
		LabelID: "L1", IntentID: "I1", Carrier: "sim", Account: "A1", TrackingNo: "T1", Reference: "R1",
		OrderID: 918273, ParcelNo: 1, LabelVersion: 1, CallerID: "fulfilment", IdempotencyKey: "k1",
		Cost: usd(840), BoughtAt: bought,
	}
	for _, c := range change {
		c(&l)
	}
	return l
}

func voided(at string) func(*reconcile.Label) {
	return func(l *reconcile.Label) { l.VoidedAt = day(at).Start(time.UTC).Add(9 * time.Hour) }
}

// charge returns a freight line of 8.40 USD, changed by the options.
func charge(change ...func(*reconcile.Charge)) reconcile.Charge {
	c := reconcile.Charge{Line: invoice.Line{
		Source:  invoice.Source{File: "march.csv", Row: 2},
		Carrier: "sim", Account: "A1", InvoiceNo: "INV1", InvoiceDate: day("2026-03-07"), LineNo: "1",
		Kind: invoice.Freight, TrackingNo: "T1", Amount: usd(840), StatedCents: 840,
	}}
	for _, f := range change {
		f(&c)
	}
	return c
}

func kind(k invoice.Kind) func(*reconcile.Charge) {
	return func(c *reconcile.Charge) { c.Kind = k }
}

func amount(cents int64) func(*reconcile.Charge) {
	return func(c *reconcile.Charge) { c.Amount.Cents = cents }
}

func on(invoiceNo, date string) func(*reconcile.Charge) {
	return func(c *reconcile.Charge) { c.InvoiceNo, c.InvoiceDate = invoiceNo, day(date) }
}

func lineNo(n int) func(*reconcile.Charge) {
	return func(c *reconcile.Charge) { c.LineNo, c.Source.Row = fmt.Sprint(n), n+1 }
}

// told is what a table expects of a verdict: "bucket amount" for each charge, "severity kind why
// difference" for each finding, the state of each label.
type told struct{ placed, found, stand []string }

func tell(v reconcile.Verdict) told {
	var t told
	for _, p := range v.Placements {
		t.placed = append(t.placed, fmt.Sprintf("%s %s", p.Bucket, p.Charge.Amount.Decimal()))
	}
	for _, f := range v.Findings {
		t.found = append(t.found, fmt.Sprintf("%s %s %s %s", f.Severity, f.Kind, f.Why, f.Difference.Decimal()))
	}
	for _, s := range v.Standings {
		t.stand = append(t.stand, string(s.State))
	}
	return t
}

func TestJudge(t *testing.T) {
	t.Parallel()
	type charges = []reconcile.Charge
	type labels = []reconcile.Label
	type lines = []string
	credit := kind(invoice.VoidCredit)
	adjustment := kind(invoice.Adjustment)
	for _, tt := range []struct {
		name    string
		labels  labels
		charges charges
		want    told
	}{
		{
			"OneChargeAtCostMatches",
			labels{label()},
			charges{charge()},
			told{lines{"matched 8.40"}, nil, lines{"billed"}},
		},
		{
			"SecondChargeOnOneInvoice",
			labels{label()},
			charges{charge(), charge(lineNo(2))},
			told{
				lines{"duplicate 8.40", "matched 8.40"},
				lines{"error possible_duplicate_line twice_on_one_invoice 8.40"},
				lines{"billed"},
			},
		},
		{
			"SecondChargeOnAnotherInvoice",
			labels{label()},
			charges{charge(), charge(on("INV2", "2026-03-14"))},
			told{
				lines{"matched 8.40", "duplicate 8.40"},
				lines{"error billed_twice charged_on_another_invoice_too 8.40"},
				lines{"billed"},
			},
		},
		{
			"TheChargeAtCostCountsAlthoughItCameLater",
			labels{label()},
			charges{charge(amount(900)), charge(on("INV2", "2026-03-14"))},
			told{
				lines{"matched 8.40", "duplicate 9.00"},
				lines{"error billed_twice charged_on_another_invoice_too 9.00"},
				lines{"billed"},
			},
		},
		{
			"RebillWithCreditIsNoDouble",
			labels{label()},
			charges{charge(), charge(on("INV2", "2026-03-14")), charge(on("INV2", "2026-03-14"), lineNo(2), amount(-840))},
			told{lines{"cancelled 8.40", "cancelled -8.40", "matched 8.40"}, nil, lines{"billed"}},
		},
		{
			"ThreeChargesAreTwoTooMany",
			labels{label()},
			charges{charge(), charge(lineNo(2)), charge(lineNo(3))},
			told{
				lines{"duplicate 8.40", "duplicate 8.40", "matched 8.40"},
				lines{
					"error possible_duplicate_line twice_on_one_invoice 8.40",
					"error possible_duplicate_line twice_on_one_invoice 8.40",
				},
				lines{"billed"},
			},
		},
		{
			"MoreThanCost",
			labels{label()},
			charges{charge(amount(1040))},
			told{
				lines{"amount_differs 10.40"},
				lines{"error over_billed more_than_the_label_cost 2.00"},
				lines{"billed"},
			},
		},
		{
			"LessThanCost",
			labels{label()},
			charges{charge(amount(839))},
			told{
				lines{"amount_differs 8.39"},
				lines{"warning under_billed less_than_the_label_cost -0.01"},
				lines{"billed"},
			},
		},
		{
			"OtherCurrencyIsNeverNetted",
			labels{label()},
			charges{charge(func(c *reconcile.Charge) { c.Amount.Currency = "EUR" })},
			told{
				lines{"amount_differs 8.40"},
				lines{"error currency_mismatch billed_in_another_currency 0.00"},
				lines{"billed"},
			},
		},
		{
			"AdjustmentIsForTheRecord",
			labels{label()},
			charges{charge(), charge(adjustment, amount(310), on("INV3", "2026-03-21"))},
			told{
				lines{"matched 8.40", "adjustments 3.10"},
				lines{"warning late_adjustment carrier_corrected_the_price 3.10"},
				lines{"billed"},
			},
		},
		{
			"AdjustmentAloneMeansBilledBefore",
			labels{label()},
			charges{charge(adjustment, amount(-100))},
			told{
				lines{"adjustments -1.00"},
				lines{"info late_adjustment carrier_corrected_the_price -1.00"},
				lines{"billed_before"},
			},
		},
		{
			"NoLabel", nil,
			charges{charge()},
			told{
				lines{"no_label 8.40"},
				lines{"error billed_no_label no_label_has_this_tracking_number 8.40"},
				nil,
			},
		},
		{
			"NoTrackingNumber", nil,
			charges{charge(func(c *reconcile.Charge) { c.TrackingNo = "" })},
			told{
				lines{"no_label 8.40"},
				lines{"error billed_no_label line_has_no_tracking_number 8.40"},
				nil,
			},
		},
		{
			"ReferenceSuggestsALabel", nil,
			charges{charge(func(c *reconcile.Charge) { c.Hint = &reconcile.Hint{IntentID: "I9", Labelled: true} })},
			told{lines{"no_label 8.40"}, lines{"error billed_no_label reference_names_a_label 8.40"}, nil},
		},
		{
			"ReferenceSuggestsAnIntentInDoubt", nil,
			charges{charge(func(c *reconcile.Charge) { c.Hint = &reconcile.Hint{IntentID: "I9"} })},
			told{
				lines{"no_label 8.40"},
				lines{"error billed_no_label reference_names_an_intent_without_label 8.40"},
				nil,
			},
		},
		{
			"OtherAccount",
			labels{label(func(l *reconcile.Label) { l.Account = "B7" })},
			charges{charge()},
			told{
				lines{"no_label 8.40"},
				lines{
					"error billed_no_label label_belongs_to_another_account 8.40",
					"warning never_billed grace_days_are_over -8.40",
				},
				lines{"never_billed"},
			},
		},
		{
			"AccountWithoutItsZeros",
			labels{label(func(l *reconcile.Label) { l.Account = "000A1" })},
			charges{charge()},
			told{lines{"matched 8.40"}, nil, lines{"billed"}},
		},
		{
			"NumberUsedAgainYearsLater",
			labels{
				label(func(l *reconcile.Label) { l.BoughtAt = bought.AddDate(-1, 0, 0) }),
				label(func(l *reconcile.Label) { l.LabelID = "L2" }),
			},
			charges{charge(), charge(on("INV0", "2025-03-08"))},
			told{lines{"matched 8.40", "matched 8.40"}, nil, lines{"billed", "billed"}},
		},
		{
			"BilledBeforeItWasBought",
			labels{label()},
			charges{charge(on("INV0", "2026-02-20"))},
			told{
				lines{"no_label 8.40"},
				lines{
					"error billed_no_label label_was_bought_at_another_time 8.40",
					"warning never_billed grace_days_are_over -8.40",
				},
				lines{"never_billed"},
			},
		},
		{
			"ShipDateTellsTwoLabelsApart",
			labels{
				label(func(l *reconcile.Label) { l.BoughtAt = bought.AddDate(0, -2, 0) }),
				label(func(l *reconcile.Label) { l.LabelID = "L2" }),
			},
			charges{
				charge(func(c *reconcile.Charge) { c.ShipDate = day("2026-03-02") }),
				charge(lineNo(2), func(c *reconcile.Charge) { c.ShipDate = day("2026-01-02") }),
			},
			told{lines{"matched 8.40", "matched 8.40"}, nil, lines{"billed", "billed"}},
		},
		{
			"SeveralLabelsAreNotGuessedAt",
			labels{label(), label(func(l *reconcile.Label) { l.LabelID = "L2" })},
			charges{charge()},
			told{
				lines{"ambiguous 8.40"},
				lines{"error ambiguous_match several_labels_have_this_tracking_number 0.00"},
				lines{"contested", "contested"},
			},
		},
		{
			"ChargeAfterVoid",
			labels{label(voided("2026-03-05"))},
			charges{charge()},
			told{
				lines{"voided 8.40"},
				lines{"error billed_voided invoice_dated_on_or_after_the_void 8.40"},
				lines{"voided_but_billed"},
			},
		},
		{
			"ChargeBeforeVoidWaitsForItsCredit",
			labels{label(voided("2026-03-20"))},
			charges{charge()},
			told{
				lines{"voided 8.40"},
				lines{"info void_credit_missing invoice_dated_before_the_void 8.40"},
				lines{"voided_but_billed"},
			},
		},
		{
			"VoidCreditIsOverdue",
			labels{label(voided("2026-03-17"))},
			charges{charge()},
			told{
				lines{"voided 8.40"},
				lines{"warning void_credit_missing invoice_dated_before_the_void 8.40"},
				lines{"voided_but_billed"},
			},
		},
		{
			"VoidAndItsCredit",
			labels{label(voided("2026-03-05"))},
			charges{charge(), charge(credit, amount(-840), on("INV2", "2026-03-14"))},
			told{lines{"cancelled 8.40", "cancelled -8.40"}, nil, lines{"voided"}},
		},
		{
			"VoidCreditOfAnEarlierInvoice",
			labels{label(voided("2026-03-05"))},
			charges{charge(credit, amount(-840))},
			told{lines{"voided -8.40"}, nil, lines{"voided"}},
		},
		{
			"VoidNeverBilledIsFine",
			labels{label(voided("2026-03-05"))},
			nil,
			told{nil, nil, lines{"voided"}},
		},
		{
			"CreditForALabelThatIsNotVoid",
			labels{label()},
			charges{charge(), charge(credit, amount(-840), lineNo(2))},
			told{
				lines{"cancelled 8.40", "cancelled -8.40"},
				lines{"warning credit_unexpected credited_but_not_voided -8.40"},
				lines{"refunded"},
			},
		},
		{
			"PartOfAChargeCredited",
			labels{label()},
			charges{charge(), charge(credit, amount(-300), lineNo(2))},
			told{
				lines{"matched 8.40", "adjustments -3.00"},
				lines{"warning credit_unexpected credited_but_not_voided -3.00"},
				lines{"billed"},
			},
		},
		{
			"NeverBilled",
			labels{label(func(l *reconcile.Label) { l.BoughtAt = day("2026-03-17").Start(time.UTC) })},
			nil,
			told{nil, lines{"warning never_billed grace_days_are_over -8.40"}, lines{"never_billed"}},
		},
		{
			"PendingOnTheLastDayOfGrace",
			labels{label(func(l *reconcile.Label) { l.BoughtAt = day("2026-03-18").Start(time.UTC) })},
			nil,
			told{nil, lines{"info pending inside_the_grace_days -8.40"}, lines{"pending"}},
		},
		{
			"TaxAndInvoiceLevelStandApart",
			labels{label()},
			charges{charge(), charge(kind(invoice.Tax), lineNo(2)), charge(kind(invoice.InvoiceLevel), lineNo(3))},
			told{
				lines{"tax 8.40", "invoice_level 8.40", "matched 8.40"},
				lines{"info invoice_level_charge belongs_to_the_invoice 8.40"},
				lines{"billed"},
			},
		},
		{
			"NothingChargedBesidesIsNoDouble",
			labels{label()},
			charges{charge(), charge(amount(0), lineNo(2))},
			told{lines{"matched 8.40", "matched 0.00"}, nil, lines{"billed"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := rules.Judge(reconcile.Group{TrackingNo: "T1", Labels: tt.labels, Charges: tt.charges})
			require.Empty(t, cmp.Diff(tt.want, tell(got), cmp.AllowUnexported(told{})))
		})
	}
}

func TestJudgeNamesWhoseLabelItIs(t *testing.T) {
	t.Parallel()
	v := rules.Judge(reconcile.Group{
		Labels: []reconcile.Label{label()}, Charges: []reconcile.Charge{charge(), charge(lineNo(2))},
	})
	require.Len(t, v.Findings, 1)
	require.Empty(t, cmp.Diff(reconcile.Finding{
		ID: v.Findings[0].ID, Kind: reconcile.PossibleDuplicateLine, Severity: reconcile.Error,
		Why: reconcile.TwiceOnOneInvoice, Carrier: "sim", Account: "A1", InvoiceNo: "INV1",
		InvoiceDate: day("2026-03-07"), LineNo: "2", TrackingNo: "T1", Reference: "R1", OrderID: 918273,
		ParcelNo: 1, LabelVersion: 1, LabelID: "L1", IntentID: "I1", CallerID: "fulfilment",
		IdempotencyKey: "k1", Billed: usd(840), Expected: usd(0), Difference: usd(840), OtherInvoiceNo: "INV1",
		Source: invoice.Source{File: "march.csv", Row: 3},
	}, v.Findings[0]))
}

func TestFindingIDStaysWhenTheFileIsAnother(t *testing.T) {
	t.Parallel()
	id := func(change ...func(*reconcile.Charge)) string {
		v := rules.Judge(reconcile.Group{Charges: []reconcile.Charge{charge(change...)}})
		return v.Findings[0].ID
	}
	require.Regexp(t, `^F-[0-9a-f]{20}$`, id())
	require.Equal(t, id(), id(func(c *reconcile.Charge) { c.Source = invoice.Source{File: "again.csv", Row: 77} }))
	require.NotEqual(t, id(), id(lineNo(2)))
	require.NotEqual(t, id(), id(on("INV2", "2026-03-07")))
	require.NotEqual(t, id(), id(func(c *reconcile.Charge) { c.Copy = 1 }))
}
