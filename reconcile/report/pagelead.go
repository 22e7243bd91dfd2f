package report

import (
	"fmt"
	"slices"
	"strings"

	"waybill/reconcile"
)

// pageVerdict is the whole report in a sentence or two.
func pageVerdict(s *summary) string {
	switch s.Result {
	case Clean:
		return "Nothing to do. Nothing was found that asks for a person, and " + addsUp(s.Footing) + "."
	case Distrusted:
		return "Do not act on the amounts yet: " + distrustedBy(s.Findings) +
			". Mend that and run again, because the rest may follow from it."
	case Findings:
	}
	verdict := fmt.Sprintf("%s a person to look, and %s.", plural(s.Urgent, "finding asks", "findings ask"), addsUp(s.Footing))
	if claimed := claimedByCurrency(s.Claims); len(claimed) > 0 {
		verdict += " " + listed(claimed) + " can be claimed back."
	}
	return verdict
}

// addsUp says what is proved where every invoice foots: nothing of one that states no total.
func addsUp(footing []summaryFooting) string {
	var all, unstated int64
	for _, f := range footing {
		all += f.Invoices
		unstated += f.WithoutTotal
	}
	switch unstated {
	case 0:
		return "every invoice adds up to the total it states"
	case all:
		return "no invoice states a total that its lines could be held against"
	default:
		return "every invoice that states a total adds up to it; " + plural(unstated, "states none", "state none")
	}
}

// distrustedBy names what is wrong with the inputs.
func distrustedBy(totals []summaryFindings) string {
	counts := make(map[reconcile.Kind]int64)
	var kinds []reconcile.Kind
	for _, t := range totals {
		if t.Kind.Distrusts() {
			if counts[t.Kind] == 0 {
				kinds = append(kinds, t.Kind)
			}
			counts[t.Kind] += t.Count
		}
	}
	var out []string
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s (%s)", strings.ToLower(guideTo(k).title), grouped(counts[k])))
	}
	return listed(out)
}

func pageFacts(p summaryParameters) []fact {
	return []fact{
		{"Labels", labelsSince(p.Since)},
		{"Grace", count(int64(p.GraceDays), "day")},
		{"Days in", p.Timezone},
	}
}

func labelsSince(day string) string {
	if day == "" {
		return "all ever bought"
	}
	return "since " + day
}

// pageCards are the figures that are seen first.
func pageCards(s *summary) []card {
	look := card{Label: "To look at", Values: []string{grouped(s.Urgent)}, Note: "findings", Tone: "good"}
	if s.Urgent > 0 {
		look.Tone = "look"
	}
	if s.Urgent == 1 {
		look.Note = "finding"
	}
	var bought int64
	for _, r := range s.Rollforward {
		bought += r.Bought.Labels
	}
	// Publish refuses labels that do not add up, so all are accounted for.
	labels := card{
		Label: "Labels accounted for", Values: []string{grouped(bought)}, Note: "of " + grouped(bought) + " bought", Tone: "good",
	}
	return []card{claimsCard(s.Claims), look, footingCard(s.Footing), labels}
}

func claimsCard(claims []summaryClaim) card {
	if len(claims) == 0 {
		return card{Label: "To claim back", Values: []string{"0.00"}, Note: "no claim to make", Tone: "good"}
	}
	var n int64
	for _, c := range claims {
		n += c.Count
	}
	return card{
		Label: "To claim back", Values: claimedByCurrency(claims), Tone: "look",
		Note: plural(n, "claim", "claims") + ", in " + plural(int64(len(claimFiles(claims))), "file", "files"),
	}
}

func footingCard(footing []summaryFooting) card {
	var stated, broken, unstated int64
	for _, f := range footing {
		stated += f.Invoices - f.WithoutTotal
		broken += f.NotFooting
		unstated += f.WithoutTotal
	}
	c := card{
		Label: "Invoices that foot", Values: []string{grouped(stated-broken) + " of " + grouped(stated)},
		Note: "all add up, to the cent", Tone: "good",
	}
	switch {
	case broken > 0:
		c.Note, c.Tone = grouped(broken)+" to mend", "stop"
	case stated == 0 && unstated > 0:
		c.Values, c.Note, c.Tone = []string{"not stated"}, "no total to hold the lines against", "look"
	case unstated > 0:
		c.Note += "; " + grouped(unstated) + " without a total"
	}
	return c
}

func claimFiles(claims []summaryClaim) []string {
	var names []string
	for _, c := range claims {
		names = append(names, c.File)
	}
	return slices.Compact(names)
}

// claimedByCurrency adds claims up, never across currencies.
func claimedByCurrency(claims []summaryClaim) []string {
	sums := make(map[string]int64)
	var currencies []string
	for _, c := range claims {
		if _, seen := sums[c.Currency]; !seen {
			currencies = append(currencies, c.Currency)
		}
		sums[c.Currency] += c.Amount.Minor
	}
	slices.Sort(currencies)
	var out []string
	for _, currency := range currencies {
		out = append(out, printed(money(sums[currency], currency))+" "+currency)
	}
	return out
}
