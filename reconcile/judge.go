package reconcile

import (
	"fmt"
	"slices"

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

	// Refunded: charged and given back in full, although it is not void.
	Refunded LabelState = "refunded"

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
	var unowned pile
	for i := range g.Charges {
		c := &g.Charges[i]
		if roleOf(c.Line) == ofNone {
			j.apart(c)
			continue
		}
		m := r.match(c, g.Labels)
		if len(m.labels) == 1 {
			owned[m.labels[0]] = append(owned[m.labels[0]], c)
			continue
		}
		unowned.add(c, m)
		for _, l := range m.labels {
			contested[l] = true
		}
	}
	j.unowned(unowned)
	if !slices.Contains(contested, true) && j.shipment(g.Labels, owned) {
		return j.Verdict
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

func (j *judgement) placeAll(charges []*Charge, b Bucket) {
	for _, c := range charges {
		j.place(c, b)
	}
}

func (j *judgement) find(f Finding) { j.Findings = append(j.Findings, j.disputable(f)) }

// disputable adds until when the carrier takes a claim, where there is something to claim.
func (r Rules) disputable(f Finding) Finding {
	if r.DisputeDays > 0 && f.InvoiceDate != 0 && f.Difference.Cents > 0 && f.Severity != Info {
		f.DisputeBy = f.InvoiceDate + invoice.Date(r.DisputeDays) //nolint:gosec // G115: at most a year.
	}
	return f
}

// apart takes what is no part of a label's price. Taxes are reported by invoice, when it is closed.
func (j *judgement) apart(c *Charge) {
	b := apart(c.Kind)
	j.place(c, b)
	switch b {
	case InvoiceLevel:
		j.find(aboutLine(InvoiceLevelCharge, Info, OfTheInvoice, *c).nothingExpected())
	case Unknown:
		j.find(aboutLine(UnknownCharge, Warning, ChargeUnknown, *c).nothingExpected())
	case Rounding:
		j.find(aboutLine(RoundedTotal, Info, CarrierRounds, *c).nothingExpected())
	default:
	}
}

// pile gathers charges that no one label owns by what they are reported as: one finding for all that
// an invoice says about one number.
type pile struct {
	order []string
	heaps map[string]*heap
}

type heap struct {
	charges []*Charge
	match
}

func (p *pile) add(c *Charge, m match) {
	name := fmt.Sprint(c.Account, "\x00", c.InvoiceNo, "\x00", c.Amount.Currency, "\x00", c.TrackingNo, "\x00",
		m.why, m.labels, roleOf(c.Line) == ofChargeback)
	if p.heaps == nil {
		p.heaps = make(map[string]*heap)
	}
	if p.heaps[name] == nil {
		p.heaps[name] = &heap{match: m}
		p.order = append(p.order, name)
	}
	p.heaps[name].charges = append(p.heaps[name].charges, c)
}

func (j *judgement) unowned(p pile) {
	for _, name := range p.order {
		h := p.heaps[name]
		if len(h.labels) == 0 {
			j.noLabel(h.charges, h.why)
			continue
		}
		j.placeAll(h.charges, Ambiguous)
		j.find(aboutLines(AmbiguousMatch, Error, h.why, h.charges))
	}
}

// noLabel reports charges for nothing that we bought. What their reference names is a suggestion for
// a person, who alone may settle with it.
func (j *judgement) noLabel(charges []*Charge, why Reason) {
	j.placeAll(charges, NoLabel)
	kind, severity := BilledNoLabel, Error
	switch {
	case sum(charges).Cents <= 0:
		severity = Warning
	case roleOf(charges[0].Line) == ofChargeback:
		kind = Chargeback
	}
	f := aboutLines(kind, severity, why, charges).nothingExpected()
	for _, c := range charges {
		if h := c.Hint; h != nil {
			j.find(f.suggesting(*h))
			return
		}
	}
	j.find(f)
}

// suggesting adds what a reference names.
func (f Finding) suggesting(h Hint) Finding {
	f.Why = ReferenceOfIntent
	if h.Labelled {
		f.Why = ReferenceOfLabel
	}
	f.IntentID, f.CallerID = h.IntentID, h.CallerID
	f.OrderID, f.ParcelNo, f.LabelVersion = h.OrderID, h.ParcelNo, h.LabelVersion
	return f
}

// label judges a label by the charges that are its own.
func (j *judgement) label(l *Label, charges []*Charge, contested bool) {
	bills := billsOf(charges)
	credits := j.cancel(bills)
	var state LabelState
	if l.VoidedAt.IsZero() {
		state = j.live(l, bills, credits, contested)
	} else {
		state = j.voided(l, bills)
	}
	j.Standings = append(j.Standings, Standing{Label: l, State: state})
}
