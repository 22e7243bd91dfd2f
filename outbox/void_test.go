package outbox

import (
	"testing"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// voiding is a bundle with a label that was bought, and a worker that voids.
type voiding struct {
	*testBundle

	order  Submission
	voider *Voider
}

func setupVoiding(t *testing.T) (*voiding, Label) {
	t.Helper()
	b := setup(t, keyed)
	s, label := b.bought()
	accounts := map[string]Account{"sim": {Carrier: b.carrier, Timeout: b.box.cfg.Lease / 3}}
	return &voiding{testBundle: b, order: s, voider: b.box.NewVoider(accounts)}, label
}

// ask asks for the void as the label's caller.
func (v *voiding) ask(id uuid.UUID) Label {
	v.t.Helper()
	label, err := v.box.Revise(v.t.Context(), v.order.CallerID, id, Change{Void: true}, nil)
	require.NoError(v.t, err)
	return label
}

func (v *voiding) work(id uuid.UUID) error {
	return v.voider.Work(v.t.Context(), &river.Job[VoidLabel]{
		JobRow: &rivertype.JobRow{ID: 1, Attempt: 1}, Args: VoidLabel{LabelID: id, Carrier: "sim"},
	})
}

func (v *voiding) events(intentID uuid.UUID) (outcomes []string) {
	v.t.Helper()
	events, err := v.box.Timeline(v.t.Context(), v.order.CallerID, intentID)
	require.NoError(v.t, err)
	for _, e := range events {
		if e.Kind == "void" {
			outcomes = append(outcomes, e.Outcome)
		}
	}
	return outcomes
}

const voidJobs = `SELECT count(*) FROM river_job WHERE kind = 'void_label'`

func TestVoid(t *testing.T) {
	t.Parallel()

	t.Run("IsAskedForOnceHoweverOftenItIsRequested", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		for range 3 {
			now := v.ask(was.ID)
			require.Equal(t, VoidRequested, now.VoidState)
			require.EqualValues(t, FirstRevision+1, now.Revision)
		}
		require.Equal(t, 1, v.count(voidJobs))
		require.NoError(t, v.work(was.ID))
		require.NoError(t, v.work(was.ID), "a job that comes again finds nothing to do")
		require.Len(t, v.carrier.voids, 1)
		now := v.ask(was.ID)
		require.Equal(t, VoidVoided, now.VoidState)
		require.EqualValues(t, FirstRevision+2, now.Revision)
		require.Equal(t, 1, v.count(`SELECT count(*) FROM labels WHERE voided_at IS NOT NULL`))
		require.Equal(t, []string{"voided"}, v.events(was.IntentID))
	})

	t.Run("LeavesTheSavedAnswerAlone", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		saved := v.accept(v.order)
		v.ask(was.ID)
		require.NoError(t, v.work(was.ID))
		require.Equal(t, saved, v.accept(v.order))
		v.exec(`DELETE FROM idempotency_keys`)
		require.Equal(t, saved.Body, v.accept(v.order).Body, "made again, it is what it was")
	})

	t.Run("TellsWhyItIsRefusedAndStaysSo", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		v.carrier.voidAnswers = []carrier.VoidResult{
			{State: carrier.VoidRefused, Code: "label_already_used", Message: "used\x00 at a dock"},
		}
		v.ask(was.ID)
		require.NoError(t, v.work(was.ID))
		now := v.ask(was.ID)
		require.Equal(t, VoidRefused, now.VoidState)
		require.Equal(t, "label_already_used", now.VoidCode)
		require.Equal(t, "used  at a dock", now.VoidMessage)
		require.NoError(t, v.work(was.ID))
		require.Len(t, v.carrier.voids, 1)
	})

	t.Run("IsAskedAgainUntilTheCarrierSaysWhatBecameOfIt", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		v.carrier.voidAnswers = []carrier.VoidResult{{State: carrier.VoidUnknown, Code: "timeout"}, {State: carrier.VoidUnknown}}
		v.ask(was.ID)
		require.ErrorContains(t, v.work(was.ID), "timeout")
		require.Equal(t, VoidRequested, v.label(v.order.CallerID, was.ID).VoidState)
		require.Error(t, v.work(was.ID))
		require.NoError(t, v.work(was.ID))
		require.Equal(t, VoidVoided, v.label(v.order.CallerID, was.ID).VoidState)
		require.Equal(t, []string{"unknown", "unknown", "voided"}, v.events(was.IntentID))
	})

	t.Run("EndsInDoubtAfterDaysAndCanBeAskedForAgain", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		v.ask(was.ID)
		v.exec(`UPDATE labels SET void_requested_at = now() - interval '4 days'`)
		require.NoError(t, v.work(was.ID))
		require.Empty(t, v.carrier.voids)
		require.Equal(t, VoidInDoubt, v.label(v.order.CallerID, was.ID).VoidState)
		require.NoError(t, v.box.Gauge(t.Context()))
		require.InDelta(t, 1, value(v.box.cfg.Metrics.voids.WithLabelValues(VoidInDoubt)), 0)
		require.Equal(t, VoidRequested, v.ask(was.ID).VoidState)
		require.NoError(t, v.work(was.ID))
		require.Equal(t, VoidVoided, v.label(v.order.CallerID, was.ID).VoidState)
	})

	t.Run("IsNobodyElsesToAskFor", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		_, err := v.box.Revise(t.Context(), "returns", was.ID, Change{Void: true}, nil)
		require.ErrorIs(t, err, ErrNotFound)
		require.Zero(t, v.count(voidJobs))
		require.NoError(t, v.work(was.ID), "a job for what nobody asks for")
		require.Empty(t, v.carrier.voids)
	})

	t.Run("OfAnotherAccountOrAnUnknownCarrierWaits", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		v.ask(was.ID)
		v.carrier.account = "SIM-2"
		requireSnooze(t, v.work(was.ID))
		v.voider = v.box.NewVoider(nil)
		requireSnooze(t, v.work(was.ID))
		require.Empty(t, v.carrier.voids)
	})

	t.Run("IsRungForWhenItsJobIsLost", func(t *testing.T) {
		t.Parallel()
		v, was := setupVoiding(t)
		v.ask(was.ID)
		v.exec(`DELETE FROM river_job`)
		rung, err := v.box.ringForVoids(t.Context(), 10)
		require.NoError(t, err)
		require.Zero(t, rung, "it was asked for a moment ago")
		v.exec(`UPDATE labels SET void_requested_at = now() - interval '1 minute'`)
		for _, want := range []int{1, 0} {
			rung, err := v.box.ringForVoids(t.Context(), 10)
			require.NoError(t, err)
			require.Equal(t, want, rung)
		}
		require.Equal(t, 1, v.count(voidJobs))
	})
}
