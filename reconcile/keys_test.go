package reconcile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/reconcile"
)

func TestJudgeLabelKey(t *testing.T) {
	t.Parallel()
	fresh := func(l *reconcile.Label) { l.BoughtAt = rules.KeysSince.Add(time.Second) }
	for _, tt := range []struct {
		name  string
		label reconcile.Label
		key   *reconcile.KeyRecord
		want  reconcile.Reason
	}{
		{"Completed", label(fresh), &reconcile.KeyRecord{Completed: true, Status: 201}, ""},
		{"PurgedInItsTime", label(), nil, ""},
		{"AbsentInsideTheRetention", label(fresh), nil, reconcile.KeyAbsent},
		{"StillStarted", label(), &reconcile.KeyRecord{}, reconcile.KeyNotCompleted},
		{"AnswersARefusal", label(), &reconcile.KeyRecord{Completed: true, Status: 422}, reconcile.KeyAnswersOther},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, found := rules.JudgeLabelKey(tt.label, tt.key)
			require.Equal(t, tt.want != "", found)
			require.Equal(t, tt.want, f.Why)
			if found {
				require.Equal(t, reconcile.LabelWithoutKey, f.Kind)
				require.Equal(t, tt.label.LabelID, f.LabelID)
			}
		})
	}
}

func TestJudgeKey(t *testing.T) {
	t.Parallel()
	l := label()
	completed := func(labelID, trackingNo string) reconcile.KeyRecord {
		return reconcile.KeyRecord{
			CallerID: "fulfilment", IdempotencyKey: "k1", Completed: true, Status: 201,
			AnsweredLabelID: labelID, AnsweredTrackingNo: trackingNo,
		}
	}
	for _, tt := range []struct {
		name  string
		key   reconcile.KeyRecord
		label *reconcile.Label
		kind  reconcile.Kind
		why   reconcile.Reason
	}{
		{"NamesItsLabel", completed("L1", "T1"), &l, "", ""},
		{"NoLabel", completed("L1", "T1"), nil, reconcile.KeyWithoutLabel, reconcile.NoLabelRow},
		{"OtherLabel", completed("L2", "T1"), &l, reconcile.KeyLabelMismatch, reconcile.AnswersOtherLabel},
		{"OtherNumber", completed("L1", "T2"), &l, reconcile.KeyLabelMismatch, reconcile.AnswersOtherNumber},
		{"Unreadable", completed("", ""), &l, reconcile.KeyLabelMismatch, reconcile.AnswerUnreadable},
		{"Started", reconcile.KeyRecord{}, nil, "", ""},
		{"Refused", reconcile.KeyRecord{Completed: true, Status: 422}, nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, found := rules.JudgeKey(tt.key, tt.label)
			require.Equal(t, tt.kind != "", found)
			require.Equal(t, tt.kind, f.Kind)
			require.Equal(t, tt.why, f.Why)
		})
	}
}

func TestJudgeIntent(t *testing.T) {
	t.Parallel()
	l := label()
	for _, tt := range []struct {
		name   string
		intent reconcile.Intent
		label  *reconcile.Label
		kind   reconcile.Kind
		why    reconcile.Reason
	}{
		{"Agrees", reconcile.Intent{Purchased: true, LabelID: "L1"}, &l, "", ""},
		{"NotBought", reconcile.Intent{}, nil, "", ""},
		{"NoLabel", reconcile.Intent{Purchased: true, LabelID: "L1"}, nil, reconcile.IntentWithoutLabel, reconcile.NoLabelRow},
		{"NotPurchased", reconcile.Intent{}, &l, reconcile.IntentLabelMismatch, reconcile.IntentNotPurchased},
		{"OtherLabel", reconcile.Intent{Purchased: true, LabelID: "L2"}, &l, reconcile.IntentLabelMismatch, reconcile.IntentOtherLabel},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, found := rules.JudgeIntent(tt.intent, tt.label)
			require.Equal(t, tt.kind != "", found)
			require.Equal(t, tt.kind, f.Kind)
			require.Equal(t, tt.why, f.Why)
		})
	}
}
