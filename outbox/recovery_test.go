package outbox

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
)

// forget makes an intent what a backup holds that was made between its order and its first claim.
func (b *testBundle) forget(id uuid.UUID) {
	b.t.Helper()
	tx, err := b.db.Begin(b.t.Context())
	require.NoError(b.t, err)
	for _, sql := range []string{
		`UPDATE label_intents SET state = 'pending', settled_by = NULL, attempts = 0, calls = 0, open_calls = 0,
			refusals = 0, empty_lookups = 0, first_called_at = NULL, call_token = NULL, called_account = NULL,
			called_with_key = NULL, last_call_until = NULL, last_lookup_at = NULL, label_id = NULL,
			finished_at = NULL WHERE intent_id = $1`,
		`DELETE FROM label_documents USING labels AS l WHERE l.label_id = label_documents.label_id AND l.intent_id = $1`,
		`DELETE FROM labels WHERE intent_id = $1`,
		`DELETE FROM carrier_calls WHERE intent_id = $1`,
		`UPDATE idempotency_keys AS k SET state = 'started', response_status = NULL, response_body = NULL,
			expires_at = NULL, locked_until = NULL, lease_token = NULL
			FROM label_intents AS i
			WHERE i.intent_id = $1 AND k.caller_id = i.caller_id AND k.idem_key = i.idem_key`,
	} {
		_, err := tx.Exec(b.t.Context(), sql, id)
		require.NoError(b.t, err)
	}
	require.NoError(b.t, tx.Commit(b.t.Context()))
}

// lose makes a restored database of one that never had the intent.
func (b *testBundle) lose(id uuid.UUID) {
	b.t.Helper()
	b.forget(id)
	for _, sql := range []string{
		`DELETE FROM idempotency_keys AS k USING label_intents AS i
			WHERE i.intent_id = $1 AND k.caller_id = i.caller_id AND k.idem_key = i.idem_key`,
		`DELETE FROM label_intents WHERE intent_id = $1`,
	} {
		_, err := b.db.Exec(b.t.Context(), sql, id)
		require.NoError(b.t, err)
	}
}

func (b *testBundle) recover(since time.Time) {
	b.t.Helper()
	require.NoError(b.t, b.box.BeginRecovery(b.t.Context(), Recovery{LostSince: since, Actor: "ops", Why: "a test"}))
}

func (b *testBundle) clock() (now time.Time) {
	b.t.Helper()
	require.NoError(b.t, b.db.QueryRow(b.t.Context(), `SELECT clock_timestamp()`).Scan(&now))
	return now
}

// TestRecovery: an intent that was bought after the backup was made is not bought again.
func TestRecovery(t *testing.T) {
	t.Parallel()

	t.Run("KeyedCallsAgainWithTheSameKey", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		require.NoError(t, b.work(id))
		b.forget(id)
		b.recover(b.clock())
		b.workUntilSettled(id)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 2, b.carrier.callCount())
		require.Equal(t, 1, b.carrier.charges())
	})

	t.Run("KeyedPastItsWindowIsLeftToAPerson", func(t *testing.T) {
		t.Parallel()
		b := setup(t, keyed)
		_, id := b.accepted()
		require.NoError(t, b.work(id))
		b.forget(id)
		b.exec(`UPDATE label_intents SET created_at = created_at - interval '2 days'`)
		b.recover(b.clock().Add(-24 * time.Hour))
		b.workUntilSettled(id)
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		require.Equal(t, 1, b.carrier.callCount())
	})

	t.Run("LookupAdoptsWhatItFinds", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		_, id := b.accepted()
		require.NoError(t, b.work(id))
		b.forget(id)
		b.recover(b.clock())
		b.workUntilSettled(id)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.callCount())
		require.Equal(t, 1, b.count(`SELECT count(*) FROM labels WHERE learned_by = 'lookup'`))
	})

	t.Run("LookupBuysWhatAQuietPeriodDoesNotShow", func(t *testing.T) {
		t.Parallel()
		b := setup(t, byLookup)
		_, id := b.accepted()
		b.recover(b.clock())
		require.Error(t, b.work(id)) // it looks, and comes back
		require.Zero(t, b.carrier.callCount())
		for range 3 {
			b.exec(`UPDATE label_intents SET last_call_until = last_call_until - interval '1 day',
				last_lookup_at = last_lookup_at - interval '1 day'`)
			_ = b.work(id) // what it says of the pause is not the matter here
		}
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.charges())
		require.GreaterOrEqual(t, b.carrier.finds, 3)
	})

	t.Run("BlindIsLeftToAPersonOnce", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		_, id := b.accepted()
		require.NoError(t, b.work(id))
		b.forget(id)
		b.recover(b.clock())
		b.workUntilSettled(id)
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		require.Equal(t, 1, b.carrier.callCount())
		require.Equal(t, 1, b.count(`SELECT count(*) FROM carrier_calls WHERE reason = 'lost_with_restore'`))
	})

	t.Run("APersonWhoKnowsIsNotAskedAgain", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		_, id := b.accepted()
		b.carrier.will(reply{answer: unknown})
		require.NoError(t, b.work(id)) // in doubt before the backup
		b.recover(b.clock())
		require.NoError(t, b.box.Settle(t.Context(), Settlement{
			IntentID: id, Verdict: VerdictTryAgain, Actor: "ops", Why: "the carrier's list shows nothing",
		}))
		b.workUntilSettled(id)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.charges())
	})
}

// TestRecoveryOfLostOrders: what was ordered after the backup comes again, as another intent.
func TestRecoveryOfLostOrders(t *testing.T) {
	t.Parallel()
	again := func(t *testing.T, caps carrier.Capabilities) (*testBundle, uuid.UUID) {
		t.Helper()
		b := setup(t, caps)
		since := b.clock()
		s, lost := b.accepted()
		require.NoError(t, b.work(lost))
		b.lose(lost)
		b.recover(since)
		a := b.accept(s)
		require.Equal(t, Accepted, a.Kind)
		require.NotEqual(t, lost, a.IntentID)
		b.workUntilSettled(a.IntentID)
		return b, a.IntentID
	}

	t.Run("KeyedGetsTheSameLabel", func(t *testing.T) {
		t.Parallel()
		b, id := again(t, keyed)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.charges())
	})

	for name, caps := range map[string]carrier.Capabilities{"Lookup": byLookup, "KeyedWithLookup": both} {
		t.Run(name+"FindsTheLabel", func(t *testing.T) {
			t.Parallel()
			b, id := again(t, caps)
			require.Equal(t, Purchased, b.row(id).State)
			require.Equal(t, 1, b.carrier.callCount())
		})
	}

	// What forbade a parcel its second key was lost too.
	t.Run("AnotherKeyFindsTheLabel", func(t *testing.T) {
		t.Parallel()
		b := setup(t, both)
		since := b.clock()
		s, lost := b.accepted()
		require.NoError(t, b.work(lost))
		b.lose(lost)
		b.recover(since)
		s.Key += ":again"
		id := b.accept(s).IntentID
		b.workUntilSettled(id)
		require.Equal(t, Purchased, b.row(id).State)
		require.Equal(t, 1, b.carrier.callCount())
	})

	t.Run("BlindIsLeftToAPerson", func(t *testing.T) {
		t.Parallel()
		b, id := again(t, blind)
		require.Equal(t, InDoubt, b.row(id).State)
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)

		// The end of the recovery frees nothing that was ordered during it ...
		waiting, err := b.box.EndRecovery(t.Context(), "ops", "a test")
		require.NoError(t, err)
		require.Equal(t, 1, waiting)
		require.NoError(t, b.work(id))
		require.Equal(t, 1, b.carrier.callCount())

		// ... and what is ordered after it is bought as ever.
		_, next := b.accepted()
		require.NoError(t, b.work(next))
		require.Equal(t, Purchased, b.row(next).State)
	})

	// What was ordered during the recovery and reaches its turn only after its end is no less doubtful.
	t.Run("FirstClaimedAfterTheEnd", func(t *testing.T) {
		t.Parallel()
		b := setup(t, blind)
		b.recover(b.clock())
		_, id := b.accepted()
		_, err := b.box.EndRecovery(t.Context(), "ops", "a test")
		require.NoError(t, err)
		require.NoError(t, b.work(id))
		require.Equal(t, SettledByPerson, b.row(id).SettledBy)
		require.Zero(t, b.carrier.callCount())
	})
}

func TestRecoveryIsOneAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t, blind)
	_, err := b.box.EndRecovery(t.Context(), "ops", "a test")
	require.ErrorIs(t, err, ErrNoRecovery)
	require.ErrorContains(t, b.box.BeginRecovery(t.Context(), Recovery{Actor: "ops", Why: "a test"}), "since when")
	b.recover(b.clock())
	require.ErrorIs(t, b.box.BeginRecovery(t.Context(), Recovery{LostSince: b.clock(), Actor: "ops", Why: "again"}), ErrRecovering)
	require.ErrorContains(t, b.box.BeginRecovery(t.Context(), Recovery{
		LostSince: b.clock().Add(time.Hour), Actor: "ops", Why: "the future",
	}), "recoveries_lost")
}
