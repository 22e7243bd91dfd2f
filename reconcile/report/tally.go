package report

import (
	"cmp"
	"maps"
	"slices"

	"waybill/carrier"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

const (
	// maxUrgent is a screenful. All findings are in exceptions.csv.
	maxUrgent = 20

	// maxTop is how many findings of a currency a page shows in full.
	maxTop = 12
)

// tally adds findings up as they come. What it holds does not grow with their number.
type tally struct {
	parameters Parameters
	totals     *reconcile.Totals

	// errors and warnings are the first findings that somebody has to look at.
	errors   []reconcile.Finding
	warnings []reconcile.Finding
	// urgent is how many there are of both.
	urgent     int64
	distrusted bool

	states map[reconcile.State]int64
	// asks are the urgent findings by what totals are kept apart by.
	asks   map[askKey]int64
	stakes map[stakeKey]*reconcile.Sum
	// top are the urgent findings of the most money, by currency; "" for those without.
	top map[string][]reconcile.Finding
	// ages are void credits that are due, by how long.
	ages map[string]*[len(ageBands)]reconcile.Sum
}

type askKey struct {
	kind     reconcile.Kind
	severity reconcile.Severity
	currency string
}

// stakeKey tells apart what never adds up: kinds, currencies, and what was asked too much from what
// was not asked.
type stakeKey struct {
	kind     reconcile.Kind
	currency string
	toClaim  bool
}

// ageBands are the first days of the ages that void credits are told apart by. Carriers credit in
// weeks; what is older than a quarter is seldom credited without asking.
var ageBands = [...]int{0, 15, 31, 61, 91}

func newTally(p Parameters) *tally {
	return &tally{
		parameters: p,
		totals:     reconcile.NewTotals(),
		states:     make(map[reconcile.State]int64),
		asks:       make(map[askKey]int64),
		stakes:     make(map[stakeKey]*reconcile.Sum),
		top:        make(map[string][]reconcile.Finding),
		ages:       make(map[string]*[len(ageBands)]reconcile.Sum),
	}
}

// add counts a finding.
func (t *tally) add(f reconcile.Finding) {
	t.totals.Find(f)
	t.states[f.State]++
	t.distrusted = t.distrusted || f.Kind.Distrusts()
	if f.Kind == reconcile.VoidCreditMissing && !settled(f) {
		t.addAge(f)
	}
	if !urgent(f) {
		return
	}
	t.urgent++
	t.asks[askKey{f.Kind, f.Severity, f.Difference.Currency}]++
	switch {
	case f.Severity == reconcile.Error && len(t.errors) < maxUrgent:
		t.errors = append(t.errors, f)
	case f.Severity == reconcile.Warning && len(t.warnings) < maxUrgent:
		t.warnings = append(t.warnings, f)
	}
	t.addTop(f)
	// What an invoice is off by is no money that anybody asks for yet.
	if f.Difference.Cents != 0 && !f.Kind.Distrusts() {
		addTo(t.stakes, stakeKey{f.Kind, f.Difference.Currency, f.Difference.Cents > 0}, f.Difference.Cents)
	}
}

// urgent tells whether a finding asks somebody to look. One that a person has taken up is known: it
// stays in the totals and does not ask again every night.
func urgent(f reconcile.Finding) bool {
	return f.Severity != reconcile.Info && (f.State == "" || f.State == reconcile.New || f.State == reconcile.Open)
}

// settled tells whether nothing is to be asked of the carrier any more.
func settled(f reconcile.Finding) bool {
	switch f.State {
	case reconcile.Acknowledged, reconcile.CreditedBack, reconcile.Cleared:
		return true
	default:
		return false
	}
}

// addAge counts a void credit by how long it is due.
func (t *tally) addAge(f reconcile.Finding) {
	currency := f.Difference.Currency
	if t.ages[currency] == nil {
		t.ages[currency] = new([len(ageBands)]reconcile.Sum)
	}
	age := int(t.parameters.AsOf - dueSince(f, t.parameters))
	band := 0
	for band+1 < len(ageBands) && age >= ageBands[band+1] {
		band++
	}
	sum := &t.ages[currency][band]
	sum.Count++
	sum.Cents += f.Difference.Cents
}

// dueSince is the day from which a void credit is due: that of the void, or of the charge where the
// void is not known.
func dueSince(f reconcile.Finding, p Parameters) invoice.Date {
	if f.VoidedAt.IsZero() {
		return f.InvoiceDate
	}
	return invoice.DateOf(f.VoidedAt, p.Zone)
}

// addTop keeps the findings of the most money. Ties go by the id, so that the order of findings does
// not matter.
func (t *tally) addTop(f reconcile.Finding) {
	top := append(t.top[f.Difference.Currency], f)
	slices.SortFunc(top, func(a, b reconcile.Finding) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)),
			cmp.Compare(magnitude(b.Difference), magnitude(a.Difference)), cmp.Compare(a.ID, b.ID))
	})
	t.top[f.Difference.Currency] = top[:min(len(top), maxTop)]
}

// topFindings are the kept findings: first those about an input, which have no amount.
func (t *tally) topFindings() []reconcile.Finding {
	var out []reconcile.Finding
	for _, currency := range slices.Sorted(maps.Keys(t.top)) {
		out = append(out, t.top[currency]...)
	}
	return out
}

func rank(s reconcile.Severity) int {
	return slices.Index([]reconcile.Severity{reconcile.Error, reconcile.Warning, reconcile.Info}, s)
}

func magnitude(m carrier.Money) int64 { return max(m.Cents, -m.Cents) }

func addTo[K comparable](sums map[K]*reconcile.Sum, key K, cents int64) {
	if sums[key] == nil {
		sums[key] = new(reconcile.Sum)
	}
	sums[key].Count++
	sums[key].Cents += cents
}

// result is what the findings come to.
func (t *tally) result() Result {
	switch {
	case t.distrusted:
		return Distrusted
	case t.urgent > 0:
		return Findings
	default:
		return Clean
	}
}
