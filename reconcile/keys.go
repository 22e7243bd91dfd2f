package reconcile

// JudgeLabelKey holds a label against the record of the key that ordered it; nil means that there
// is none. Effect and record commit together: one without the other is a fault of ours.
func (r Rules) JudgeLabelKey(l Label, k *KeyRecord) (Finding, bool) {
	var why Reason
	switch {
	case k == nil && !l.BoughtAt.After(r.KeysSince):
		// Purged when its retention was over, as it should be.
		return Finding{}, false
	case k == nil:
		why = KeyAbsent
	case !k.Completed:
		why = KeyNotCompleted
	case k.Status != statusBought:
		why = KeyAnswersOther
	default:
		return Finding{}, false
	}
	f := aboutLabel(LabelWithoutKey, Error, why, l)
	f.Expected = l.Cost
	return f, true
}

// statusBought is the status of the answer that names a label.
const statusBought = 201

// JudgeKey holds a completed key against the label of its intent; nil means that there is none.
// A caller was told of a label: it must exist, and be that one.
func (r Rules) JudgeKey(k KeyRecord, l *Label) (Finding, bool) {
	if !k.Completed || k.Status != statusBought {
		return Finding{}, false
	}
	kind, why := KeyLabelMismatch, AnswerUnreadable
	switch {
	case l == nil:
		kind, why = KeyWithoutLabel, NoLabelRow
	case k.AnsweredLabelID == "" || k.AnsweredTrackingNo == "":
	case k.AnsweredLabelID != l.LabelID:
		why = AnswersOtherLabel
	case k.AnsweredTrackingNo != l.TrackingNo:
		why = AnswersOtherNumber
	default:
		return Finding{}, false
	}
	f := Finding{Kind: kind, Severity: Error, Why: why, Carrier: k.Carrier}
	if l != nil {
		f.Carrier, f.Account, f.TrackingNo = l.Carrier, l.Account, l.TrackingNo
		f = f.naming(*l)
		f.Expected = l.Cost
	} else {
		f.LabelID, f.TrackingNo = k.AnsweredLabelID, k.AnsweredTrackingNo
	}
	f.ID = findingID(kind, k.Carrier, k.CallerID, k.IdempotencyKey)
	f.CallerID, f.IdempotencyKey = k.CallerID, k.IdempotencyKey
	return f, true
}

// JudgeIntent holds an intent against its label; nil means that there is none.
func (r Rules) JudgeIntent(i Intent, l *Label) (Finding, bool) {
	if l == nil {
		if !i.Purchased {
			return Finding{}, false
		}
		return Finding{
			ID:       findingID(IntentWithoutLabel, i.IntentID),
			Kind:     IntentWithoutLabel,
			Severity: Error,
			Why:      NoLabelRow,
			IntentID: i.IntentID,
			LabelID:  i.LabelID,
		}, true
	}
	why := IntentNotPurchased
	switch {
	case !i.Purchased:
	case i.LabelID != l.LabelID:
		why = IntentOtherLabel
	default:
		return Finding{}, false
	}
	f := aboutLabel(IntentLabelMismatch, Error, why, *l)
	f.Expected = l.Cost
	return f, true
}
