package reconcile

import "waybill/reconcile/invoice"

// JudgeParcel reports the second of two live labels for one parcel of one order, in whatever versions:
// a fault of ours, or of whoever asked twice, and no carrier's. The carrier bills both rightly.
func (r Rules) JudgeParcel(second Label) Finding {
	f := aboutLabel(DoublePurchase, Error, TwoLiveLabels, second)
	f.Billed = second.Cost
	return f.nothingExpected()
}

// OtherPurchase is a label that the carrier told us of for an intent which has another.
type OtherPurchase struct {
	CarrierLabelID string
	TrackingNo     string
}

// JudgeOtherPurchase reports what a carrier sold besides an intent's label, under one key of ours.
func (r Rules) JudgeOtherPurchase(l Label, other OtherPurchase) Finding {
	f := aboutLabel(DoublePurchase, Error, TwoCarrierIDs, l)
	f.ID = findingID(DoublePurchase, l.IntentID, other.CarrierLabelID)
	f.TrackingNo = other.TrackingNo
	f.Billed = l.Cost
	f.Advice = "void the label that is not the intent's: the carrier's id is " + other.CarrierLabelID
	return f.nothingExpected()
}

// Doubt is an intent that waits for an invoice or a person to say whether it was bought.
type Doubt struct {
	Label
	// Called is the day of its first call to the carrier.
	Called invoice.Date
}

// JudgeDoubt offers an intent in doubt as not bought, once the carrier has had longer to bill it than
// it ever takes.
func (r Rules) JudgeDoubt(d Doubt) (Finding, bool) {
	if r.DoubtDays <= 0 || int(r.AsOf-d.Called) < r.DoubtDays {
		return Finding{}, false
	}
	f := aboutLabel(DoubtUnbilled, Warning, NoLineForDoubt, d.Label)
	f.ID = findingID(DoubtUnbilled, d.IntentID)
	f.Advice = "no invoice bears its reference: when all invoices since then are here, settle it with " +
		"`api settle " + d.IntentID + " --verdict not_bought_give_up` or not_bought_try_again"
	return f, true
}

// AboutSettled says for the record that an intent in doubt was settled as bought, and by which line.
func AboutSettled(l Label, by invoice.Line) Finding {
	f := aboutLabel(IntentSettled, Info, LineBearsReference, l)
	f.InvoiceNo, f.InvoiceDate, f.LineNo = by.InvoiceNo, by.InvoiceDate, by.LineNo
	f.Text, f.Source = by.Text, by.Source
	f.Billed = l.Cost
	return f.expecting(l.Cost)
}

// Rhythm is how often a carrier's account gets an invoice, and the last one that is known.
type Rhythm struct {
	Carrier, Account string
	Every            int
	// Last is 0 if there was none.
	Last invoice.Date
}

// JudgeRhythm reports an invoice that should have come by now.
func (r Rules) JudgeRhythm(y Rhythm) (Finding, bool) {
	if y.Every <= 0 || y.Last != 0 && int(r.AsOf-y.Last) <= y.Every {
		return Finding{}, false
	}
	why := RhythmBroken
	if y.Last == 0 {
		why = NoInvoiceYet
	}
	return Finding{
		ID:          findingID(InvoiceExpectedMissing, y.Carrier, y.Account, y.Last.String()),
		Kind:        InvoiceExpectedMissing,
		Severity:    Warning,
		Why:         why,
		Carrier:     y.Carrier,
		Account:     y.Account,
		InvoiceDate: y.Last,
		Advice:      "fetch the invoices since then: what was bought is not proved until they are here",
	}, true
}

// AboutAccount is the finding for an invoice of an account that is not among those expected.
func AboutAccount(i *Invoice) Finding {
	f := aboutInvoice(AccountUnknown, Warning, AccountNotListed, i)
	f.ID = findingID(f.Kind, i.Carrier, i.Account)
	return f
}
