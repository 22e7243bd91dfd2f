package invoicegen

import (
	"cmp"
	"maps"
	"slices"
)

// Plant is a fate that a label or an invoice can meet.
type Plant string

// The fates. Each is the cause of the findings that its comment names.
const (
	// Honest is billed once, at its cost: nothing to find.
	Honest Plant = "honest"
	// SecondCharge is billed again, in full, on a later invoice: billed_twice.
	SecondCharge Plant = "second_charge"
	// RepeatedLine is a charge that one invoice prints twice: possible_duplicate_line.
	RepeatedLine Plant = "repeated_line"
	// RebilledAndCredited is billed again and credited: nothing is owed, nothing to find.
	RebilledAndCredited Plant = "rebilled_and_credited" //nolint:gosec // G101: credited, no credentials.
	// AlmostRight is billed at its cost but for a few minor units: within_tolerance, where five are tolerated.
	AlmostRight Plant = "almost_right"
	// TooMuch and TooLittle are billed at another price: over_billed, under_billed.
	TooMuch   Plant = "too_much"
	TooLittle Plant = "too_little"
	// AfterVoid is billed on an invoice after the void: billed_voided.
	AfterVoid Plant = "after_void"
	// CreditMissing is billed before the void and never credited: void_credit_missing.
	CreditMissing Plant = "credit_missing"
	// VoidCredited is billed before the void and credited later: nothing to find.
	VoidCredited Plant = "void_credited"
	// VoidUnbilled is void and not billed: nothing to find.
	VoidUnbilled Plant = "void_unbilled"
	// CreditedAlive is credited although nobody voided it: credit_unexpected.
	CreditedAlive Plant = "credited_alive"
	// Corrected is corrected on a later invoice: late_adjustment.
	Corrected Plant = "corrected"
	// ChargedBack is billed at list price to the shipper months later: chargeback. So is StrangerChargedBack,
	// for nothing that we bought.
	ChargedBack         Plant = "charged_back"
	StrangerChargedBack Plant = "stranger_charged_back"
	// CameLate is given back in part, or as a whole, because it came late: credit_unexpected, for the record.
	CameLate Plant = "came_late"
	// Relabelled is billed under the number that the carrier gave it on the way, with ours beside it: nothing to find.
	Relabelled Plant = "relabelled"
	// TwoCurrencies is billed in its own currency under the number of an invoice in another: nothing to find.
	TwoCurrencies Plant = "two_currencies"
	// Stranger is a charge for nothing that we bought: billed_no_label.
	Stranger Plant = "stranger"
	// Unbilled was bought long ago and Fresh just now; neither is billed: never_billed, pending.
	Unbilled Plant = "unbilled"
	Fresh    Plant = "fresh"
	// Recycled bears a number that was another label's a year ago; both are billed: nothing to find.
	Recycled Plant = "recycled"
	// SeveralLabels are two labels of one number in one month; one charge: ambiguous_match.
	SeveralLabels Plant = "several_labels"
	// BoughtTwice are two labels for one parcel of an order, both live: double_purchase.
	BoughtTwice Plant = "bought_twice"
	// DoubtSettled is a purchase in doubt; the invoice bears its reference.
	DoubtSettled Plant = "doubt_settled"
	// UnknownCharge is an honest label with a charge that nobody knows: unknown_charge.
	UnknownCharge Plant = "unknown_charge"
	// OtherCurrency was bought in another currency than it is billed in: currency_mismatch.
	OtherCurrency Plant = "other_currency"
	// Taxed bears a tax of its own: nothing to claim.
	Taxed Plant = "taxed"
	// MultiPiece are three parcels of one shipment, each billed: nothing to find.
	MultiPiece Plant = "multi_piece"
	// LeadPays are three parcels of one shipment, all billed at the first: nothing to find.
	LeadPays Plant = "lead_pays"
	// NotPreviouslyBilled is billed for the first time among a later invoice's corrections: nothing to find.
	NotPreviouslyBilled Plant = "not_previously_billed"
	// Fee belongs to an invoice and to no label: invoice_level_charge.
	Fee Plant = "fee"
	// CorruptedID lost its digits in a spreadsheet: id_corrupted, the invoice does not foot, the label
	// is never billed.
	CorruptedID Plant = "corrupted_id"
	// Rounding states a total that is one minor unit off, as one carrier does: rounding.
	Rounding Plant = "rounding"
	// NotFooting states a total that is not the sum of its lines: invoice_not_footing.
	NotFooting Plant = "not_footing"
	// Resent lies in the folder twice, in another file: invoice_resent.
	Resent Plant = "resent"
	// Changed lies in the folder twice, the second time with another amount: invoice_changed.
	Changed Plant = "changed"
)

// sowing is how a plant is sown, and where it grows.
type sowing struct {
	sow func(*builder)
	// in lists the dialects that can express it; nil is all.
	in []Dialect
	// out lists those that cannot.
	out []Dialect
}

func (s sowing) grows(d Dialect) bool {
	return (s.in == nil || slices.Contains(s.in, d)) && !slices.Contains(s.out, d)
}

// wallets print neither invoices of their own nor prices of labels, or no numbers.
var wallets = []Dialect{EasyPostInvoice, EasyPostLog}

var plants = map[Plant]sowing{
	Honest:              {sow: honest},
	SecondCharge:        {sow: secondCharge, out: []Dialect{EasyPostInvoice}},
	RepeatedLine:        {sow: repeatedLine, out: []Dialect{EasyPostInvoice}},
	RebilledAndCredited: {sow: rebilledAndCredited, in: []Dialect{Neutral, UPS, FedEx, DHL}},
	AlmostRight:         {sow: almostRight, out: []Dialect{EasyPostInvoice}},
	TooMuch:             {sow: tooMuch, out: []Dialect{EasyPostInvoice}},
	TooLittle:           {sow: tooLittle, out: []Dialect{EasyPostInvoice}},
	AfterVoid:           {sow: afterVoid, out: []Dialect{EasyPostInvoice}},
	CreditMissing:       {sow: creditMissing, out: []Dialect{EasyPostInvoice}},
	VoidCredited:        {sow: voidCredited, out: []Dialect{EasyPostInvoice}},
	VoidUnbilled:        {sow: voidUnbilled},
	CreditedAlive:       {sow: creditedAlive, in: []Dialect{Neutral, UPS, USPS, EasyPostLog}},
	Corrected:           {sow: corrected, in: []Dialect{Neutral, UPS, FedEx, FedExIntl, EasyPostInvoice}},
	ChargedBack:         {sow: chargedBack, in: []Dialect{Neutral, UPS, FedEx, FedExIntl}},
	StrangerChargedBack: {sow: strangerChargedBack, in: []Dialect{Neutral, UPS, FedEx, FedExIntl}},
	CameLate:            {sow: cameLate, in: []Dialect{Neutral, UPS, FedEx, FedExIntl}},
	Relabelled:          {sow: relabelled, in: []Dialect{UPS, FedEx}},
	TwoCurrencies:       {sow: twoCurrencies, in: []Dialect{Neutral, FedExIntl, DHL}},
	Stranger:            {sow: stranger},
	Unbilled:            {sow: unbilled, out: []Dialect{EasyPostInvoice}},
	Fresh:               {sow: fresh, out: []Dialect{EasyPostInvoice}},
	Recycled:            {sow: recycled, out: wallets},
	SeveralLabels:       {sow: severalLabels, out: wallets},
	BoughtTwice:         {sow: boughtTwice, out: []Dialect{EasyPostInvoice}},
	DoubtSettled:        {sow: doubtSettled, out: wallets},
	UnknownCharge:       {sow: unknownCharge, in: []Dialect{Neutral, UPS, FedEx, FedExIntl, DHL}},
	OtherCurrency:       {sow: otherCurrency, out: wallets},
	Taxed:               {sow: taxed, in: []Dialect{Neutral, UPS, DHL}},
	MultiPiece:          {sow: multiPiece, in: []Dialect{Neutral, UPS, FedEx}},
	LeadPays:            {sow: leadPays, in: []Dialect{UPS}},
	NotPreviouslyBilled: {sow: notPreviouslyBilled, in: []Dialect{UPS}},
	Fee:                 {sow: fee, in: []Dialect{Neutral, UPS, FedEx}},
	CorruptedID:         {sow: corruptedID, out: []Dialect{EasyPostInvoice, EasyPostLog}},
	Rounding:            {sow: rounding, in: []Dialect{DHL}},
	NotFooting:          {sow: notFooting, out: []Dialect{USPS, EasyPostInvoice, EasyPostLog}},
	Resent:              {sow: resent, out: wallets},
	Changed:             {sow: changed, out: wallets},
}

// Plants are the fates that a dialect can express, by name.
func Plants(d Dialect) []Plant {
	all := slices.Sorted(maps.Keys(plants))
	return slices.DeleteFunc(all, func(p Plant) bool { return !plants[p].grows(d) })
}

// fates draws what becomes of this world's labels: each plant once, in any order, while there are
// labels, then any.
func (b *builder) fates() []Plant {
	from := b.Options.Plants
	if from == nil {
		from = Plants(b.Options.Dialect)
	}
	from = slices.DeleteFunc(slices.Clone(from), func(p Plant) bool { return !plants[p].grows(b.Options.Dialect) })
	if len(from) == 0 {
		from = []Plant{Honest}
	}
	drawn := make([]Plant, 0, b.Options.Labels)
	for len(drawn) < b.Options.Labels {
		round := slices.Clone(from)
		b.chance.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		drawn = append(drawn, round[:min(len(round), b.Options.Labels-len(drawn))]...)
	}
	// Plants on whole invoices need something to be on them.
	slices.SortStableFunc(drawn, func(x, y Plant) int { return cmp.Compare(onInvoices(x), onInvoices(y)) })
	return drawn
}

func onInvoices(p Plant) int {
	switch p {
	case Rounding, NotFooting, Resent, Changed:
		return 1
	default:
		return 0
	}
}
