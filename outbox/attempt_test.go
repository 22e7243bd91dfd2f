package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

var (
	byLookup = carrier.Capabilities{Lookup: &carrier.Lookup{Lag: time.Second, Processing: 2 * time.Second}}
	blind    = carrier.Capabilities{}
	// unhurried is a look-up so slow that what a busy machine adds to a test does not matter.
	unhurried = &carrier.Lookup{Lag: 10 * time.Minute, Processing: 20 * time.Minute}
	both      = carrier.Capabilities{Key: keyed.Key, Lookup: byLookup.Lookup}

	unknown   = carrier.Result{Outcome: carrier.Unknown, Code: "timeout"}
	notBought = carrier.Result{Outcome: carrier.NotBought, Code: "busy", Message: "dial tcp: lookup carrier.internal"}
	rejected  = carrier.Result{Outcome: carrier.Rejected, Code: "bad_address", Message: "No such street."}

	classes = map[string]carrier.Capabilities{"Keyed": keyed, "Lookup": byLookup, "Blind": blind, "KeyedWithLookup": both}
)

// requireSnooze is for attempts that come back later without costing one.
func requireSnooze(t *testing.T, err error) time.Duration {
	t.Helper()
	var snooze *river.JobSnoozeError
	require.ErrorAs(t, err, &snooze)
	return snooze.Duration
}

// requireRetry is for attempts that River retries after the back-off.
func requireRetry(t *testing.T, err error) {
	t.Helper()
	var snooze *river.JobSnoozeError
	require.Error(t, err)
	require.NotErrorAs(t, err, &snooze)
}

func TestPurchase(t *testing.T) {
	t.Parallel()
	for name, caps := range classes {
		t.Run("BoughtAtOnce/"+name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, caps)
			s, id := b.accepted()
			require.NoError(t, b.work(id))
			require.Equal(t, row{State: Purchased, Attempts: 1, Calls: 1, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
			require.NoError(t, b.work(id), "a job that runs again finds nothing to do")
			require.Equal(t, 1, b.carrier.callCount())

			a := b.accept(s)
			require.Equal(t, Final, a.Kind)
			require.Equal(t, http.StatusCreated, a.Status)
			label, err := b.box.Label(t.Context(), s.CallerID, a.LabelID)
			require.NoError(t, err)
			require.Equal(t, string(label.Encode()), string(a.Body))
			document, err := b.box.Document(t.Context(), s.CallerID, a.LabelID)
			require.NoError(t, err)
			require.Equal(t, "%PDF for "+reference(s.Parcel), string(document.Content))
			require.Equal(t, "carrier:fulfilment:"+s.Key, b.carrier.calls[0].CarrierKey)
			require.Equal(t, s.Shipment, b.carrier.calls[0].Shipment)
		})

		t.Run("RejectedIsFinalAndSaved/"+name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, caps)
			b.carrier.will(reply{answer: rejected})
			s, id := b.accepted()
			require.NoError(t, b.work(id))
			require.Equal(t, row{State: Rejected, Attempts: 1, Calls: 1, KeyState: "completed", Jobs: 1}, b.row(id))
			a := b.accept(s)
			require.Equal(t, http.StatusUnprocessableEntity, a.Status)
			require.Contains(t, string(a.Body), `"carrier_code":"bad_address"`)
			require.Contains(t, string(a.Body), `"instance":"`+s.RequestID+`"`)
		})

		t.Run("NotBoughtIsTriedAgain/"+name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, caps)
			b.carrier.will(reply{answer: notBought}, reply{answer: notBought})
			_, id := b.accepted()
			requireRetry(t, b.work(id))
			require.Equal(t, row{State: Pending, Attempts: 1, Calls: 1, Refusals: 1, KeyState: "started", Jobs: 1}, b.row(id))
			b.workUntilSettled(id)
			require.Equal(t, row{State: Purchased, Attempts: 3, Calls: 3, Refusals: 2, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
		})

		t.Run("RetryAfterIsObeyedAndCostsNoAttempt/"+name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, caps, func(c *Config) { c.Policy.MaxCalls = 2 })
			busy := carrier.Result{Outcome: carrier.NotBought, RetryAfter: 7 * time.Second}
			b.carrier.will(reply{answer: busy}, reply{answer: busy}, reply{answer: busy})
			_, id := b.accepted()
			for calls := 1; calls <= 3; calls++ {
				require.Equal(t, 7*time.Second, requireSnooze(t, b.work(id)))
				// Even if the job that slept is lost, the carrier is left alone.
				require.InDelta(t, 7*time.Second, requireSnooze(t, b.work(id)), float64(time.Second))
				require.Equal(t, calls, b.carrier.callCount())
				b.age(id, 7*time.Second)
			}
			require.NoError(t, b.work(id))
			require.Equal(t, row{State: Purchased, Attempts: 4, Calls: 4, Deferrals: 3, KeyState: "completed", Labels: 1, Jobs: 1}, b.row(id))
		})

		t.Run("AttemptsSpentWithProofIsFailed/"+name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, caps, func(c *Config) { c.Policy.MaxCalls = 2 })
			b.carrier.will(reply{answer: notBought}, reply{answer: notBought})
			s, id := b.accepted()
			b.workUntilSettled(id)
			require.Equal(t, row{State: Failed, Attempts: 2, Calls: 2, Refusals: 2, KeyState: "completed", Jobs: 1}, b.row(id))
			a := b.accept(s)
			require.Equal(t, http.StatusBadGateway, a.Status)
			require.Contains(t, string(a.Body), `"code":"carrier_unavailable"`)
			require.NotContains(t, string(a.Body), "carrier_message", "what went wrong on our side is for the log")
		})
	}
}

func TestUnknownOutcome(t *testing.T) {
	t.Parallel()

	t.Run("KeyedCallsAgainWithTheSameKeyAndBody", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.carrier.will(reply{charge: true, answer: unknown}, reply{charge: true, answer: unknown})
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		require.Equal(t, row{State: Pending, Attempts: 1, Calls: 1, OpenCalls: 1, KeyState: "started", Jobs: 1}, b.row(id))
		b.workUntilSettled(id)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.charges())
		require.Len(t, b.carrier.calls, 3)
		require.Equal(t, b.carrier.calls[0], b.carrier.calls[2])
	})

	t.Run("KeyedPastItsWindowIsNeverCalledAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.carrier.will(reply{charge: true, answer: unknown})
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		b.age(id, keyed.Key.Window)
		require.NoError(t, b.work(id))
		require.Equal(t, 1, b.carrier.callCount())
		r := b.row(id)
		require.Equal(t, InDoubt, r.State)
		require.Equal(t, SettledByPerson, r.SettledBy)
	})

	t.Run("KeyedRefusalAfterAnUnknownSaysNothingOfTheFirstCall", func(t *testing.T) {
		t.Parallel()
		b := setup(t, both)
		b.carrier.will(reply{charge: true, answer: unknown}, reply{answer: rejected})
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		requireSnooze(t, b.work(id))
		require.Equal(t, InDoubt, b.row(id).State)
		b.workUntilSettled(id)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 2, b.carrier.callCount(), "the look-up settled it")
	})

	t.Run("KeyedRefusalAfterAnUnknownWithoutLookupWaitsForAPerson", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.carrier.will(reply{charge: true, answer: unknown}, reply{answer: rejected})
		_, id := b.accepted()
		b.workUntilSettled(id)
		r := b.row(id)
		require.Equal(t, InDoubt, r.State)
		require.Equal(t, SettledByPerson, r.SettledBy)
		require.Equal(t, "started", r.KeyState)
	})

	t.Run("LookupAdoptsWhatItFinds", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		b.carrier.will(reply{charge: true, answer: unknown})
		s, id := b.accepted()
		requireSnooze(t, b.work(id))
		require.Equal(t, InDoubt, b.row(id).State)
		require.Equal(t, Answer{Kind: Doubtful, IntentID: id}, b.accept(s))
		require.NoError(t, b.work(id))
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.callCount())
		require.Equal(t, 1, b.carrier.charges())
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE intent_id = $1 AND learned_by = 'lookup'`, id))
	})

	t.Run("LookupCallsAgainOnlyAfterTheQuietPeriod", func(t *testing.T) {
		t.Parallel()
		b := setup(t, carrier.Capabilities{Lookup: unhurried})
		b.carrier.will(reply{answer: unknown})
		_, id := b.accepted()
		requireSnooze(t, b.work(id))
		requireSnooze(t, b.work(id))
		for range 5 { // at once again: too early even to look
			requireSnooze(t, b.work(id))
		}
		require.Equal(t, 1, b.carrier.finds)
		// A quiet period, looked into at its begin, in its middle and at its end: only the last look-up
		// allows another call, which follows at once.
		half := unhurried.QuietPeriod() / 2
		b.age(id, half)
		requireSnooze(t, b.work(id))
		require.Equal(t, 1, b.carrier.callCount())
		b.age(id, half)
		require.NoError(t, b.work(id))
		require.Equal(t, 3, b.carrier.finds)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 2, b.carrier.callCount())
		require.Equal(t, 0, b.row(id).OpenCalls)
	})

	// However long each turn of the queue takes, and however short the quiet period is.
	t.Run("LookupEndsUnderABusyQueue", func(t *testing.T) {
		t.Parallel()
		for _, quiet := range []time.Duration{800 * time.Millisecond, 31 * time.Second} {
			b := setup(t, carrier.Capabilities{Lookup: &carrier.Lookup{Processing: quiet}},
				func(c *Config) { c.Policy = Policy{} })
			b.carrier.will(reply{answer: unknown})
			_, id := b.accepted()
			for range 10 {
				if b.work(id) == nil {
					break
				}
				b.age(id, time.Minute)
			}
			require.Equal(t, Purchased, b.row(id).State)
			require.Equal(t, 2, b.carrier.callCount())
		}
	})

	t.Run("LookupThatNeverAnswersIsLeftToAPerson", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup, func(c *Config) { c.Policy.MaxFailedLookups = 5 })
		b.carrier.will(reply{answer: unknown})
		b.carrier.findErr = errors.New("this account has no look-up any more")
		_, id := b.accepted()
		b.workUntilSettled(id)
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		require.NoError(t, b.box.Settle(t.Context(), Settlement{
			IntentID: id, Verdict: VerdictGiveUp, Actor: "ops", Why: "last month's invoice does not have it",
		}))
		require.Equal(t, Failed, b.row(id).State)
	})

	t.Run("AnOpenCallIsNotJudgedByAnotherConfiguration", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		_, id := b.accepted()
		_, err := b.box.claim(t.Context(), id, b.carrier) // the worker dies in a call that bore no key
		require.NoError(t, err)
		b.expireLease(id)
		renewed := setupOn(t, b.db, newFakeCarrier(t, keyed))
		require.NoError(t, renewed.work(id))
		require.Zero(t, renewed.carrier.callCount())
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
	})

	t.Run("AnOpenCallIsNotRepeatedAtAnotherAccount", func(t *testing.T) {
		t.Parallel()
		b := setup(t, both)
		b.carrier.will(reply{charge: true, answer: unknown})
		_, id := b.accepted()
		requireRetry(t, b.work(id))
		renewed := setupOn(t, b.db, newFakeCarrier(t, both))
		renewed.carrier.account = "SIM-2"
		require.NoError(t, renewed.work(id))
		require.Zero(t, renewed.carrier.callCount())
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
	})

	t.Run("BoughtWithoutAUsableLabelIsUnknown", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("x", 300)
		for _, label := range []*carrier.Label{
			nil,
			{ID: "L1", TrackingNo: "GRD\xff1", Cost: carrier.Money{Currency: "USD"}},
			{ID: "L1", TrackingNo: "GRD\x00", Cost: carrier.Money{Currency: "USD"}},
			{ID: long, TrackingNo: "GRD1", Cost: carrier.Money{Currency: "USD"}},
			{ID: "L1", TrackingNo: "", Cost: carrier.Money{Currency: "USD"}},
			{ID: "", TrackingNo: "GRD1", Cost: carrier.Money{Currency: "USD"}},
			{ID: "L1", TrackingNo: "GRD1", Cost: carrier.Money{Cents: -1, Currency: "USD"}},
			{ID: "L1", TrackingNo: "GRD1", Cost: carrier.Money{Currency: "dollars"}},
		} {
			b := setup(t, blind)
			b.carrier.will(reply{answer: carrier.Result{Outcome: carrier.Bought, Label: label}})
			_, id := b.accepted()
			require.NoError(t, b.work(id))
			require.Equal(t, SettledByPerson, b.row(id).SettledBy)
			require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls WHERE carrier_code = 'unusable_label'`))
		}
	})

	t.Run("LookupThatFailsProvesNothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		b.carrier.will(reply{charge: true, answer: unknown})
		_, id := b.accepted()
		requireSnooze(t, b.work(id))
		b.carrier.findErr = errors.New("gateway timeout")
		for range 5 {
			b.age(id, byLookup.Lookup.QuietPeriod())
			requireSnooze(t, b.work(id))
		}
		require.Equal(t, 0, b.row(id).EmptyLookups)
		b.carrier.findErr = nil
		require.NoError(t, b.work(id))
		require.Equal(t, 1, b.carrier.charges())
	})

	t.Run("BlindIsNeverCalledAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		b.carrier.will(reply{charge: true, answer: unknown})
		s, id := b.accepted()
		require.NoError(t, b.work(id))
		require.NoError(t, b.work(id))
		require.Equal(t, row{
			State: InDoubt, SettledBy: SettledByPerson, Attempts: 1, Calls: 1, OpenCalls: 1,
			KeyState: "started", Jobs: 1,
		}, b.row(id))
		require.Equal(t, 1, b.carrier.callCount())
		require.Equal(t, Answer{Kind: Doubtful, IntentID: id, left: true}, b.accept(s))
		require.NoError(t, b.box.Gauge(t.Context()))
		require.InDelta(t, 1, value(b.box.cfg.Metrics.intents.WithLabelValues("in_doubt")), 0)
		require.InDelta(t, 1, value(b.box.cfg.Metrics.leftToPerson), 0)
	})

	t.Run("BoughtAbovePriceWaitsForAPerson", func(t *testing.T) {
		t.Parallel()
		b := setup(t, both)
		dear := carrier.Label{ID: "L9", TrackingNo: "GRD9", Cost: carrier.Money{Cents: 99900, Currency: "USD"}}
		b.carrier.will(reply{answer: carrier.Result{Outcome: carrier.Unknown, Code: carrier.CodeOverPrice, Label: &dear}})
		_, id := b.accepted()
		require.NoError(t, b.work(id))
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls
			WHERE intent_id = $1 AND carrier_label_id = 'L9' AND tracking_no = 'GRD9' AND cost_cents = 99900`, id))
	})
}

// A worker that is killed leaves its lease behind: these take it over.
func TestTakeover(t *testing.T) {
	t.Parallel()

	// die kills an attempt, as it were, between the charge and the commit: its lease stays.
	die := func(b *testBundle, id uuid.UUID, charge bool) {
		c, err := b.box.claim(b.t.Context(), id, b.carrier)
		require.NoError(b.t, err)
		require.Equal(b.t, granted, c.status)
		if charge {
			b.carrier.mu.Lock()
			b.carrier.charge(carrier.Purchase{
				CarrierKey: carrierKey(c.lease.slot, 1), Reference: c.order.reference,
				Shipment: carrier.Shipment{Service: "ground", WeightG: 1450, Format: carrier.PDF},
			})
			b.carrier.mu.Unlock()
		}
	}

	for name, caps := range classes {
		for _, charge := range []bool{true, false} {
			t.Run(name+"/Charged="+map[bool]string{true: "yes", false: "no"}[charge], func(t *testing.T) {
				t.Parallel()
				b := setup(t, caps)
				_, id := b.accepted()
				die(b, id, charge)
				wait := requireSnooze(t, b.work(id))
				require.Positive(t, wait, "the lease is respected while it lasts")
				require.LessOrEqual(t, wait, b.box.cfg.Lease)

				b.expireLease(id)
				b.age(id, b.box.cfg.Lease)
				for range 20 {
					if b.work(id) == nil {
						break
					}
					b.age(id, time.Second)
				}
				if caps.Key == nil && caps.Lookup == nil {
					require.Equal(t, SettledByPerson, b.row(id).SettledBy)
					require.Zero(t, b.carrier.callCount())
					return
				}
				require.Equal(t, Purchased, b.row(id).State)
				require.Equal(t, 1, b.carrier.charges())
				require.InDelta(t, 1, value(b.box.cfg.Metrics.takeovers), 0)
			})
		}
	}
}

// A process that sleeps between its last look at the lease and the send, for up to a quiet period, is
// waited for: the look-ups that prove absence begin to count only after that.
func TestTakeoverWaitsForASleeper(t *testing.T) {
	t.Parallel()
	b := setup(t, carrier.Capabilities{Lookup: unhurried})
	_, id := b.accepted()
	sleeper, err := b.box.claim(t.Context(), id, b.carrier)
	require.NoError(t, err)
	b.expireLease(id)
	quiet := unhurried.QuietPeriod()
	b.age(id, b.box.cfg.Lease)
	for range 4 { // look-ups at once, and through one quiet period and a half
		requireSnooze(t, b.work(id))
		b.age(id, quiet/2)
	}
	require.Zero(t, b.carrier.callCount())
	// The sleeper has sent meanwhile; what it bought is found, not bought again.
	b.carrier.mu.Lock()
	b.carrier.charge(carrier.Purchase{Reference: sleeper.order.reference, Shipment: carrier.Shipment{Service: "ground", WeightG: 1450}})
	b.carrier.mu.Unlock()
	require.NoError(t, b.work(id))
	require.Equal(t, Purchased, b.row(id).State)
	require.Equal(t, 1, b.carrier.charges())
}

// The same where the carrier honours a key: a refusal that another attempt hears meanwhile says when
// its own call ended, not that of the sleeper.
func TestARefusalDoesNotEndASleepersCall(t *testing.T) {
	t.Parallel()
	b := setup(t, carrier.Capabilities{Key: keyed.Key, Lookup: unhurried})
	_, id := b.accepted()
	sleeper, err := b.box.claim(t.Context(), id, b.carrier)
	require.NoError(t, err)
	b.expireLease(id)
	b.age(id, b.box.cfg.Lease)
	b.carrier.will(reply{answer: rejected}, reply{answer: rejected})
	requireSnooze(t, b.work(id))
	quiet := unhurried.QuietPeriod()
	for range 5 { // a quiet period after the refusal, within which the sleeper may still send
		b.age(id, quiet/4)
		requireSnooze(t, b.work(id))
	}
	require.Equal(t, InDoubt, b.row(id).State)
	b.carrier.mu.Lock()
	b.carrier.charge(carrier.Purchase{
		CarrierKey: carrierKey(sleeper.lease.slot, 1), Reference: sleeper.order.reference,
		Shipment: carrier.Shipment{Service: "ground", WeightG: 1450},
	})
	b.carrier.mu.Unlock()
	b.age(id, quiet)
	require.NoError(t, b.work(id))
	require.Equal(t, Purchased, b.row(id).State)
}

// An attempt that outlives its lease finds another one in its place.
func TestLostLease(t *testing.T) {
	t.Parallel()

	// overtaken runs an attempt whose lease ends during the call; meanwhile does what happens then.
	overtaken := func(b *testBundle, id uuid.UUID, meanwhile func()) error {
		var overtook atomic.Bool // not sync.Once: the overtaking attempt calls the carrier too
		b.carrier.onCall = func() {
			if overtook.CompareAndSwap(false, true) {
				b.expireLease(id)
				meanwhile()
			}
		}
		return b.work(id)
	}

	t.Run("WritesNothingButEvidence", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		b.carrier.will(reply{answer: rejected})
		_, id := b.accepted()
		require.NoError(t, overtaken(b, id, func() {
			_, err := b.box.claim(t.Context(), id, b.carrier) // the new holder is still at it
			require.NoError(t, err)
		}))
		r := b.row(id)
		require.Equal(t, Pending, r.State)
		require.Equal(t, "started", r.KeyState)
		require.True(t, r.Leased)
		require.InDelta(t, 1, value(b.box.cfg.Metrics.lostLeases), 0)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls
			WHERE intent_id = $1 AND reason = 'lost_lease' AND outcome = 'rejected'`, id))
	})

	t.Run("AfterTheEndIsTooLate", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		s, id := b.accepted()
		second := setupOn(t, b.db, b.carrier)
		require.NoError(t, overtaken(b, id, func() { second.workUntilSettled(id) }))
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.row(id).Labels)
		require.Equal(t, 1, b.carrier.charges())
		require.Equal(t, Final, b.accept(s).Kind)
	})

	t.Run("ALateBoughtSettlesADoubtThatNobodyHolds", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		s, id := b.accepted()
		second := setupOn(t, b.db, b.carrier)
		require.NoError(t, overtaken(b, id, func() {
			require.NoError(t, second.work(id))
			require.Equal(t, InDoubt, b.row(id).State)
		}))
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, Final, b.accept(s).Kind)
		require.Equal(t, 1, b.carrier.callCount())
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE learned_by = 'late_call'`))
	})

	t.Run("ALateBoughtWaitsForTheHolderToEnd", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		b.carrier.hidden = true
		ended := make(chan error, 1)
		_, id := b.accepted()
		require.NoError(t, overtaken(b, id, func() {
			c, err := b.box.claim(t.Context(), id, b.carrier)
			require.NoError(t, err)
			require.Equal(t, lookupStep, c.plan.step)
			go func() { // the look-up ends while the label is being offered
				_, err := b.box.completing.Do(context.WithoutCancel(t.Context()), completeItem{
					lease: c.lease, order: c.order, began: c.before.now,
					conclusion: concludeLookup(c.before, carrier.Shipment{}, "", nil, nil, *byLookup.Lookup, b.box.cfg.Policy),
				})
				ended <- err
			}()
		}))
		require.NoError(t, <-ended)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.charges())
	})
}

func TestCompleteBatch(t *testing.T) {
	t.Parallel()

	t.Run("RunTwiceStoresOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, both)
		var items []completeItem
		for _, res := range []carrier.Result{{Outcome: carrier.Bought}, rejected, notBought, unknown} {
			_, id := b.accepted()
			c, err := b.box.claim(t.Context(), id, b.carrier)
			require.NoError(t, err)
			if res.Outcome == carrier.Bought {
				label := b.carrier.charge(carrier.Purchase{Reference: c.order.reference, CarrierKey: id.String()})
				label.Service, res.Label = "ground", &label
			}
			items = append(items, completeItem{
				lease: c.lease, order: c.order, account: "SIM-1", began: c.before.now, boughtAt: c.before.now,
				labelID: uuid.Must(uuid.NewV7()), conclusion: concludeCall(c.before, res, both, b.box.cfg.Policy),
			})
		}
		want := []completion{stored, stored, stored, stored}
		for range 2 {
			got, err := b.box.completeAll(t.Context(), items)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels`))
		require.Equal(t, 3, b.count(`SELECT count(*) FROM carrier_calls`))
		require.Equal(t, 1, b.count(`SELECT refusals FROM label_intents WHERE intent_id = $1`, items[2].lease.intentID))
	})

	t.Run("LargeDocumentsAreSharedOut", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		content := make([]byte, 1<<20)
		_, err := rand.Read(content)
		require.NoError(t, err)
		var wg sync.WaitGroup
		errs := make([]error, 64)
		for i := range errs {
			_, id := b.accepted()
			c, err := b.box.claim(t.Context(), id, b.carrier)
			require.NoError(t, err)
			label := b.carrier.charge(carrier.Purchase{Reference: c.order.reference, CarrierKey: id.String()})
			label.Service, label.Document = "ground", carrier.Document{Format: carrier.PDF, Content: content}
			item := completeItem{
				lease: c.lease, order: c.order, account: "SIM-1", began: c.before.now, boughtAt: c.before.now,
				labelID:    uuid.Must(uuid.NewV7()),
				conclusion: concludeCall(c.before, carrier.Result{Outcome: carrier.Bought, Label: &label}, keyed, b.box.cfg.Policy),
			}
			wg.Go(func() { _, errs[i] = b.box.completing.Do(t.Context(), item) })
		}
		wg.Wait()
		require.Equal(t, make([]error, 64), errs)
		require.Equal(t, 64, b.count(`SELECT count(*) FROM label_documents`))
	})

	t.Run("ALabelThatCannotBeStoredPutsItsIntentInDoubtAlone", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, first := b.accepted()
		require.NoError(t, b.work(first))
		var taken string
		require.NoError(t, b.db.QueryRow(t.Context(), `SELECT carrier_label_id FROM labels`).Scan(&taken))
		stolen := carrier.Label{
			ID: taken, TrackingNo: "GRD7", Service: "ground", Cost: carrier.Money{Cents: 1, Currency: "USD"},
			Document: carrier.Document{Format: carrier.PDF, Content: []byte("x")},
		}
		b.carrier.will(reply{answer: carrier.Result{Outcome: carrier.Bought, Label: &stolen}})
		_, second := b.accepted()
		require.NoError(t, b.work(second))
		require.Equal(t, SettledByPerson, b.row(second).SettledBy)
		require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls
			WHERE intent_id = $1 AND outcome = 'bought' AND carrier_code = 'labels_carrier_label'`, second))
	})
}

// A claim whose commit went through although its reply was lost is run again.
func TestClaimRunTwiceCountsOneCall(t *testing.T) {
	t.Parallel()
	b := setup(t, blind)
	_, id := b.accepted()
	items := []claimItem{{intentID: id, token: uuid.New(), carrier: "sim", account: "SIM-1", caps: blind}}
	first, err := b.box.claimAll(t.Context(), items)
	require.NoError(t, err)
	again, err := b.box.claimAll(t.Context(), items)
	require.NoError(t, err)
	for _, c := range []claimed{first[0], again[0]} {
		require.Equal(t, granted, c.status)
		require.Equal(t, callStep, c.plan.step)
		require.Zero(t, c.before.openCalls)
		require.Zero(t, c.before.calls)
		require.False(t, c.tookOver)
	}
	require.Equal(t, 1, b.row(id).Calls)
	require.Equal(t, 1, b.row(id).OpenCalls)
}

func TestOneLeaseAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	second := setupOn(t, b.db, b.carrier)
	_, id := b.accepted()
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[claimStatus]int{}
	for i := range 32 {
		box := []*Outbox{b.box, second.box}[i%2]
		wg.Go(func() {
			c, err := box.claim(t.Context(), id, b.carrier)
			require.NoError(t, err)
			mu.Lock()
			statuses[c.status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	require.Equal(t, map[claimStatus]int{granted: 1, heldByOther: 31}, statuses)
}

// TestCallIsNotBegunWithoutRoomInTheLease: where claiming takes so long that the lease cannot cover the
// call any more, nothing is sent and nothing is spent. The next lease is longer, and the call is sent.
func TestCallIsNotBegunWithoutRoomInTheLease(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		claimTakes time.Duration // of a lease of a minute, 24 s of which the call needs
		unbegun    int
	}{
		"InTime":   {30 * time.Second, 0},
		"Slow":     {40 * time.Second, 1},
		"VerySlow": {200 * time.Second, 3},
		"Slowest":  {tryTimeout + commitTimeout, 1}, // of those that do not fail
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var now time.Time
			var mu sync.Mutex
			b := setup(t, blind, func(c *Config) {
				c.Policy.MaxCalls = 1
				c.Now = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					now = now.Add(tt.claimTakes / 2) // a claim looks before, and after, and then its time is judged
					return now
				}
			})
			_, id := b.accepted()
			for n := range tt.unbegun {
				require.Equal(t, time.Second, requireSnooze(t, b.work(id)))
				require.Zero(t, b.carrier.callCount())
				require.Equal(t, row{State: Pending, Attempts: n + 1, Calls: n + 1, KeyState: "started", Jobs: 1}, b.row(id))
			}
			require.NoError(t, b.work(id))
			require.Equal(t, 1, b.carrier.callCount())
			require.Equal(t, Purchased, b.row(id).State)
		})
	}
}

// TestALeaseThatGrewFallsBack: once a call was begun, half of what made the lease longer falls away, and
// what is spent stays the same.
func TestALeaseThatGrewFallsBack(t *testing.T) {
	t.Parallel()
	b := setup(t, byLookup)
	b.carrier.will(reply{answer: notBought}, reply{answer: notBought}, reply{answer: unknown})
	_, id := b.accepted()
	b.exec(`UPDATE label_intents SET calls = 15, unbegun = 15, first_called_at = now() WHERE intent_id = $1`, id)
	for spent, unbegun := range []int{15, 7, 3, 1} {
		require.Equal(t, unbegun, b.count(`SELECT unbegun FROM label_intents WHERE intent_id = $1`, id))
		require.Equal(t, spent, b.count(`SELECT calls - deferrals - unbegun FROM label_intents WHERE intent_id = $1`, id))
		require.Error(t, b.work(id))
	}
	require.Equal(t, 1, b.row(id).OpenCalls)
}

// TestAKeyIsNotTrustedLateInALongLease: a call that was planned because the carrier knows its key is not
// sent once it may have forgotten it, however long claiming took.
func TestAKeyIsNotTrustedLateInALongLease(t *testing.T) {
	t.Parallel()
	var late atomic.Int64
	caps := carrier.Capabilities{Key: &carrier.Key{Window: time.Hour, Margin: time.Minute}}
	b := setup(t, caps, func(c *Config) {
		c.Lease = time.Hour
		c.Now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	})
	b.carrier.will(reply{charge: true, answer: unknown})
	_, id := b.accepted()
	requireRetry(t, b.work(id))
	b.age(id, 50*time.Minute)
	token := uuid.New()
	c, err := b.box.claiming.Do(t.Context(), claimItem{
		intentID: id, token: token, carrier: "sim", account: "SIM-1", caps: caps,
	})
	require.NoError(t, err)
	require.Equal(t, sameKeyRepeat, c.plan.reason)
	late.Store(int64(15 * time.Minute)) // the process stood still
	a := &attempt{
		Buyer: b.buyer, claimed: c, account: Account{Carrier: b.carrier, Timeout: 20 * time.Second},
		logger: b.box.cfg.Logger, done: func(carrier.Outcome) {},
	}
	requireSnooze(t, a.run(t.Context()))
	require.Equal(t, 1, b.carrier.callCount())
	require.Equal(t, 1, b.row(id).OpenCalls)
	b.age(id, 10*time.Minute)
	require.NoError(t, b.work(id))
	require.Equal(t, SettledByPerson, b.row(id).SettledBy)
}

func TestBuyerRefusesATimeoutThatDoesNotFitTheLease(t *testing.T) {
	t.Parallel()
	b := setup(t, keyed)
	_, err := b.box.NewBuyer(map[string]Account{"sim": {Carrier: b.carrier, Timeout: 59 * time.Second}})
	require.ErrorContains(t, err, "do not fit into the lease")
}
