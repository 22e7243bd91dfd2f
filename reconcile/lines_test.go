package reconcile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// part is a line of a price that is printed in parts.
func part(k invoice.Kind, cents int64, n int, change ...func(*reconcile.Charge)) reconcile.Charge {
	return charge(append([]func(*reconcile.Charge){kind(k), amount(cents), lineNo(n)}, change...)...)
}

func correction(c *reconcile.Charge) { c.Correction = true }

func texted(s string) func(*reconcile.Charge) { return func(c *reconcile.Charge) { c.Text = s } }

// TestJudgePricesInParts: carriers print a label's price as a line for the carriage and more for fuel
// and surcharges. What is held against the cost is their sum.
func TestJudgePricesInParts(t *testing.T) {
	t.Parallel()
	type lines = []string
	again := on("INV2", "2026-03-14")
	for name, tt := range map[string]struct {
		labels  []reconcile.Label
		charges []reconcile.Charge
		want    told
	}{
		"TheSumIsTheCost": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{part(invoice.Freight, 700, 1), part(invoice.Fuel, 90, 2), part(invoice.Residential, 50, 3)},
			told{lines{"matched 7.00", "matched 0.90", "matched 0.50"}, nil, lines{"billed"}},
		},
		"ADiscountIsAPartOfThePrice": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{part(invoice.Freight, 1000, 1), part(invoice.Freight, -160, 2)},
			told{lines{"matched 10.00", "matched -1.60"}, nil, lines{"billed"}},
		},
		"TheSumIsMore": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{part(invoice.Freight, 840, 1), part(invoice.Fuel, 90, 2)},
			told{
				lines{"amount_differs 8.40", "amount_differs 0.90"},
				lines{"error over_billed more_than_the_label_cost 0.90"},
				lines{"billed"},
			},
		},
		"TwoEqualSurchargesCanBeReal": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{part(invoice.Freight, 700, 1), part(invoice.Accessorial, 70, 2), part(invoice.Accessorial, 70, 3)},
			told{lines{"matched 7.00", "matched 0.70", "matched 0.70"}, nil, lines{"billed"}},
		},
		"TwoEqualSurchargesAreOneTooMany": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{part(invoice.Freight, 770, 1), part(invoice.Accessorial, 70, 2), part(invoice.Accessorial, 70, 3)},
			told{
				lines{"duplicate 0.70", "matched 7.70", "matched 0.70"},
				lines{"error possible_duplicate_line twice_on_one_invoice 0.70"},
				lines{"billed"},
			},
		},
		"EqualAmountsOfOtherChargesAreNoRepeat": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{
				part(invoice.Freight, 840, 1),
				part(invoice.Accessorial, 70, 2, texted("signature")), part(invoice.Accessorial, 70, 3, texted("saturday")),
			},
			told{
				lines{"amount_differs 8.40", "amount_differs 0.70", "amount_differs 0.70"},
				lines{"error over_billed more_than_the_label_cost 1.40"},
				lines{"billed"},
			},
		},
		"BilledAgainInParts": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{
				part(invoice.Freight, 750, 1), part(invoice.Fuel, 90, 2),
				part(invoice.Freight, 750, 1, again), part(invoice.Fuel, 90, 2, again),
			},
			told{
				lines{"matched 7.50", "matched 0.90", "duplicate 7.50", "duplicate 0.90"},
				lines{"error billed_twice charged_on_another_invoice_too 8.40"},
				lines{"billed"},
			},
		},
		"BilledAgainAndGivenBackInOneCredit": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{
				part(invoice.Freight, 750, 1), part(invoice.Fuel, 90, 2),
				part(invoice.Freight, 750, 1, again), part(invoice.Fuel, 90, 2, again),
				part(invoice.ServiceCredit, -840, 1, on("INV3", "2026-03-21")),
			},
			told{
				lines{"cancelled 7.50", "cancelled 0.90", "cancelled -8.40", "matched 7.50", "matched 0.90"},
				nil,
				lines{"billed"},
			},
		},
		"ACorrectedFreightIsNoSecondBill": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{
				charge(), part(invoice.Freight, 210, 1, again, correction), part(invoice.Fuel, 20, 2, again, correction),
			},
			told{
				lines{"matched 8.40", "adjustments 2.10", "adjustments 0.20"},
				lines{"warning late_adjustment carrier_corrected_the_price 2.30"},
				lines{"billed"},
			},
		},
		"ACorrectionOnTheInvoiceItCorrects": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{charge(), part(invoice.Weight, 210, 2)},
			told{
				lines{"matched 8.40", "adjustments 2.10"},
				lines{"info adjustment carrier_corrected_the_price 2.10"},
				lines{"billed"},
			},
		},
		"TakenBackAndChargedAnewIsNothingWhereItIsTheSame": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{
				charge(), part(invoice.Freight, -840, 1, again, correction), part(invoice.Freight, 840, 2, again, correction),
			},
			told{lines{"matched 8.40", "adjustments -8.40", "adjustments 8.40"}, nil, lines{"billed"}},
		},
		"FirstBilledAmongTheAdjustments": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{part(invoice.Freight, 750, 1, correction), part(invoice.Fuel, 90, 2, correction)},
			told{lines{"matched 7.50", "matched 0.90"}, nil, lines{"billed"}},
		},
		"ASurchargeThatCompletesThePriceLater": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{part(invoice.Freight, 750, 1), part(invoice.Fuel, 90, 1, again)},
			told{lines{"matched 7.50", "matched 0.90"}, nil, lines{"billed"}},
		},
		"ASurchargeThatComesOnTop": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{charge(), part(invoice.Fuel, 90, 1, again)},
			told{
				lines{"matched 8.40", "adjustments 0.90"},
				lines{"warning late_adjustment carrier_corrected_the_price 0.90"},
				lines{"billed"},
			},
		},
		"ARefundForServiceLeavesTheChargeMatched": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{charge(), part(invoice.ServiceCredit, -840, 1, again)},
			told{
				lines{"matched 8.40", "adjustments -8.40"},
				lines{"info credit_unexpected credited_for_service -8.40"},
				lines{"billed"},
			},
		},
		"AChargeback": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{charge(), part(invoice.Chargeback, 1900, 1, on("INV9", "2026-07-14"))},
			told{
				lines{"matched 8.40", "adjustments 19.00"},
				lines{"error chargeback carrier_charged_for_another_later 19.00"},
				lines{"billed"},
			},
		},
		"AChargebackForNoLabel": {
			nil,
			[]reconcile.Charge{part(invoice.Chargeback, 1900, 1)},
			told{
				lines{"no_label 19.00"},
				lines{"error chargeback no_label_has_this_tracking_number 19.00"},
				nil,
			},
		},
		"AParcelOfNobodyIsOneFinding": {
			nil,
			[]reconcile.Charge{part(invoice.Freight, 750, 1), part(invoice.Fuel, 90, 2), part(invoice.Freight, 750, 1, again)},
			told{
				lines{"no_label 7.50", "no_label 0.90", "no_label 7.50"},
				lines{
					"error billed_no_label no_label_has_this_tracking_number 8.40",
					"error billed_no_label no_label_has_this_tracking_number 7.50",
				},
				nil,
			},
		},
		"AVoidGivenBackInPart": {
			[]reconcile.Label{label(voided("2026-03-05"))},
			[]reconcile.Charge{
				part(invoice.Freight, 750, 1), part(invoice.Fuel, 90, 2), part(invoice.VoidCredit, -700, 1, again),
			},
			told{
				lines{"voided 7.50", "voided 0.90", "voided -7.00"},
				lines{"error billed_voided invoice_dated_on_or_after_the_void 1.40"},
				lines{"voided_but_billed"},
			},
		},
		"AVoidGivenBackLineByLine": {
			[]reconcile.Label{label(voided("2026-03-05"))},
			[]reconcile.Charge{
				part(invoice.Freight, 750, 1), part(invoice.Fuel, 90, 2),
				part(invoice.VoidCredit, -750, 1, again), part(invoice.VoidCredit, -90, 2, again),
			},
			told{
				lines{"cancelled 7.50", "cancelled -7.50", "cancelled 0.90", "cancelled -0.90"},
				nil,
				lines{"voided"},
			},
		},
		"AnUnknownChargeIsKept": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{charge(), part(invoice.Unknown, 55, 2)},
			told{
				lines{"unknown 0.55", "matched 8.40"},
				lines{"warning unknown_charge no_known_charge 0.55"},
				lines{"billed"},
			},
		},
		"DutyAndBrokerageAreNoSecondBill": {
			[]reconcile.Label{label()},
			[]reconcile.Charge{charge(), part(invoice.Duty, 840, 1, again), part(invoice.Brokerage, 100, 2, again)},
			told{lines{"tax 8.40", "tax 1.00", "matched 8.40"}, nil, lines{"billed"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := rules.Judge(reconcile.Group{TrackingNo: "T1", Labels: tt.labels, Charges: tt.charges})
			require.Empty(t, cmp.Diff(tt.want, tell(got), cmp.AllowUnexported(told{})))
		})
	}
}

// TestLedgerCountsInformativeLinesWhereTheInvoiceFootsWithThem: carriers disagree about what such lines
// mean, so the stated total decides, for each invoice.
func TestLedgerCountsInformativeLinesWhereTheInvoiceFootsWithThem(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stated  int64
		rounds  int64
		counted int64
		aside   bool
		found   []reconcile.Kind
	}{
		"With":             {stated: 40, counted: 40},
		"Without":          {stated: 30, counted: 30, aside: true},
		"Neither":          {stated: 35, counted: 30, aside: true, found: []reconcile.Kind{reconcile.InvoiceNotFooting}},
		"WithRounding":     {stated: 41, rounds: 1, counted: 40, found: []reconcile.Kind{reconcile.RoundedTotal}},
		"WithoutRounding":  {stated: 29, rounds: 1, counted: 30, aside: true, found: []reconcile.Kind{reconcile.RoundedTotal}},
		"RoundingTooLarge": {stated: 28, rounds: 1, counted: 30, aside: true, found: []reconcile.Kind{reconcile.InvoiceNotFooting}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := reconcile.NewLedger()
			ledger.AllowRounding("sim", tt.rounds)
			informative := charge(amount(10), lineNo(2))
			informative.Informative = true
			charges := []reconcile.Charge{charge(amount(30)), informative}
			for i := range charges {
				charges[i].StatedCents = tt.stated
				ledger.Take(0, charges[i].Line)
			}
			aside, findings := ledger.Settle()
			var kinds []reconcile.Kind
			for _, f := range findings {
				kinds = append(kinds, f.Kind)
			}
			require.Equal(t, tt.found, kinds)
			require.Equal(t, tt.aside, len(aside) == 1 && aside[0].Informative)
			require.NoError(t, ledger.Place(reconcile.Placement{Charge: &charges[0], Bucket: reconcile.Matched}))
			if !tt.aside {
				require.NoError(t, ledger.Place(reconcile.Placement{Charge: &charges[1], Bucket: reconcile.Matched}))
			}
			invoices, err := ledger.Close()
			require.NoError(t, err)
			require.Equal(t, tt.counted, invoices[0].Lines.Cents)
			foots := len(tt.found) == 0 || tt.found[0] == reconcile.RoundedTotal
			require.Equal(t, foots, invoices[0].Foots())
			require.Equal(t, foots, invoices[0].Difference() == 0)
		})
	}
}
