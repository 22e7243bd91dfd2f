package ups

import (
	"strings"

	"waybill/reconcile/invoice"
)

// charge is the codes by which UPS sorts a charge, from the coarse to the fine. They are the same in every
// language, and the description is not: codes decide first, words second.
type charge struct{ category, detail, class, code string }

// name tells the charges of a parcel apart. It is made of codes and not of the row's number, so that it is the
// same when the invoice comes again in another order.
func (c charge) name() string {
	name := strings.Join([]string{c.category, c.detail, c.class, c.code}, "/")
	return strings.ToValidUTF8(name[:min(len(name), 64)], "")
}

// sort says what kind of line a charge is.
func (c charge) sort(line *invoice.Line) {
	words := strings.ToLower(line.Text)
	line.Informative = c.class == "INF"
	line.Kind = c.kind(words)
	line.Correction = c.category == "ADJ" && !strings.HasPrefix(words, "not previously billed")
	switch {
	case strings.HasPrefix(words, "void ") && line.Amount.Cents <= 0:
		line.Kind, line.Correction = invoice.VoidCredit, false
	case strings.HasPrefix(words, "void "):
		// A void that is taken back charges again.
		line.Kind, line.Correction = invoice.Adjustment, true
	case strings.Contains(words, "guarantee") && line.Amount.Cents < 0:
		line.Kind, line.Correction = invoice.ServiceCredit, false
	case strings.Contains(words, "chargeback"):
		line.Kind, line.Correction = invoice.Chargeback, false
	case line.Kind.InPrice() && line.TrackingNo == "" && line.MasterTrackingNo == "":
		// A weekly fee is sorted as freight or fuel and belongs to no parcel.
		line.Kind, line.Correction = invoice.InvoiceLevel, false
	}
}

func (c charge) kind(words string) invoice.Kind {
	switch c.class {
	case "FRT":
		return c.freight(words)
	case "FSC":
		return invoice.Fuel
	case "ACC", "INF":
		return c.accessorial(words)
	case "TAX":
		return invoice.Tax
	case "GOV":
		return invoice.Duty
	case "BRK":
		return invoice.Brokerage
	case "MSC":
		return c.misc()
	}
	return invoice.Unknown
}

// freight is the carriage, the first time or corrected.
func (c charge) freight(words string) invoice.Kind {
	switch {
	case c.category == "RTN" && (c.detail == "RTS" || strings.Contains(words, "undeliverable")):
		return invoice.Return
	case c.category != "ADJ", strings.HasPrefix(words, "not previously billed"):
		return invoice.Freight
	case c.detail == "ADC", strings.HasPrefix(words, "address correction"):
		return invoice.AddressCorrection
	case strings.HasPrefix(words, "shipping charge correction"):
		return invoice.Weight
	case strings.HasPrefix(words, "residential"):
		return invoice.Residential
	}
	return invoice.Adjustment
}

// accessorial is a surcharge: the codes for them differ from country to country, the words are fewer.
func (c charge) accessorial(words string) invoice.Kind {
	switch {
	case c.detail == "ADC", strings.HasPrefix(words, "address correction"):
		return invoice.AddressCorrection
	case strings.Contains(words, "residential"):
		return invoice.Residential
	case strings.Contains(words, "area surcharge"), strings.Contains(words, "extended area"), strings.Contains(words, "remote area"):
		return invoice.Area
	case strings.Contains(words, "fuel surcharge"), strings.Contains(words, "treibstoffzuschl"):
		return invoice.Fuel
	}
	return invoice.Accessorial
}

// misc is what UPS itself calls miscellaneous: the weekly service charge and its like, or something new.
func (c charge) misc() invoice.Kind {
	if c.category == "MIS" {
		return invoice.InvoiceLevel
	}
	return invoice.Unknown
}
