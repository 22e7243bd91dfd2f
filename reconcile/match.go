package reconcile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"waybill/reconcile/invoice"
)

// Rules are the parameters of judging. There is no clock in them: what is due is judged as of a day.
type Rules struct {
	// AsOf is the day as of which everything is judged.
	AsOf invoice.Date

	// GraceDays is how long after the purchase a carrier may take to bill a label, and after a
	// void to credit it.
	GraceDays int

	// Zone turns instants into days: carriers print days without a zone.
	Zone *time.Location

	// Tolerances are by kind of charge; [Price] is a label's price as a whole.
	Tolerances map[invoice.Kind]Tolerance

	// LateDays is how long after the purchase a charge may still come; 0 is 200 days: carriers rebill
	// after five months and credit voids for six, and use a number again later than that.
	LateDays int

	// DisputeDays is how long after an invoice its carrier takes claims; 0 if that is not known.
	DisputeDays int

	// DoubtDays is the longest that a carrier takes to bill; 0 if that is not known.
	DoubtDays int

	// KeysSince is the instant after which a label's key record cannot have been purged.
	KeysSince time.Time
}

const (
	// EarlyDays lets a carrier's day come before ours: its clock stands in another zone.
	EarlyDays = 2

	lateDays = 200

	// shipDays is how far apart purchase and shipping usually are, to tell two labels apart that
	// both lie in the window.
	shipDays = 14
)

// match is the labels a charge may belong to: one, none, or several that cannot be told apart.
type match struct {
	labels []int
	why    Reason
}

// match finds the label of a charge among those that bear its tracking number. The number alone is
// no key: carriers use it again, on other accounts and in later years.
func (r Rules) match(c *Charge, labels []Label) match {
	switch {
	case c.TrackingNo == "" && c.MasterTrackingNo == "":
		return match{why: NoTracking}
	case len(labels) == 0:
		return match{why: NoSuchTracking}
	}
	// The line's own number is the best evidence, then the shipment's, then the one it replaced.
	for _, by := range []struct {
		number string
		why    Reason
	}{{c.TrackingNo, SameTracking}, {c.MasterTrackingNo, SameMaster}, {c.OriginalTrackingNo, SameOriginal}} {
		if by.number == "" {
			continue
		}
		if same := among(labels, func(l Label) bool { return l.TrackingNo == by.number }); same != nil {
			return r.matchAmong(c, labels, same, by.why)
		}
	}
	return match{why: NoSuchTracking}
}

// matchAmong chooses among the labels that bear a number: by account, and by when they were bought.
func (r Rules) matchAmong(c *Charge, labels []Label, same []int, why Reason) match {
	candidates := slices.DeleteFunc(slices.Clone(same), func(i int) bool { return labels[i].Account != c.Account })
	if len(candidates) == 0 {
		candidates = slices.DeleteFunc(slices.Clone(same), func(i int) bool {
			return bare(labels[i].Account) != bare(c.Account)
		})
		if why == SameTracking {
			why = SameButZeros
		}
	}
	if len(candidates) == 0 {
		return match{why: OtherAccount}
	}
	candidates = r.within(labels, candidates, c.Date(), invoice.Date(r.LateBy())) //nolint:gosec // G115: at most some years.
	switch len(candidates) {
	case 0:
		return match{why: OutsideWindow}
	case 1:
		return match{labels: candidates, why: why}
	}
	if c.ShipDate != 0 {
		if near := r.within(labels, candidates, c.ShipDate, shipDays); len(near) == 1 {
			return match{labels: near, why: SameTrackingShipDate}
		}
	}
	return match{labels: candidates, why: SeveralLabels}
}

// within keeps the candidates that were bought so many days before a date, at most.
func (r Rules) within(labels []Label, candidates []int, date invoice.Date, days invoice.Date) []int {
	var kept []int
	for _, i := range candidates {
		age := date - invoice.DateOf(labels[i].BoughtAt, r.Zone)
		if age >= -EarlyDays && age <= days {
			kept = append(kept, i)
		}
	}
	return kept
}

func among(labels []Label, ok func(Label) bool) []int {
	var kept []int
	for i, l := range labels {
		if ok(l) {
			kept = append(kept, i)
		}
	}
	return kept
}

// LateBy is how many days after the purchase a charge may still come.
func (r Rules) LateBy() int { return cmp.Or(r.LateDays, lateDays) }

// SameAccount tells whether two account numbers are one, the zeros aside that carriers pad them with.
func SameAccount(a, b string) bool { return bare(a) == bare(b) }

// bare is an account number without the zeros that carriers pad it with.
func bare(account string) string { return strings.TrimLeft(account, "0") }
