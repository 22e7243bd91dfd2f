package reconcile

import (
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

	// KeysSince is the instant after which a label's key record cannot have been purged.
	KeysSince time.Time
}

const (
	// earlyDays lets a carrier's day come before ours: its clock stands in another zone.
	earlyDays = 2

	// lateDays is how long after the purchase a charge may still come. Carriers rebill after five
	// months and credit voids for six; they use a number again later than that.
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
	case c.TrackingNo == "":
		return match{why: NoTracking}
	case len(labels) == 0:
		return match{why: NoSuchTracking}
	}
	why := SameTracking
	candidates := among(labels, func(l Label) bool { return l.Account == c.Account })
	if candidates == nil {
		why = SameButZeros
		candidates = among(labels, func(l Label) bool { return bare(l.Account) == bare(c.Account) })
	}
	if candidates == nil {
		return match{why: OtherAccount}
	}
	candidates = r.within(labels, candidates, c.Date(), lateDays)
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
		if age >= -earlyDays && age <= days {
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

// bare is an account number without the zeros that carriers pad it with.
func bare(account string) string { return strings.TrimLeft(account, "0") }
