package e2e

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"waybill/carrier/sim/simserver"
)

// ended counts intents by the state they ended in.
type ended struct {
	purchased, rejected, failed, inDoubt int
}

// intent is an intent, its key and its label, as the database holds them.
type intent struct {
	ID           uuid.UUID
	Key          string
	Reference    string
	State        string
	SettledBy    string
	KeyState     string // "" if it was purged
	Leased       bool
	CarrierLabel string
	TrackingNo   string
	CostCents    int64
}

// requireTruth is how every test ends. It waits until every intent has an end, and holds what we say
// against what the carrier's ledger says:
//
//   - every order that a client was told is accepted is an intent, and in exactly one final state, or
//     in doubt and left to a person;
//   - nothing was charged twice;
//   - every charge has its label, of the same price, or an intent in doubt; every label has its charge;
//   - all answers to one key agree, byte for byte, and so does every repeat made now.
func requireTruth(s *stack) ended {
	s.t.Helper()
	s.awaitSettled()
	intents := s.intents()
	counts := requireStates(s, intents)
	requireLedger(s, intents)
	requireAnswers(s, intents)
	return counts
}

// awaitSettled waits until no job can change anything any more.
func (s *stack) awaitSettled() {
	s.t.Helper()
	s.awaitCount(0, `
		SELECT count(*) FROM label_intents
		WHERE state = 'pending' OR (state = 'in_doubt' AND settled_by <> 'person')`)
}

// intents reads all intents, by key.
func (s *stack) intents() map[string]intent {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(), `
		SELECT
			i.intent_id, i.idem_key, i.reference, i.state, coalesce(i.settled_by, ''),
			coalesce(k.state, ''), k.lease_token IS NOT NULL,
			coalesce(l.carrier_label_id, ''), coalesce(l.tracking_no, ''), coalesce(l.cost_cents, 0)
		FROM label_intents AS i
		LEFT JOIN idempotency_keys AS k ON k.caller_id = i.caller_id AND k.idem_key = i.idem_key
		LEFT JOIN labels AS l ON l.intent_id = i.intent_id`)
	require.NoError(s.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[intent])
	require.NoError(s.t, err)
	intents := make(map[string]intent, len(list))
	for _, i := range list {
		require.NotContains(s.t, intents, i.Key, "a key has two intents or an intent two labels")
		intents[i.Key] = i
	}
	return intents
}

func requireStates(s *stack, intents map[string]intent) ended {
	s.t.Helper()
	var n ended
	for key, i := range intents {
		require.False(s.t, i.Leased, "%s is %s and still leased", key, i.State)
		switch i.State {
		case "purchased":
			n.purchased++
		case "rejected":
			n.rejected++
		case "failed":
			n.failed++
		case "in_doubt":
			n.inDoubt++
			require.Equal(s.t, "person", i.SettledBy, key)
			require.Equal(s.t, "started", i.KeyState, key)
			continue
		default:
			require.Fail(s.t, "no end", "%s is %s", key, i.State)
		}
		require.Contains(s.t, []string{"completed", ""}, i.KeyState, key)
	}
	return n
}

func requireLedger(s *stack, intents map[string]intent) {
	s.t.Helper()
	charges := s.carrier.charges()
	byReference := make(map[string]intent, len(intents))
	var labelled, charged int64
	for key, i := range intents {
		byReference[i.Reference] = i
		if i.State != "purchased" {
			require.Empty(s.t, i.CarrierLabel, "%s is %s and has a label", key, i.State)
			continue
		}
		require.Len(s.t, charges[i.Reference], 1, "%s has a label; the carrier charged", key)
		charge := charges[i.Reference][0]
		require.Equal(s.t,
			simserver.Entry{LabelID: i.CarrierLabel, TrackingNo: i.TrackingNo, AmountCents: i.CostCents},
			simserver.Entry{LabelID: charge.LabelID, TrackingNo: charge.TrackingNo, AmountCents: charge.AmountCents},
			key)
		labelled += i.CostCents
	}
	for reference, entries := range charges {
		require.Len(s.t, entries, 1, "the carrier charged twice for %s", reference)
		i, known := byReference[reference]
		require.True(s.t, known, "the carrier charged for %s, which we do not know", reference)
		switch i.State {
		case "purchased":
			charged += entries[0].AmountCents
		case "in_doubt":
		default:
			require.Fail(s.t, "a charge without a label", "%s is %s", i.Key, i.State)
		}
	}
	require.Equal(s.t, charged, labelled)
}

// requireAnswers holds all that clients heard against the intents, and repeats every order once more.
func requireAnswers(s *stack, intents map[string]intent) {
	s.t.Helper()
	require.NoError(s.t, s.repeatAll(intents))
	byID := make(map[string]intent, len(intents))
	for _, i := range intents {
		byID[i.ID.String()] = i
	}
	first := map[string]answer{} // by intent and kind
	for key, answers := range s.heard {
		for _, a := range answers {
			switch a.said() {
			case "202", "201", "422 carrier_rejected", "502 carrier_unavailable":
			default:
				continue
			}
			i, known := byID[a.intentID()]
			require.True(s.t, known, "%s was answered %s, and is not there", key, a.said())
			if i.Key != key {
				// The same order under another key: it is told what became of the first.
				require.Equal(s.t, "true", a.header.Get("Idempotent-Replayed"), key)
			}
			kind := i.Key + " " + a.said()
			if _, heard := first[kind]; !heard {
				first[kind] = a
			}
			require.Equal(s.t, string(first[kind].body), string(a.body), "two answers to %s", key)
		}
		if i, known := intents[key]; known {
			requireLast(s, i, answers[len(answers)-1])
		}
	}
}

// requireLast: the last answer, after everything has settled, says what the intent is.
func requireLast(s *stack, i intent, a answer) {
	s.t.Helper()
	want := map[string]string{
		"purchased": "201",
		"rejected":  "422 carrier_rejected",
		"failed":    "502 carrier_unavailable",
		"in_doubt":  "409 purchase_in_doubt",
	}[i.State]
	require.Equal(s.t, want, a.said(), "%s is %s", i.Key, i.State)
	if i.State != "in_doubt" {
		require.Equal(s.t, "true", a.header.Get("Idempotent-Replayed"), i.Key)
	}
}

// repeatAll sends every order that became an intent once more.
func (s *stack) repeatAll(intents map[string]intent) error {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	clients, ctx := errgroup.WithContext(ctx)
	clients.SetLimit(8)
	for key, o := range maps.Clone(s.orders) {
		if _, accepted := intents[key]; !accepted {
			continue
		}
		clients.Go(func() error {
			_, err := s.submit(ctx, o)
			return err
		})
	}
	return clients.Wait()
}

// requireHeard: an answer is one of those that may be.
func requireHeard(s *stack, answers []answer, allowed ...string) {
	s.t.Helper()
	for _, a := range answers {
		require.Contains(s.t, allowed, a.said(), string(a.body))
	}
}

// sameHeaders are a replay's headers without those that tell one exchange from another.
func sameHeaders(h http.Header) http.Header {
	h = h.Clone()
	h.Del("X-Request-Id")
	h.Del("Date")
	return h
}
