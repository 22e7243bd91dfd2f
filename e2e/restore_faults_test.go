//go:build postgresfaults

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
)

// TestRestoreFromAnOldBackup: the database is put back to a backup, and the carrier is ahead of it. Of
// ten orders the backup knows the purchase, of ten the order alone, of ten nothing; all were bought.
// Callers repeat all of them, and nothing is bought twice.
func TestRestoreFromAnOldBackup(t *testing.T) {
	t.Parallel()
	const each = 10
	for class, want := range map[simserver.Mode]ended{
		simserver.Keyed:  {purchased: 3 * each},
		simserver.Lookup: {purchased: 3 * each},
		simserver.Blind:  {purchased: each, inDoubt: 2 * each},
	} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			r := startReplicated(t)
			carrier := startCarrier(t, simserver.Faults{Mode: class}, hooks{})
			s := newStack(t, carrier, settings{class: class, processing: time.Second, database: r.url()})
			api, worker := s.startAPI(), s.startWorker()
			require.NoError(t, s.submitAll(1, each+1))
			s.awaitSettled()
			worker.terminate()
			require.NoError(t, s.submitAll(each+1, 2*each+1))

			backup, err := r.primary.Copy(t.Context())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, backup.Close()) })
			lostSince := time.Now()
			worker = s.startWorker()
			require.NoError(t, s.submitAll(2*each+1, 3*each+1))
			s.awaitSettled()
			require.Len(t, carrier.charges(), 3*each)
			worker.terminate()
			api.terminate()
			r.primary.Stop(pgcluster.Immediate)
			r.switchTo(backup)
			s.db.Reset()

			recovery(s, "begin", "--lost-since", lostSince.UTC().Format(time.RFC3339Nano))
			s.startAPI()
			s.startWorker()
			require.NoError(t, s.submitAll(1, 3*each+1))
			s.awaitSettled()
			require.Equal(t, want, requireStates(s, s.intents()))
			requireLedger(s, s.intents())
			require.Len(t, carrier.charges(), 3*each)

			// Once it is over, what is new is bought as ever.
			recovery(s, "end")
			require.NoError(t, s.submitAll(3*each+1, 4*each+1))
			s.awaitSettled()
			want.purchased += each
			require.Equal(t, want, requireStates(s, s.intents()))
			requireLedger(s, s.intents())
			require.Len(t, carrier.charges(), 4*each)
		})
	}
}

// recovery runs "api recovery" as an operator does.
func recovery(s *stack, args ...string) {
	s.t.Helper()
	args = append([]string{"recovery"}, append(args, "--actor", "ops", "--why", "a test")...)
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(binaries, "api"), args...)
	cmd.Env = s.env
	said, err := cmd.CombinedOutput()
	require.NoError(s.t, err, string(said))
}
