package report

import (
	"cmp"
	"maps"
	"slices"

	"waybill/carrier"
	"waybill/reconcile"
)

// summarise adds up what was found.
func (r *Report) summarise(run Run) *summary {
	p := r.parameters
	s := &summary{
		SchemaVersion: summarySchema,
		ExitStatus:    r.Result().ExitStatus(),
		Result:        r.Result(),
		Parameters: summaryParameters{
			Carrier:   p.Carrier,
			AsOf:      p.AsOf.String(),
			Since:     p.Since.String(),
			Timezone:  p.Zone.String(),
			GraceDays: p.GraceDays,
			KeyTTL:    p.KeyTTL,
		},
		CompletedKeys: run.CompletedKeys,
		Footing:       summariseFooting(run.Invoices),
		Urgent:        r.tally.urgent,
		Stakes:        r.tally.summariseStakes(),
		Changes:       r.tally.summariseChanges(run),
		Claims:        r.claims.summarise(),
		VoidCredits:   r.tally.summariseAges(),
	}
	s.Rollforward, _ = rollForward(run.Bought, run.Labels) // Check has asked whether it adds up.
	for _, f := range run.Files {
		s.Files = append(s.Files, summaryFile(f))
	}
	for _, i := range run.Invoices {
		s.Invoices = append(s.Invoices, summariseInvoice(i))
	}
	for _, f := range r.tally.totals.Findings() {
		entry := summaryFindings{
			Kind: f.Kind, Severity: f.Severity, Count: f.Count, Currency: f.Currency,
			Urgent: r.tally.asks[askKey{f.Kind, f.Severity, f.Currency}],
		}
		if f.Currency != "" {
			difference := money(f.Cents, f.Currency)
			entry.Difference = &difference
		}
		s.Findings = append(s.Findings, entry)
	}
	return s
}

func summariseInvoice(i *reconcile.Invoice) summaryInvoice {
	out := summaryInvoice{
		Carrier:    i.Carrier,
		InvoiceNo:  i.InvoiceNo,
		Date:       i.Date.String(),
		Account:    i.Account,
		Currency:   i.Currency,
		Buckets:    summariseBuckets(&i.Buckets, i.Currency),
		Lines:      i.Lines.Count,
		Sum:        money(total(&i.Buckets).Cents, i.Currency),
		Difference: money(i.Difference(), i.Currency),
		Foots:      i.Foots(),
	}
	if !i.Unstated {
		stated := money(i.StatedCents, i.Currency)
		out.Stated = &stated
	}
	return out
}

// total is what buckets hold together.
func total(buckets *[reconcile.Buckets]reconcile.Sum) reconcile.Sum {
	var sum reconcile.Sum
	for _, b := range buckets {
		sum.Count += b.Count
		sum.Cents += b.Cents
	}
	return sum
}

func summariseBuckets(sums *[reconcile.Buckets]reconcile.Sum, currency string) []summaryBucket {
	var out []summaryBucket
	for b, sum := range sums {
		out = append(out, summaryBucket{
			Bucket: reconcile.Bucket(b).String(), Lines: sum.Count, Amount: money(sum.Cents, currency),
		})
	}
	return out
}

// footing adds up the invoices of one currency.
type footing struct {
	invoices, broken, lines      int64
	withoutTotal                 int64
	stated, unstated, difference int64
	buckets                      [reconcile.Buckets]reconcile.Sum
}

func (f *footing) add(i *reconcile.Invoice) {
	f.invoices++
	if !i.Foots() {
		f.broken++
	}
	f.lines += i.Lines.Count
	if i.Unstated {
		f.withoutTotal++
		f.unstated += total(&i.Buckets).Cents
	} else {
		f.stated += i.StatedCents
	}
	f.difference += i.Difference()
	for b := range f.buckets {
		f.buckets[b].Count += i.Buckets[b].Count
		f.buckets[b].Cents += i.Buckets[b].Cents
	}
}

// summariseFooting adds the invoices of each currency up.
func summariseFooting(invoices []*reconcile.Invoice) []summaryFooting {
	all := make(map[string]*footing)
	for _, i := range invoices {
		if all[i.Currency] == nil {
			all[i.Currency] = new(footing)
		}
		all[i.Currency].add(i)
	}
	var out []summaryFooting
	for _, currency := range slices.Sorted(maps.Keys(all)) {
		f := all[currency]
		out = append(out, summaryFooting{
			Currency:   currency,
			Invoices:   f.invoices,
			NotFooting: f.broken, WithoutTotal: f.withoutTotal,
			Stated:     money(f.stated, currency),
			Unstated:   money(f.unstated, currency),
			Buckets:    summariseBuckets(&f.buckets, currency),
			Lines:      f.lines,
			Sum:        money(total(&f.buckets).Cents, currency),
			Difference: money(f.difference, currency),
		})
	}
	return out
}

// summariseStakes lists what is at stake, the most first in each currency.
func (t *tally) summariseStakes() []summaryStake {
	var out []summaryStake
	for key, sum := range t.stakes {
		out = append(out, summaryStake{
			Kind: key.kind, Count: sum.Count, Currency: key.currency, Amount: money(sum.Cents, key.currency),
		})
	}
	slices.SortFunc(out, func(a, b summaryStake) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(b.Amount.Minor, a.Amount.Minor),
			cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// summariseChanges counts the findings by their state. They all have none where no state is kept.
func (t *tally) summariseChanges(run Run) summaryChanges {
	c := summaryChanges{
		Since:        run.PreviousAsOf.String(),
		New:          t.states[reconcile.New],
		StillOpen:    t.states[reconcile.Open],
		Acknowledged: t.states[reconcile.Acknowledged],
		Disputed:     t.states[reconcile.Disputed],
		Credited:     t.states[reconcile.CreditedBack],
		Cleared:      int64(len(run.Cleared)),
	}
	known := c.New + c.StillOpen + c.Acknowledged + c.Disputed + c.Credited + c.Cleared
	c.StateKept = known > 0 || run.PreviousAsOf != 0
	return c
}

func (t *tally) summariseAges() []summaryVoidCredit {
	var out []summaryVoidCredit
	for _, currency := range slices.Sorted(maps.Keys(t.ages)) {
		for band, sum := range t.ages[currency] {
			due := summaryVoidCredit{
				Currency: currency, FromDays: ageBands[band], Count: sum.Count, Amount: money(sum.Cents, currency),
			}
			if band+1 < len(ageBands) {
				due.ToDays = ageBands[band+1] - 1
			}
			out = append(out, due)
		}
	}
	return out
}

func (c *claims) summarise() []summaryClaim {
	var out []summaryClaim
	for key, total := range c.totals {
		out = append(out, summaryClaim{
			Carrier: key.carrier, Account: key.account, Currency: key.currency, Count: total.Count,
			Amount: money(total.Cents, key.currency), DisputeBy: total.disputeBy.String(), File: key.fileName(),
		})
	}
	slices.SortFunc(out, func(a, b summaryClaim) int {
		return cmp.Or(cmp.Compare(a.Carrier, b.Carrier), cmp.Compare(a.Account, b.Account),
			cmp.Compare(a.Currency, b.Currency))
	})
	return out
}

func money(cents int64, currency string) summaryMoney {
	return summaryMoney{Minor: cents, Decimal: carrier.Money{Cents: cents, Currency: currency}.Decimal()}
}
