package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

func (b *testBundle) purge() {
	b.t.Helper()
	b.exec(`UPDATE idempotency_keys SET expires_at = now() - interval '1 second' WHERE state = 'completed'`)
	_, err := b.box.SweepKeys(b.t.Context())
	require.NoError(b.t, err)
}

func TestLateRepeat(t *testing.T) {
	t.Parallel()
	results := map[string]reply{
		"Purchased": {charge: true},
		"Rejected":  {answer: rejected},
		"Failed":    {answer: notBought},
	}
	for name, do := range results {
		t.Run(name+"GetsTheSameBytesAndBuysNothing", func(t *testing.T) {
			t.Parallel()
			b := setup(t, keyed, func(c *Config) { c.Policy.MaxCalls = 1 })
			b.carrier.will(do)
			s, id := b.accepted()
			b.workUntilSettled(id)
			before := b.accept(s)
			b.purge()
			require.Equal(t, "purged", b.row(id).KeyState)

			late := b.accept(s)
			require.True(t, late.Late)
			late.Late = false
			require.Equal(t, before, late)
			require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, b.accept(s.withBody("another")))
			require.Equal(t, 1, b.carrier.callCount())
			require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys`))
			require.InDelta(t, 1, value(b.box.cfg.Metrics.lateRepeats), 0)

			other := s
			other.Key += ":again"
			require.Equal(t, before.Body, b.accept(other).Body)
		})
	}
}

// The key names its intent for ever: purged, it does not become free for another parcel.
func TestLateRepeatForAnotherParcel(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	s, id := b.accepted()
	b.workUntilSettled(id)
	b.purge()
	other := submission()
	other.Key = s.Key
	require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, b.accept(other))
	require.Equal(t, 1, b.count(`SELECT count(*) FROM label_intents`))
	require.Zero(t, b.count(`SELECT count(*) FROM idempotency_keys`))
}

func TestLookup(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	s, id := b.accepted()
	another := s.withBody("another").Fingerprint
	lookup := func(caller, key string, fingerprint *[32]byte) Answer {
		a, err := b.box.Lookup(t.Context(), caller, key, fingerprint)
		require.NoError(t, err)
		return a
	}
	require.Equal(t, NoSuchKey, lookup(s.CallerID, "unheard-of", &s.Fingerprint).Kind)
	require.Equal(t, NoSuchKey, lookup("returns", s.Key, &s.Fingerprint).Kind)
	require.Equal(t, InProgress, lookup(s.CallerID, s.Key, &s.Fingerprint).Kind)
	require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, lookup(s.CallerID, s.Key, &another))
	require.Equal(t, Answer{Kind: KeyReused, IntentID: id}, lookup(s.CallerID, s.Key, nil))
	b.workUntilSettled(id)
	require.Equal(t, b.accept(s), lookup(s.CallerID, s.Key, &s.Fingerprint))
}

func TestReadsAreTheCallersOwn(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	s, id := b.accepted()
	b.workUntilSettled(id)
	intent, err := b.box.Intent(t.Context(), s.CallerID, id)
	require.NoError(t, err)
	require.Equal(t, Purchased, intent.State)
	byKey, err := b.box.IntentByKey(t.Context(), s.CallerID, s.Key)
	require.NoError(t, err)
	require.Equal(t, intent, byKey)
	labels, _, err := b.box.Labels(t.Context(), s.CallerID, LabelFilter{OrderID: s.Parcel.OrderID}, Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, labels, 1)
	require.Equal(t, intent.LabelID, labels[0].ID)

	_, err = b.box.Intent(t.Context(), "returns", id)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = b.box.IntentByKey(t.Context(), "returns", s.Key)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = b.box.Label(t.Context(), "returns", intent.LabelID)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = b.box.Document(t.Context(), "returns", intent.LabelID)
	require.ErrorIs(t, err, ErrNotFound)
	labels, _, err = b.box.Labels(t.Context(), "returns", LabelFilter{OrderID: s.Parcel.OrderID}, Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, labels)
}

func TestWait(t *testing.T) {
	t.Parallel()
	never := func(c *Config) { c.Poll = time.Hour }

	type waited struct {
		answer Answer
		err    error
	}
	// wait waits in the background.
	wait := func(b *testBundle, id uuid.UUID) chan waited {
		done := make(chan waited, 1)
		go func() {
			a, err := b.box.Wait(b.t.Context(), id)
			done <- waited{a, err}
		}()
		return done
	}

	t.Run("ManyAreWokenByOneNotification", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed, never)
		s, id := b.accepted()
		var waits []chan waited
		for range 100 {
			waits = append(waits, wait(b, id))
		}
		require.Eventually(t, func() bool {
			b.box.hub.mu.Lock()
			defer b.box.hub.mu.Unlock()
			return len(b.box.hub.waiting[id]) == len(waits)
		}, 10*time.Second, time.Millisecond)
		require.Eventually(t, func() bool { // LISTEN is on before the result comes
			return b.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`) == 1
		}, 10*time.Second, time.Millisecond)
		b.workUntilSettled(id)
		for _, w := range waits {
			require.Equal(t, waited{answer: b.accept(s)}, <-w)
		}
		require.Eventually(t, func() bool { return len(b.box.hub.awaited(nil)) == 0 }, 10*time.Second, time.Millisecond)
	})

	t.Run("WithoutNotificationsThePollFinds", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed, func(c *Config) { c.Listen, c.Poll = false, time.Millisecond })
		_, id := b.accepted()
		w := wait(b, id)
		b.workUntilSettled(id)
		require.Equal(t, Final, (<-w).answer.Kind)
	})

	t.Run("TheEndOfThePatienceTellsTheState", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup, never)
		_, id := b.accepted()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a, err := b.box.Wait(ctx, id)
		require.NoError(t, err)
		require.Equal(t, Answer{Kind: InProgress, IntentID: id}, a)
		b.carrier.will(reply{answer: unknown})
		requireSnooze(t, b.work(id))
		a, err = b.box.Wait(ctx, id)
		require.NoError(t, err)
		require.Equal(t, Answer{Kind: Doubtful, IntentID: id}, a)
	})

	t.Run("ADoubtLeftToAPersonIsToldAtOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind, never)
		_, id := b.accepted()
		b.carrier.will(reply{answer: unknown})
		require.NoError(t, b.work(id))
		a, err := b.box.Wait(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, Doubtful, a.Kind)
	})

	t.Run("ClosingAnswersThoseWhoWait", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed, never)
		_, id := b.accepted()
		w := wait(b, id)
		require.Eventually(t, func() bool { return len(b.box.hub.awaited(nil)) == 1 }, 10*time.Second, time.Millisecond)
		b.box.hub.close()
		require.Equal(t, InProgress, (<-w).answer.Kind)
	})
}

func TestSettledIDsAreReadBack(t *testing.T) {
	t.Parallel()
	require.Empty(t, endedIDs(""))
	require.Empty(t, endedIDs("garbage,!!"))
}

func TestSettle(t *testing.T) {
	t.Parallel()

	doubtful := func(t *testing.T) (*testBundle, Submission, Settlement) {
		t.Helper()
		b := setup(t, blind)
		b.carrier.will(reply{answer: unknown})
		s, id := b.accepted()
		require.NoError(t, b.work(id))
		b.exec(`DELETE FROM river_job`)
		return b, s, Settlement{IntentID: id, Actor: "ops@warehouse", Why: "carrier's support, ticket 7"}
	}

	t.Run("Bought", func(t *testing.T) {
		t.Parallel()
		b, s, decision := doubtful(t)
		decision.Verdict, decision.Account = VerdictBought, "SIM-1"
		decision.Label = &carrier.Label{
			ID: "L77", TrackingNo: "GRD77", Service: "ground", Cost: carrier.Money{Cents: 600, Currency: "USD"},
		}
		require.NoError(t, b.box.Settle(t.Context(), decision))
		a := b.accept(s)
		require.Equal(t, Final, a.Kind)
		require.Contains(t, string(a.Body), `"tracking_no":"GRD77"`)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls
			WHERE kind = 'settle' AND actor = 'ops@warehouse' AND carrier_message = 'carrier''s support, ticket 7'`))
		require.ErrorIs(t, b.box.Settle(t.Context(), decision), ErrNotSettleable)
		require.Equal(t, 1, b.row(decision.IntentID).Labels)
	})

	t.Run("NotBoughtTryAgain", func(t *testing.T) {
		t.Parallel()
		b, _, decision := doubtful(t)
		decision.Verdict = VerdictTryAgain
		require.NoError(t, b.box.Settle(t.Context(), decision))
		require.Equal(t, 1, b.row(decision.IntentID).Jobs)
		require.NoError(t, b.work(decision.IntentID))
		require.Equal(t, Purchased, b.row(decision.IntentID).State)
		require.Equal(t, 1, b.carrier.charges())
	})

	t.Run("NotBoughtGiveUp", func(t *testing.T) {
		t.Parallel()
		b, s, decision := doubtful(t)
		decision.Verdict = VerdictGiveUp
		require.NoError(t, b.box.Settle(t.Context(), decision))
		require.Equal(t, 502, b.accept(s).Status)
		require.NotContains(t, string(b.accept(s).Body), "ticket 7", "why is for the operators")
		require.NoError(t, b.work(decision.IntentID))
		require.Equal(t, 1, b.carrier.callCount())
	})

	t.Run("IsRefusedWhileAJobCanDecide", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		_, id := b.accepted()
		decision := Settlement{IntentID: id, Verdict: VerdictGiveUp, Actor: "ops", Why: "impatience"}
		require.ErrorIs(t, b.box.Settle(t.Context(), decision), ErrNotSettleable)
		b.carrier.will(reply{answer: unknown})
		requireSnooze(t, b.work(id))
		require.ErrorIs(t, b.box.Settle(t.Context(), decision), ErrNotSettleable)
	})

	t.Run("NeedsAReasonAndALabel", func(t *testing.T) {
		t.Parallel()
		b, _, decision := doubtful(t)
		decision.Verdict = VerdictBought
		require.Error(t, b.box.Settle(t.Context(), decision))
		decision.Verdict, decision.Why = VerdictGiveUp, ""
		require.Error(t, b.box.Settle(t.Context(), decision))
		decision.Why = "because"
		decision.Verdict = "perhaps"
		require.Error(t, b.box.Settle(t.Context(), decision))
		require.Equal(t, InDoubt, b.row(decision.IntentID).State)
	})
}
