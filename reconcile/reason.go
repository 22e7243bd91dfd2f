package reconcile

// Reason names why a decision fell as it did, so that a finding explains itself.
type Reason string

// Why a line belongs to a label, or to none.
const (
	SameTracking         Reason = "same_tracking_number"
	SameTrackingShipDate Reason = "same_tracking_number_nearest_ship_date"
	SameButZeros         Reason = "same_tracking_number_account_without_leading_zeros"

	SameMaster   Reason = "same_master_tracking_number"
	SameOriginal Reason = "tracking_number_that_this_one_replaced"

	NoSuchTracking    Reason = "no_label_has_this_tracking_number"
	NoTracking        Reason = "line_has_no_tracking_number"
	OtherAccount      Reason = "label_belongs_to_another_account"
	OutsideWindow     Reason = "label_was_bought_at_another_time"
	SeveralLabels     Reason = "several_labels_have_this_tracking_number"
	ReferenceOfLabel  Reason = "reference_names_a_label"
	ReferenceOfIntent Reason = "reference_names_an_intent_without_label"
)

// Why a charge is in question.
const (
	TwiceOnOneInvoice  Reason = "twice_on_one_invoice"
	OnAnotherInvoice   Reason = "charged_on_another_invoice_too"
	AboveCost          Reason = "more_than_the_label_cost"
	BelowCost          Reason = "less_than_the_label_cost"
	OtherCurrency      Reason = "billed_in_another_currency"
	InvoicedAfterVoid  Reason = "invoice_dated_on_or_after_the_void"
	InvoicedBeforeVoid Reason = "invoice_dated_before_the_void"
	CorrectedLater     Reason = "carrier_corrected_the_price"
	CreditWithoutVoid  Reason = "credited_but_not_voided"
	CreditForService   Reason = "credited_for_service"
	ChargedLater       Reason = "carrier_charged_for_another_later"
	ChargeUnknown      Reason = "no_known_charge"
	InsideTolerance    Reason = "difference_is_within_the_tolerance"
	OfTheInvoice       Reason = "belongs_to_the_invoice"
)

// Why a label is in question.
const (
	InsideGrace Reason = "inside_the_grace_days"
	PastGrace   Reason = "grace_days_are_over"
)

// Why a record of ours is in question.
const (
	KeyAbsent          Reason = "no_key_record_inside_the_retention"
	KeyNotCompleted    Reason = "key_is_not_completed"
	KeyAnswersOther    Reason = "key_answers_something_else_than_bought"
	AnswerUnreadable   Reason = "saved_answer_cannot_be_read"
	AnswersOtherLabel  Reason = "saved_answer_names_another_label"
	AnswersOtherNumber Reason = "saved_answer_names_another_tracking_number"
	NoLabelRow         Reason = "no_label_for_this_record"
	IntentNotPurchased Reason = "intent_does_not_say_purchased"
	IntentOtherLabel   Reason = "intent_names_another_label"
	TwoLiveLabels      Reason = "parcel_has_another_live_label"
	TwoCarrierIDs      Reason = "carrier_sold_another_label_under_one_key"
	NoLineForDoubt     Reason = "no_line_after_the_longest_billing_delay"
	LineBearsReference Reason = "invoice_line_bears_the_reference"
)

// Why an invoice is in question.
const (
	LinesMissTotal   Reason = "lines_do_not_add_up_to_the_stated_total"
	TotalsDiffer     Reason = "rows_state_different_totals"
	OtherContent     Reason = "same_invoice_with_other_content"
	SameContent      Reason = "same_invoice_with_the_same_content"
	GivenUp          Reason = "other_content_of_the_invoice_was_accepted"
	CarrierRounds    Reason = "carrier_rounds_its_total"
	RhythmBroken     Reason = "no_invoice_within_the_usual_time"
	NoInvoiceYet     Reason = "no_invoice_of_this_account_yet"
	AccountNotListed Reason = "account_is_not_in_the_rules"
	NotInThePrice    Reason = "not_in_a_labels_price"
)
