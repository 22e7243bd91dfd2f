package reconcile_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"waybill/carrier"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// world is a random truth: labels, the invoices a carrier prints for them with faults planted, and
// what must be found. It knows what it planted and nothing of how it is found.
type world struct {
	t       *rapid.T
	labels  []reconcile.Label
	charges []reconcile.Charge

	// expected are "kind tracking-number difference", planted knowingly.
	expected []string
}

// fates are what can become of one label.
var fates = map[string]func(w *world, l *reconcile.Label){
	"billed": func(w *world, l *reconcile.Label) { w.charge(l, invoice.Freight, l.Cost) },
	"twice": func(w *world, l *reconcile.Label) {
		copies := make(map[int]int64)
		for range rapid.IntRange(2, 4).Draw(w.t, "copies") {
			copies[w.charge(l, invoice.Freight, l.Cost)]++
		}
		w.expectDoubles(l, copies)
	},
	"rebilled and credited": func(w *world, l *reconcile.Label) {
		w.charge(l, invoice.Freight, l.Cost)
		for range rapid.IntRange(1, 3).Draw(w.t, "rebills") {
			other := usd(l.Cost.Cents + rapid.Int64Range(-50, 50).Draw(w.t, "other price"))
			w.charge(l, invoice.Freight, other)
			w.charge(l, invoice.Freight, usd(-other.Cents))
		}
	},
	"too much": func(w *world, l *reconcile.Label) {
		more := rapid.Int64Range(1, 500).Draw(w.t, "more")
		w.charge(l, invoice.Freight, usd(l.Cost.Cents+more))
		w.expect(reconcile.OverBilled, l, more)
	},
	"too little": func(w *world, l *reconcile.Label) {
		less := rapid.Int64Range(1, l.Cost.Cents).Draw(w.t, "less")
		w.charge(l, invoice.Freight, usd(l.Cost.Cents-less))
		w.expect(reconcile.UnderBilled, l, -less)
	},
	"other currency": func(w *world, l *reconcile.Label) {
		w.charge(l, invoice.Freight, carrier.Money{Cents: l.Cost.Cents, Currency: "EUR"})
		w.expect(reconcile.CurrencyMismatch, l, 0)
	},
	"corrected": func(w *world, l *reconcile.Label) {
		first := w.charge(l, invoice.Freight, l.Cost)
		by := rapid.Int64Range(1, 300).Draw(w.t, "correction")
		kind := reconcile.LateAdjustment
		if w.charge(l, invoice.Adjustment, usd(by)) == first {
			kind = reconcile.Adjustment
		}
		w.expect(kind, l, by)
	},
	"never billed": func(w *world, l *reconcile.Label) {
		w.expect(reconcile.NeverBilled, l, -l.Cost.Cents)
	},
	"just bought": func(w *world, l *reconcile.Label) {
		l.BoughtAt = rules.AsOf.Start(time.UTC)
		w.expect(reconcile.Pending, l, -l.Cost.Cents)
	},
	"void": func(_ *world, l *reconcile.Label) { l.VoidedAt = bought.Add(time.Hour) },
	"void and credited": func(w *world, l *reconcile.Label) {
		l.VoidedAt = bought.Add(time.Hour)
		w.charge(l, invoice.Freight, l.Cost)
		w.charge(l, invoice.VoidCredit, usd(-l.Cost.Cents))
	},
	"void and charged": func(w *world, l *reconcile.Label) {
		l.VoidedAt = bought.Add(time.Hour)
		w.charge(l, invoice.Freight, l.Cost)
		w.expect(reconcile.BilledVoided, l, l.Cost.Cents)
	},
	"credited alive": func(w *world, l *reconcile.Label) {
		w.charge(l, invoice.Freight, l.Cost)
		w.charge(l, invoice.VoidCredit, usd(-l.Cost.Cents))
		w.expect(reconcile.CreditUnexpected, l, -l.Cost.Cents)
	},
}

// draw makes a world.
func draw(t *rapid.T) *world {
	w := &world{t: t}
	names := make([]string, 0, len(fates))
	for name := range fates {
		names = append(names, name)
	}
	slices.Sort(names)
	for n := range rapid.IntRange(0, 30).Draw(t, "labels") {
		l := label(func(l *reconcile.Label) {
			l.LabelID, l.TrackingNo = fmt.Sprint("L", n), fmt.Sprintf("T%03d", n)
			l.Cost = usd(rapid.Int64Range(100, 5000).Draw(t, "cost"))
		})
		fates[rapid.SampledFrom(names).Draw(t, "fate")](w, &l)
		w.labels = append(w.labels, l)
	}
	for n := range rapid.IntRange(0, 5).Draw(t, "orphans") {
		l := label(func(l *reconcile.Label) { l.TrackingNo = fmt.Sprintf("X%03d", n) })
		w.charge(&l, invoice.Freight, l.Cost)
		w.expect(reconcile.BilledNoLabel, &l, l.Cost.Cents)
	}
	for range rapid.IntRange(0, 5).Draw(t, "fees") {
		kind := rapid.SampledFrom([]invoice.Kind{invoice.Tax, invoice.InvoiceLevel}).Draw(t, "fee")
		amount := rapid.Int64Range(-500, 500).Draw(t, "amount")
		w.charge(&reconcile.Label{}, kind, usd(amount))
		if kind == invoice.InvoiceLevel {
			w.expect(reconcile.InvoiceLevelCharge, &reconcile.Label{}, amount)
		}
	}
	return w
}

// expectDoubles expects what so many charges at cost on each invoice mean: the first invoice that has
// one alone counts, or the first of all.
func (w *world) expectDoubles(l *reconcile.Label, copies map[int]int64) {
	numbers := slices.Sorted(maps.Keys(copies))
	counted := numbers[0]
	if i := slices.IndexFunc(numbers, func(n int) bool { return copies[n] == 1 }); i >= 0 {
		counted = numbers[i]
	}
	for _, n := range numbers {
		if n != counted {
			w.expect(reconcile.BilledTwice, l, copies[n]*l.Cost.Cents)
			continue
		}
		for range copies[n] - 1 {
			w.expect(reconcile.PossibleDuplicateLine, l, l.Cost.Cents)
		}
	}
}

// charge prints a line on one of a few invoices, and returns which.
func (w *world) charge(l *reconcile.Label, kind invoice.Kind, amount carrier.Money) int {
	number := rapid.IntRange(1, 4).Draw(w.t, "invoice")
	w.charges = append(w.charges, charge(lineNo(len(w.charges)+1), func(c *reconcile.Charge) {
		c.Kind, c.TrackingNo, c.Amount = kind, l.TrackingNo, amount
		c.InvoiceNo, c.InvoiceDate = fmt.Sprint("INV", number), day("2026-03-07")+invoice.Date(number)
	}))
	return number
}

func (w *world) expect(kind reconcile.Kind, l *reconcile.Label, difference int64) {
	w.expected = append(w.expected, fmt.Sprintf("%s %s %d", kind, l.TrackingNo, difference))
}

// stated gives every invoice the total it would state.
func (w *world) stated() {
	totals := make(map[string]int64)
	for _, c := range w.charges {
		totals[c.InvoiceNo+c.Amount.Currency] += c.Amount.Cents
	}
	for i, c := range w.charges {
		w.charges[i].StatedCents = totals[c.InvoiceNo+c.Amount.Currency]
	}
}

// sort brings both streams into the order that a source owes; everything else stays shuffled.
func (w *world) sort() {
	w.charges = rapid.Permutation(w.charges).Draw(w.t, "order of lines")
	slices.SortStableFunc(w.charges, func(a, b reconcile.Charge) int { return strings.Compare(a.TrackingNo, b.TrackingNo) })
	slices.SortStableFunc(w.labels, func(a, b reconcile.Label) int { return strings.Compare(a.TrackingNo, b.TrackingNo) })
}

// TestWhatIsPlantedIsWhatIsFound: whatever happens to labels, every line lands in one bucket, the
// buckets foot, every label stands once, and the findings are those planted and no others.
func TestWhatIsPlantedIsWhatIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t)
		w.stated()
		w.sort()
		ledger := reconcile.NewLedger()
		for _, c := range w.charges {
			ledger.Take(0, c.Line)
		}
		if _, findings := ledger.Settle(); len(findings) > 0 {
			t.Fatalf("every invoice foots, but %s was found", findings[0].Kind)
		}
		var found []string
		ids := make(map[string]bool)
		standings := 0
		for g, err := range reconcile.Groups(stream(nil, w.charges...), stream(nil, w.labels...)) {
			if err != nil {
				t.Fatal(err)
			}
			v := rules.Judge(g)
			for _, p := range v.Placements {
				if err := ledger.Place(p); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range v.Findings {
				found = append(found, fmt.Sprintf("%s %s %d", f.Kind, f.TrackingNo, f.Difference.Cents))
				ids[f.ID] = true
			}
			standings += len(v.Standings)
		}
		if _, err := ledger.Close(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(found)
		slices.Sort(w.expected)
		if !slices.Equal(found, w.expected) {
			t.Fatalf("planted:\n%s\nfound:\n%s", strings.Join(w.expected, "\n"), strings.Join(found, "\n"))
		}
		if len(ids) != len(found) || standings != len(w.labels) {
			t.Fatalf("%d ids for %d findings, %d standings for %d labels", len(ids), len(found), standings, len(w.labels))
		}
	})
}
