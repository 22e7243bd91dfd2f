package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"waybill/carrier/sim/simserver"
)

// TestVoids: every label is asked to be void by many at once, and the carrier hangs up on the first
// call for each after it has carried it out. Each is void once, at the carrier and with us.
func TestVoids(t *testing.T) {
	t.Parallel()
	const orders, askers = 8, 4
	var cut sync.Map
	hangUpOnce := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, again := cut.LoadOrStore(r.URL.Path, true); again || !strings.HasSuffix(r.URL.Path, "/void") {
				next.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		})
	}
	carrier := startCarrier(t, simserver.Faults{}, hooks{around: hangUpOnce})
	s := newStack(t, carrier, settings{})
	s.startAll()
	require.NoError(t, s.submitAll(1, orders+1))
	require.Equal(t, ended{purchased: orders}, requireTruth(s))

	var clients errgroup.Group
	for _, id := range s.labels() {
		for range askers {
			clients.Go(func() error {
				a, err := s.do(t.Context(), http.MethodDelete, s.api().url+"/v1/labels/"+id, "")
				if err == nil {
					require.Contains(t, []int{http.StatusAccepted, http.StatusOK}, a.status, a.body)
				}
				return err
			})
		}
	}
	require.NoError(t, clients.Wait())
	s.awaitCount(orders, `SELECT count(*) FROM labels WHERE void_state = 'voided' AND voided_at IS NOT NULL`)

	voids := carrier.voids()
	require.Len(t, voids, orders)
	for reference, entries := range voids {
		require.Len(t, entries, 1, reference)
	}
	require.Equal(t, orders, s.count(`SELECT count(*) FROM river_job WHERE kind = 'void_label'`), "one job a label")
	require.Equal(t, 2*orders, s.count(`SELECT count(*) FROM carrier_calls WHERE kind = 'void'`), "a lost answer, and its repeat")
	require.Equal(t, ended{purchased: orders}, requireTruth(s), "what was bought, and answered, stays so")
}

// labels are the ids of all labels.
func (s *stack) labels() (ids []string) {
	s.t.Helper()
	require.NoError(s.t, s.db.QueryRow(s.t.Context(), `SELECT array_agg(label_id::text) FROM labels`).Scan(&ids))
	return ids
}
