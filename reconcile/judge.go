package reconcile

import (
	"cmp"
	"slices"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// LabelState is how a label stands towards the invoices.
type LabelState string

// The states of labels. Each label is in one.
const (
	// Billed: charged once that counts.
	Billed LabelState = "billed"

	// BilledBefore: corrected or credited here, so charged on an invoice that is not in this run.
	BilledBefore LabelState = "billed_before"

	// Credited: charged and credited in full, although it is not void.
	Credited LabelState = "credited"

	// Contested: a charge may be this label's or another's.
	Contested LabelState = "contested"

	// Waiting: not billed yet, inside the grace days.
	Waiting LabelState = "pending"

	// Unbilled: not billed, the grace days are over.
	Unbilled LabelState = "never_billed"

	// VoidedClean: void, and nothing is owed for it.
	VoidedClean LabelState = "voided"

	// VoidedBilled: void, and charged without a credit.
	VoidedBilled LabelState = "voided_but_billed"
)

// Placement says where a charge went.
type Placement struct {
	Charge *Charge
	Bucket Bucket
}

// Standing says how a label stands.
type Standing struct {
	Label *Label
	State LabelState
}

// Verdict is what judging a group ends in: every charge is placed once, every label stands once.
type Verdict struct {
	Placements []Placement
	Standings  []Standing
	Findings   []Finding
}

// Judge decides about one group.
func (r Rules) Judge(g Group) Verdict {
	j := judgement{Rules: r}
	owned := make([][]*Charge, len(g.Labels))
	contested := make([]bool, len(g.Labels))
	for i := range g.Charges {
		c := &g.Charges[i]
		switch c.Kind {
		case invoice.Tax:
			j.place(c, Taxes)
			continue
		case invoice.InvoiceLevel:
			j.place(c, InvoiceLevel)
			continue
		case invoice.Freight, invoice.Adjustment, invoice.VoidCredit:
		}
		m := r.match(c, g.Labels)
		switch len(m.labels) {
		case 0:
			j.noLabel(c, m.why)
		case 1:
			owned[m.labels[0]] = append(owned[m.labels[0]], c)
		default:
			j.place(c, Ambiguous)
			j.find(aboutLine(AmbiguousMatch, Error, m.why, *c))
			for _, l := range m.labels {
				contested[l] = true
			}
		}
	}
	for i := range g.Labels {
		j.label(&g.Labels[i], owned[i], contested[i])
	}
	return j.Verdict
}

// judgement collects a verdict.
type judgement struct {
	Rules
	Verdict
}

func (j *judgement) place(c *Charge, b Bucket) {
	j.Placements = append(j.Placements, Placement{Charge: c, Bucket: b})
}

func (j *judgement) find(f Finding) { j.Findings = append(j.Findings, f) }

// noLabel reports a charge for nothing that we bought. What its reference names is a suggestion for
// a person, who alone may settle with it.
func (j *judgement) noLabel(c *Charge, why Reason) {
	j.place(c, NoLabel)
	severity := Error
	if c.Amount.Cents <= 0 {
		severity = Warning
	}
	f := aboutLine(BilledNoLabel, severity, why, *c).nothingExpected()
	if h := c.Hint; h != nil {
		f.Why = ReferenceOfIntent
		if h.Labelled {
			f.Why = ReferenceOfLabel
		}
		f.IntentID, f.CallerID = h.IntentID, h.CallerID
		f.OrderID, f.ParcelNo, f.LabelVersion = h.OrderID, h.ParcelNo, h.LabelVersion
	}
	j.find(f)
}

// label judges a label by the charges that are its own.
func (j *judgement) label(l *Label, charges []*Charge, contested bool) {
	slices.SortStableFunc(charges, func(a, b *Charge) int {
		return cmp.Or(cmp.Compare(a.InvoiceDate, b.InvoiceDate),
			cmp.Compare(a.Source.File, b.Source.File), cmp.Compare(a.Source.Row, b.Source.Row))
	})
	left, credits := j.cancel(charges)
	var state LabelState
	if l.VoidedAt.IsZero() {
		state = j.live(l, left, credits, contested)
	} else {
		state = j.voided(l, left)
	}
	j.Standings = append(j.Standings, Standing{Label: l, State: state})
}

// cancel takes out the pairs that are nothing together, a charge and a credit of the same amount,
// before anything is counted: a rebill and its credit are no double charge. It returns what is
// left, and the credits of the pairs.
func (j *judgement) cancel(charges []*Charge) (left, credits []*Charge) {
	gone := make([]bool, len(charges))
	for i, credit := range charges {
		if credit.Amount.Cents >= 0 || credit.Kind == invoice.Adjustment {
			continue
		}
		opposite := carrier.Money{Cents: -credit.Amount.Cents, Currency: credit.Amount.Currency}
		for k, charge := range slices.Backward(charges) {
			if !gone[k] && charge.Kind == invoice.Freight && charge.Amount == opposite {
				gone[i], gone[k] = true, true
				credits = append(credits, credit)
				break
			}
		}
	}
	for i, c := range charges {
		if gone[i] {
			j.place(c, Cancelled)
		} else {
			left = append(left, c)
		}
	}
	return left, credits
}

// live judges a label that is not void: one charge counts, at the label's cost.
func (j *judgement) live(l *Label, left, credits []*Charge, contested bool) LabelState {
	counted := primary(left, l.Cost)
	for _, c := range left {
		switch {
		case c == counted:
			j.compare(l, c)
		case c.Kind == invoice.Freight && c.Amount.Cents > 0:
			j.place(c, Duplicate)
			why := OnAnotherInvoice
			if c.InvoiceNo == counted.InvoiceNo {
				why = TwiceOnOneInvoice
			}
			f := aboutLine(BilledTwice, Error, why, *c).naming(*l).nothingExpected()
			f.OtherInvoiceNo = counted.InvoiceNo
			j.find(f)
		default:
			j.corrected(l, c)
		}
	}
	switch {
	case counted != nil:
		return Billed
	case len(credits) > 0:
		for _, c := range credits {
			j.find(aboutLine(CreditUnexpected, Warning, CreditWithoutVoid, *c).naming(*l).nothingExpected())
		}
		return Credited
	case len(left) > 0:
		return BilledBefore
	case contested:
		return Contested
	}
	return j.unbilled(l)
}

// primary picks the charge that counts as the label's own: the one at its cost, else the first that
// is money in its currency, else the first of any.
func primary(charges []*Charge, cost carrier.Money) *Charge {
	var best *Charge
	rank := 0
	for _, c := range charges {
		if c.Kind != invoice.Freight || c.Amount.Cents < 0 {
			continue
		}
		is := 1
		switch {
		case c.Amount == cost:
			is = 4
		case c.Amount.Cents > 0 && c.Amount.Currency == cost.Currency:
			is = 3
		case c.Amount.Cents > 0:
			is = 2
		}
		if is > rank {
			best, rank = c, is
		}
	}
	return best
}

// compare holds a label's charge against what the label cost.
func (j *judgement) compare(l *Label, c *Charge) {
	if c.Amount == l.Cost {
		j.place(c, Matched)
		return
	}
	j.place(c, Differs)
	kind, severity, why := OverBilled, Error, AboveCost
	switch {
	case c.Amount.Currency != l.Cost.Currency:
		kind, why = CurrencyMismatch, OtherCurrency
	case c.Amount.Cents < l.Cost.Cents:
		kind, severity, why = UnderBilled, Warning, BelowCost
	}
	j.find(aboutLine(kind, severity, why, *c).naming(*l).expecting(l.Cost))
}

// corrected takes what came after a label's charge.
func (j *judgement) corrected(l *Label, c *Charge) {
	j.place(c, Adjusted)
	kind, severity, why := Adjustment, Info, CorrectedLater
	switch {
	case c.Amount.Cents == 0:
		return
	case c.Kind != invoice.Adjustment:
		kind, severity, why = CreditUnexpected, Warning, CreditWithoutVoid
	}
	j.find(aboutLine(kind, severity, why, *c).naming(*l).nothingExpected())
}

// voided judges a label that was cancelled: what is charged must come back.
func (j *judgement) voided(l *Label, left []*Charge) LabelState {
	state := VoidedClean
	day := invoice.DateOf(l.VoidedAt, j.Zone)
	for _, c := range left {
		j.place(c, VoidCharged)
		if c.Amount.Cents <= 0 {
			// The credit of a charge on an earlier invoice.
			continue
		}
		state = VoidedBilled
		kind, severity, why := BilledVoided, Error, InvoicedAfterVoid
		if c.InvoiceDate < day {
			// The carrier could not know yet: the credit comes on a later invoice.
			kind, severity, why = VoidCreditMissing, Warning, InvoicedBeforeVoid
			if int(j.AsOf-day) < j.GraceDays {
				severity = Info
			}
		}
		j.find(aboutLine(kind, severity, why, *c).naming(*l).nothingExpected())
	}
	return state
}

// unbilled judges a label that no line belongs to.
func (j *judgement) unbilled(l *Label) LabelState {
	kind, severity, why, state := NeverBilled, Warning, PastGrace, Unbilled
	if int(j.AsOf-invoice.DateOf(l.BoughtAt, j.Zone)) < j.GraceDays {
		kind, severity, why, state = Pending, Info, InsideGrace, Waiting
	}
	j.find(aboutLabel(kind, severity, why, *l).expecting(l.Cost))
	return state
}
