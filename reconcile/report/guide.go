package report

import (
	"strings"

	"waybill/reconcile"
)

// guide tells a person about a kind of finding.
type guide struct {
	// title names it in a heading.
	title string
	// action is what to do about it.
	action string
	// claim is the reason to give to the carrier, and empty for what cannot be claimed.
	claim string
}

// guideTo is the guide to a kind. A kind without one is named by its own words.
func guideTo(k reconcile.Kind) guide {
	g := guides[k]
	if g.title == "" {
		g.title = sentence(string(k))
	}
	return g
}

var guides = map[reconcile.Kind]guide{
	reconcile.BilledTwice: {
		title:  "Billed twice",
		action: "Claim the second charge, naming both invoices: the dispute file does.",
		claim:  "Charged more than once for one shipment",
	},
	reconcile.PossibleDuplicateLine: {
		title:  "Perhaps billed twice on one invoice",
		action: "Two equal charges can be real, for two parcels under one number. Look at the shipment, then claim.",
		claim:  "Charged more than once for one shipment",
	},
	reconcile.BilledNoLabel: {
		title:  "Billed, no label of ours",
		action: "Where it names an intent in doubt, settle that intent: the label is ours. Else ask who bought it, and claim.",
		claim:  "Charged for a shipment that is not ours",
	},
	reconcile.BilledVoided: {
		title:  "Billed after it was void",
		action: "Claim, with the time of the void: the dispute file has it.",
		claim:  "Charged after the label was cancelled",
	},
	reconcile.VoidCreditMissing: {
		title:  "Void credit missing",
		action: "Wait for the grace days, then claim. Carriers seldom credit by themselves after a quarter.",
		claim:  "Label cancelled, credit not received",
	},
	reconcile.OverBilled: {
		title:  "Billed above the price",
		action: "Claim the difference. Many of one service mean that the agreed rate changed: ask for the new rate sheet.",
		claim:  "Charged more than the agreed price",
	},
	reconcile.UnderBilled: {
		title:  "Billed below the price",
		action: "Nothing to pay back; ask why if it repeats. A correction may follow on a later invoice.",
	},
	reconcile.WithinTolerance: {
		title:  "Within tolerance",
		action: "Nothing: the difference is as small as your tolerances allow. It stays in the totals.",
	},
	reconcile.CurrencyMismatch: {
		title:  "Billed in another currency",
		action: "Ask the carrier to bill in the currency of the purchase. Amounts are never converted here.",
	},
	reconcile.AmbiguousMatch: {
		title:  "Several labels match",
		action: "Decide by hand which label it is, and look whether one parcel was bought twice.",
	},
	reconcile.Adjustment: {
		title:  "Adjusted later",
		action: "Check the large ones: a corrected weight or address often has the same cause every time.",
	},
	reconcile.LateAdjustment: {
		title:  "Adjusted on a later invoice",
		action: "Check the large ones against the parcel that was sent. Where the carrier is wrong, write to it in time: no dispute file has these, because only the parcel shows who is right.",
	},
	reconcile.Chargeback: {
		title:  "Charged back to us",
		action: "The carrier bills us for what another should have paid: claim, and pay when it shows why.",
		claim:  "Charged to us in place of the payer named at shipping",
	},
	reconcile.InvoiceLevelCharge: {
		title:  "Charge of the invoice itself",
		action: "Nothing, unless a fee is new: weekly and late fees belong to no label.",
	},
	reconcile.UnknownCharge: {
		title:  "Charge that we do not know",
		action: "Ask the carrier what it is for. It is counted, and in no label's price.",
	},
	reconcile.TaxOrDuty: {
		title:  "Tax and duty",
		action: "Nothing: they are in no label's price, and in the totals.",
	},
	reconcile.RoundedTotal: {
		title:  "Rounded by the carrier",
		action: "Nothing: the stated total is rounded, by no more than you allow.",
	},
	reconcile.CreditUnexpected: {
		title:  "Credit not expected",
		action: "Look whether the label was cancelled at the carrier and not with us.",
	},
	reconcile.NeverBilled: {
		title:  "Never billed",
		action: "Ask for the missing invoice. Some carriers bill only what they scan: the label may be unused, and can be cancelled.",
	},
	reconcile.Pending: {
		title:  "Not billed yet",
		action: "Nothing: the grace days are not over.",
	},
	reconcile.LabelWithoutKey: {
		title:  "Label without its key record",
		action: "A fault in our records: hand it to the engineers.",
	},
	reconcile.KeyWithoutLabel: {
		title:  "Key record without its label",
		action: "A caller was told of a label that we do not have: hand it to the engineers at once.",
	},
	reconcile.KeyLabelMismatch: {
		title:  "Key record names another label",
		action: "A caller was told of another label: hand it to the engineers at once.",
	},
	reconcile.IntentWithoutLabel: {
		title:  "Intent without its label",
		action: "A fault in our records: hand it to the engineers.",
	},
	reconcile.IntentLabelMismatch: {
		title:  "Intent names another label",
		action: "A fault in our records: hand it to the engineers.",
	},
	reconcile.DoublePurchase: {
		title:  "Bought twice by us",
		action: "Two live labels for one parcel. Cancel the one that was not used, while the carrier still takes it back.",
	},
	reconcile.DoubtUnbilled: {
		title:  "Doubtful purchase, never billed",
		action: "It was not bought, if all invoices since then are here. The finding names the command that settles it.",
	},
	reconcile.IntentSettled: {
		title:  "Doubtful purchase settled",
		action: "Nothing: an invoice bears its reference, so it was bought.",
	},
	reconcile.InvoiceExpectedMissing: {
		title:  "Expected invoice is missing",
		action: "Fetch the account's invoice: its usual day has passed. What it bills looks overdue until then.",
	},
	reconcile.AccountUnknown: {
		title:  "Account is not ours",
		action: "Ask whose account it is before paying. If it is yours, add it to the rules file.",
	},
	reconcile.InvoiceNotFooting: {
		title:  "Invoice does not foot",
		action: "Do not pay it yet. Fetch the invoice again, whole; if it still does not add up, ask the carrier.",
	},
	reconcile.InvoiceChanged: {
		title:  "Invoice has changed",
		action: "Another content of this invoice is judged. Ask the carrier which is valid. If it is this one: reconcile findings accept, with the finding's id. If not: remove this file.",
	},
	reconcile.InvoiceResent: {
		title:  "Invoice came again",
		action: "Nothing: it was counted once.",
	},
	reconcile.FileUnreadable: {
		title:  "File cannot be read",
		action: "Fetch it again, and do not open it in a spreadsheet before.",
	},
	reconcile.ColumnMissing: {
		title:  "Column missing",
		action: "Export the invoice again with the column that the finding names.",
	},
	reconcile.RowRejected: {
		title:  "Row not taken",
		action: "Mend the row that the finding names in the file, or ask the carrier for it.",
	},
	reconcile.IDCorrupted: {
		title:  "Identifier has lost digits",
		action: "A spreadsheet damaged the file. Fetch it again from the carrier: the digits cannot be won back.",
	},
}

// words is a name of the schema as a person reads it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
