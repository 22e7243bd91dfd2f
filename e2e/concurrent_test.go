package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
)

// TestOneKeyAtOnce: however many send one key at once, to whichever API, it is one purchase; and all
// repeats are alike, headers included.
func TestOneKeyAtOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t, startCarrierProgram(t), settings{})
	s.startAll()
	o := orderOf(1)
	answers, err := s.together(64, func(ctx context.Context, i int) (answer, error) {
		if i%4 == 0 {
			return s.post(ctx, s.api(), o)
		}
		return s.post(ctx, s.api(), o, "Prefer", "wait=10")
	})
	require.NoError(t, err)
	requireHeard(s, answers, "201", "202", "409 request_in_progress")

	require.Equal(t, ended{purchased: 1}, requireTruth(s))
	require.Equal(t, 1, s.count(`SELECT count(*) FROM river_job`))
	require.Len(t, s.carrier.charges(), 1)

	var first answer
	for i, api := range []*process{s.apis[0], s.apis[1], s.apis[0]} {
		a, err := s.post(t.Context(), api, o)
		require.NoError(t, err)
		require.Equal(t, "201", a.said())
		if i == 0 {
			first = a
			continue
		}
		require.Equal(t, string(first.body), string(a.body))
		require.Equal(t, sameHeaders(first.header), sameHeaders(a.header))
	}
	bought := 0
	for _, a := range answers {
		if a.status == http.StatusCreated {
			require.Equal(t, string(first.body), string(a.body))
			require.Equal(t, first.header.Get("Location"), a.header.Get("Location"))
			if a.header.Get("Idempotent-Replayed") == "" {
				bought++
			}
		}
	}
	require.LessOrEqual(t, bought, 1, "only the request that was accepted is no replay")
}

// TestOneParcelAtOnce: a parcel is bought once, whatever the keys are.
func TestOneParcelAtOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t, startCarrierProgram(t), settings{})
	s.startAll()
	answers, err := s.together(64, func(ctx context.Context, i int) (answer, error) {
		o := orderOf(1)
		if i%2 == 1 {
			o = o.other()
		}
		o.key = fmt.Sprintf("attempt-%d", i) // the classic mistake
		return s.post(ctx, s.api(), o)
	})
	require.NoError(t, err)
	requireHeard(s, answers, "201", "202", "409 request_in_progress", "409 parcel_already_labelled")
	accepted := 0
	for _, a := range answers {
		if a.status == http.StatusAccepted {
			accepted++
		}
	}
	require.Equal(t, 1, accepted)
	require.Equal(t, ended{purchased: 1}, requireTruth(s))
	require.Len(t, s.carrier.charges(), 1)
}

// TestAnotherBody: a key never names another request, neither while the label is being bought nor
// afterwards.
func TestAnotherBody(t *testing.T) {
	t.Parallel()
	hold := newGate()
	s := newStack(t, startCarrier(t, simserver.Faults{}, hooks{gate: hold}), settings{})
	s.startAll()
	o := orderOf(1)
	accepted, err := s.post(t.Context(), s.apis[0], o)
	require.NoError(t, err)
	require.Equal(t, "202", accepted.said())

	<-hold.reached
	requireRefused := func() {
		for i, api := range s.apis {
			a, err := s.post(t.Context(), api, o.other(), "Prefer", fmt.Sprintf("wait=%d", 5*i))
			require.NoError(t, err)
			require.Equal(t, "422 idempotency_key_reused", a.said())
			require.Equal(t, accepted.intentID(), a.intentID())
			// A body that is no request at all is another body too.
			bad := order{key: o.key, body: strings.TrimSuffix(o.body, "}")}
			a, err = s.post(t.Context(), api, bad)
			require.NoError(t, err)
			require.Equal(t, "422 idempotency_key_reused", a.said())
		}
	}
	requireRefused()
	hold.open()
	require.Equal(t, ended{purchased: 1}, requireTruth(s))
	requireRefused()
	require.Equal(t, ended{purchased: 1}, requireTruth(s))
}
