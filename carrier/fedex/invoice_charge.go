package fedex

import (
	"cmp"
	"regexp"
	"strings"

	"waybill/reconcile/invoice"
)

// chargeWords sort charges by what their names hold; the first that fits decides. FedEx publishes no codes in
// these files, and names differ with the year and the country.
var chargeWords = []struct {
	words string
	kind  invoice.Kind
}{
	{"fuel", invoice.Fuel},
	{"address correction", invoice.AddressCorrection},
	{"weight", invoice.Weight},
	{"dimension", invoice.Weight},
	{"audit", invoice.Adjustment},
	{"money back", invoice.ServiceCredit},
	{"money-back", invoice.ServiceCredit},
	{"guarantee", invoice.ServiceCredit},
	{"void", invoice.VoidCredit},
	{"rebill", invoice.Chargeback},
	{"chargeback", invoice.Chargeback},
	{"return", invoice.Return},
	{"residential", invoice.Residential},
	{"home delivery", invoice.Residential},
	{"delivery area", invoice.Area},
	{"das ", invoice.Area},
	{"extended area", invoice.Area},
	{"out of delivery area", invoice.Area},
	{"remote", invoice.Area},
	{"clearance", invoice.Brokerage},
	{"disbursement", invoice.Brokerage},
	{"advancement", invoice.Brokerage},
	{"brokerage", invoice.Brokerage},
	{"entry", invoice.Brokerage},
	{"duty", invoice.Duty},
	{"duties", invoice.Duty},
	{"customs", invoice.Duty},
	{"vat", invoice.Tax},
	{"gst", invoice.Tax},
	{"hst", invoice.Tax},
	{"tax", invoice.Tax},
	{"late fee", invoice.InvoiceLevel},
	{"late payment", invoice.InvoiceLevel},
	{"pickup fee", invoice.InvoiceLevel},
	{"weekly", invoice.InvoiceLevel},
	{"transportation", invoice.Freight},
	{"freight", invoice.Freight},
	{"base charge", invoice.Freight},
	{"discount", invoice.Accessorial},
	{"performance pricing", invoice.Accessorial},
	{"automation", invoice.Accessorial},
	{"signature", invoice.Accessorial},
	{"declared value", invoice.Accessorial},
	{"additional handling", invoice.Accessorial},
	{"ahs", invoice.Accessorial},
	{"oversize", invoice.Accessorial},
	{"peak", invoice.Accessorial},
	{"demand", invoice.Accessorial},
	{"surcharge", invoice.Accessorial},
	{"saturday", invoice.Accessorial},
	{"dry ice", invoice.Accessorial},
	{"dangerous", invoice.Accessorial},
	{"hazardous", invoice.Accessorial},
	{"third party", invoice.Accessorial},
}

// sortCharge says what kind of line a charge of a row is, and whether it corrects one.
func sortCharge(label string, cents int64, parcel bool) (kind invoice.Kind, correction bool) {
	words := strings.ToLower(label) + " "
	kind = invoice.Unknown
	for _, c := range chargeWords {
		if hasWord(words, c.words) {
			kind = c.kind
			break
		}
	}
	correction = strings.Contains(words, "adjustment") || strings.Contains(words, "correction")
	switch {
	case kind == invoice.VoidCredit && cents > 0:
		kind, correction = invoice.Adjustment, true
	case kind == invoice.ServiceCredit && cents > 0:
		kind = invoice.Accessorial
	case kind == invoice.Unknown && correction:
		kind = invoice.Adjustment
	case !parcel && kind.InPrice():
		// Pickups, packaging and fuel for both are billed without a tracking number.
		kind, correction = invoice.InvoiceLevel, false
	}
	return kind, correction
}

// hasWord tells whether the words start one of the name's own: "tax" is not in "syntax".
func hasWord(name, words string) bool {
	i := strings.Index(name, words)
	return i == 0 || i > 0 && !isLetter(name[i-1])
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// isSubtotal tells whether a pair repeats others: its name says so.
func isSubtotal(label string) bool {
	switch strings.ToLower(label) {
	case "net transportation charges", "subtotal", "tax subtotal", "non-trans charges":
		return true
	}
	return false
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// lineName tells the charges of a row apart. It is made of the charge's name and not of its place, so that it
// is the same when the invoice comes again in another file.
func lineName(label string) string {
	name := strings.Trim(notName.ReplaceAllString(strings.ToLower(label), "-"), "-")
	return cmp.Or(name[:min(len(name), 60)], "charge")
}
