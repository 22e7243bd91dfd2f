package reconcile

import (
	"cmp"
	"slices"
)

// Totals counts labels by how they stand and findings by kind. Money is kept apart by currency.
type Totals struct {
	labels   map[labelsKey]*Sum
	findings map[findingsKey]*Sum
}

type labelsKey struct {
	currency string
	state    LabelState
}

type findingsKey struct {
	kind     Kind
	severity Severity
	currency string
}

// LabelTotal is the labels of one currency that stand alike, and what they cost.
type LabelTotal struct {
	Currency string
	State    LabelState
	Sum
}

// FindingTotal is the findings of one kind, and their differences in one currency. The currency is
// empty for findings that are not about money.
type FindingTotal struct {
	Kind     Kind
	Severity Severity
	Currency string
	Sum
}

// NewTotals returns totals of nothing.
func NewTotals() *Totals {
	return &Totals{labels: make(map[labelsKey]*Sum), findings: make(map[findingsKey]*Sum)}
}

// Stand counts a label.
func (t *Totals) Stand(s Standing) {
	sumAt(t.labels, labelsKey{s.Label.Cost.Currency, s.State}).add(s.Label.Cost.Cents)
}

// StandAll counts labels of one currency that stand alike.
func (t *Totals) StandAll(currency string, state LabelState, labels Sum) {
	sumAt(t.labels, labelsKey{currency, state}).addAll(labels)
}

// Find counts a finding.
func (t *Totals) Find(f Finding) {
	key := findingsKey{f.Kind, f.Severity, f.Difference.Currency}
	sumAt(t.findings, key).add(f.Difference.Cents)
}

// Labels returns the totals of labels, sorted.
func (t *Totals) Labels() []LabelTotal {
	out := make([]LabelTotal, 0, len(t.labels))
	for key, sum := range t.labels {
		out = append(out, LabelTotal{Currency: key.currency, State: key.state, Sum: *sum})
	}
	slices.SortFunc(out, func(a, b LabelTotal) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.State, b.State))
	})
	return out
}

// Findings returns the totals of findings: errors first, then warnings, then what is for the record.
func (t *Totals) Findings() []FindingTotal {
	out := make([]FindingTotal, 0, len(t.findings))
	for key, sum := range t.findings {
		out = append(out, FindingTotal{key.kind, key.severity, key.currency, *sum})
	}
	slices.SortFunc(out, func(a, b FindingTotal) int {
		return cmp.Or(cmp.Compare(rank(a.Severity), rank(b.Severity)),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Currency, b.Currency))
	})
	return out
}

func rank(s Severity) int { return slices.Index([]Severity{Error, Warning, Info}, s) }

func sumAt[K comparable](sums map[K]*Sum, key K) *Sum {
	if sums[key] == nil {
		sums[key] = new(Sum)
	}
	return sums[key]
}
