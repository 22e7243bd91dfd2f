package e2e

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/testdb"
)

// version is the programs of one version.
type version struct{ name, dir string }

// nextMigration is what a migration may do while programs that do not know it are at work: see
// docs/development.md.
const nextMigration = `
	ALTER TABLE idempotency_keys ADD COLUMN next_seen timestamptz DEFAULT now();
	ALTER TABLE label_intents ADD COLUMN next_note text;
	ALTER TABLE label_intents ADD CONSTRAINT next_note_length CHECK (length(next_note) < 100) NOT VALID;
	ALTER TABLE labels ADD COLUMN next_stops integer NOT NULL DEFAULT 0;
	CREATE INDEX next_labels_stops ON labels (next_stops);
	CREATE TABLE next_stops (stop_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, label_id uuid REFERENCES labels);`

// nextBuild builds these programs with one migration more, once for all tests.
var nextBuild = sync.OnceValues(func() (version, error) {
	next := version{name: "next", dir: filepath.Join(binaries, "next")}
	last, err := lastMigration()
	if err != nil {
		return next, err
	}
	name := nextName(last)
	if err := os.MkdirAll(next.dir, 0o700); err != nil {
		return next, err
	}
	source := filepath.Join(next.dir, name)
	if err := os.WriteFile(source, []byte(nextMigration), 0o600); err != nil {
		return next, err
	}
	there, err := filepath.Abs(filepath.Join("..", "migrations", name))
	if err != nil {
		return next, err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {there: source}})
	if err != nil {
		return next, err
	}
	overlay := filepath.Join(next.dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return next, err
	}
	args := []string{"build", "-ldflags", "-s -w", "-overlay", overlay, "-o", next.dir + string(filepath.Separator)}
	if raceEnabled {
		args = append(args, "-race") // What it is made of has been compiled like this.
	}
	cmd := exec.CommandContext(context.Background(), "go", append(args, "../cmd/api", "../cmd/worker")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return next, fmt.Errorf("building the programs with %s: %w: %s", name, err, out)
	}
	return next, nil
})

func nextName(last string) string {
	var number int
	_, _ = fmt.Sscanf(last, "%d_", &number) // Without one the build fails.
	return fmt.Sprintf("%04d_next.sql", number+1)
}

// run runs a command of a build to its end.
func (b version) run(t *testing.T, database, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), castTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(b.dir, program), args...)
	cmd.Env = []string{
		"DATABASE_URL=" + database, "WAYBILL_API_ADDR=127.0.0.1:0", "WAYBILL_ADMIN_ADDR=127.0.0.1:0",
		"WAYBILL_CARRIERS=" + writeCarriers(t, "http://127.0.0.1:1", simserver.Keyed, time.Second),
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// upgrade is a service that is on its way from one build to another.
type upgrade struct {
	*stack

	dir     string
	charges chan struct{}
	apis    map[version]*process // as clients see them
}

// begin starts a program of a build and returns when it serves.
func (u *upgrade) begin(b version, program string, args ...string) *player {
	u.t.Helper()
	p := newPlayer(u.dir, b.name+"-"+program, program, u.env, args...)
	p.use(b.dir)
	go p.supervise()
	u.t.Cleanup(func() {
		p.close()
		u.checkLives(p)
	})
	eventually(u.t, castTimeout, p.name+" is ready", func() bool {
		l := p.now()
		return l != nil && l.ready(u.t.Context())
	})
	return p
}

// checkLives: no program ended unasked, and none logged what must never be in a log.
func (u *upgrade) checkLives(p *player) {
	for _, l := range p.all() {
		if l.byItself() {
			u.t.Errorf("%s ended by itself: %s", p.name, l.cmd.ProcessState)
		}
		err := l.lines(func(text string) bool {
			for _, bad := range []string{"panic", "DATA RACE", "fatal error", "cached plan"} {
				if strings.Contains(text, bad) {
					u.t.Errorf("%s logged %s", p.name, text)
				}
			}
			return true
		})
		require.NoError(u.t, err)
	}
}

// beginAPI starts an API, and has clients use it from now on until it is left.
func (u *upgrade) beginAPI(b version) (leave func()) {
	u.t.Helper()
	p := u.begin(b, "api", "serve")
	seen := &process{t: u.t, name: p.name, url: p.address(), done: make(chan struct{})}
	u.apis[b] = seen
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stack.apis = append(u.stack.apis, seen)
	return func() {
		close(seen.done)
		p.close()
	}
}

// order buys a label by way of one API, whichever worker there is.
func (u *upgrade) order(b version, n int) {
	u.t.Helper()
	a, err := u.post(u.t.Context(), u.apis[b], orderOf(n), "Prefer", "wait=30")
	require.NoError(u.t, err)
	require.Contains(u.t, []string{"201", "202"}, a.said(), "%s: %s", b.name, a.body)
	u.awaitCount(0, fmt.Sprintf(`SELECT count(*) FROM label_intents WHERE order_id = %d AND state = 'pending'`, n))
}

// awaitCharges lets the load go on.
func (u *upgrade) awaitCharges(n int) {
	u.t.Helper()
	for range n {
		await(u.t, "a charge", u.charges)
	}
}

// apart is where the orders begin that are not a part of the load.
const apart = 1_000_000

// play takes a service from one build to the other, under load. Clients never stop; each pairing of old and
// new programs sells a label; every answer of one build is the other's, byte for byte.
func play(t *testing.T, before, after version) {
	t.Helper()
	const orders, refused = 160, 5
	database := testdb.Empty(t)
	out, err := before.run(t, database, "api", "migrate")
	require.NoError(t, err, out)
	charges := make(chan struct{}, 2*orders)
	carrier := startCarrier(t, simserver.Faults{LatencyMS: 10, LatencySpreadMS: 40, Rules: []simserver.Rule{
		{Fault: simserver.Refuse, Probability: 0.2, Count: refused},
		{Fault: simserver.ResetAfterCharge, Probability: 0.1, Count: 10},
	}}, hooks{charged: func(simserver.Entry) { charges <- struct{}{} }})
	u := &upgrade{
		stack:   newStack(t, carrier, settings{database: database}),
		dir:     t.ArtifactDir(),
		charges: charges, apis: map[version]*process{},
	}
	leaveOldAPI := u.beginAPI(before)
	oldWorker := u.begin(before, "worker")
	accepted := make(chan error, 1)
	go func() { accepted <- u.submitAll(1, orders+1) }()
	u.awaitCharges(40)

	out, err = after.run(t, database, "api", "migrate")
	require.NoError(t, err, out)
	u.awaitCharges(20) // The old ones alone, on the new tables.
	u.order(before, apart+1)

	u.beginAPI(after)
	u.order(after, apart+2) // The new API and the old worker.
	u.begin(after, "worker")
	u.awaitCharges(20) // All of them.
	oldWorker.close()
	u.order(before, apart+3) // The old API and the new worker.

	u.sameAnswers(before, after, 3)
	_, err = u.db.Exec(t.Context(), `
		UPDATE idempotency_keys SET expires_at = expires_at - interval '2 days' WHERE state = 'completed'`)
	require.NoError(t, err)
	u.awaitCount(0, `SELECT count(*) FROM idempotency_keys WHERE state = 'completed' AND expires_at < now()`)
	u.sameAnswers(before, after, 3) // Made again from what is kept.

	leaveOldAPI()
	require.NoError(t, <-accepted)
	got := requireTruth(u.stack)
	require.Equal(t, orders+3, got.purchased+got.rejected)
	require.LessOrEqual(t, got.rejected, refused)
	require.Len(t, carrier.charges(), got.purchased)
}

// sameAnswers repeats the first orders that were set apart, which are decided, at both builds.
func (u *upgrade) sameAnswers(before, after version, many int) {
	u.t.Helper()
	for n := range many {
		o := orderOf(apart + n + 1)
		var answers []answer
		for _, b := range []version{before, after} {
			a, err := u.post(u.t.Context(), u.apis[b], o)
			require.NoError(u.t, err)
			require.Contains(u.t, []string{"201", "422 carrier_rejected"}, a.said(), "%s: %s", b.name, a.body)
			require.Equal(u.t, "true", a.header.Get("Idempotent-Replayed"))
			answers = append(answers, a)
		}
		require.Equal(u.t, string(answers[0].body), string(answers[1].body))
		require.Equal(u.t, answers[0].status, answers[1].status)
		require.Equal(u.t, answers[0].header.Get("Location"), answers[1].header.Get("Location"))
	}
}

// TestUpgrade: from one build to the next, with a migration between, while orders come in. Nothing is lost,
// nothing is bought twice, and no answer changes.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	ours := version{name: "ours", dir: binaries}
	t.Run("ToOneMigrationMore", func(t *testing.T) {
		t.Parallel()
		next, err := nextBuild()
		require.NoError(t, err)
		play(t, ours, next)
	})
	t.Run("FromOneMigrationLess", func(t *testing.T) {
		t.Parallel()
		dir, err := buildPreviousSchema()
		if err != nil {
			// A copy without its history. The migration that is to come stands for the one that is past.
			t.Log(err)
			return
		}
		play(t, version{name: "old", dir: dir}, ours)
	})
}

// TestUpgradeRefuses: a program that cannot work with the tables there are says so, says what to do, and ends.
func TestUpgradeRefuses(t *testing.T) {
	t.Parallel()
	next, err := nextBuild()
	require.NoError(t, err)
	last, err := lastMigration()
	require.NoError(t, err)
	ours := version{name: "ours", dir: binaries}
	refuses := func(t *testing.T, b version, database string, words ...string) {
		t.Helper()
		for program, args := range map[string][]string{"api": {"serve"}, "worker": nil} {
			out, err := b.run(t, database, program, args...)
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "%s: %s", program, out)
			require.Positive(t, exit.ExitCode(), "%s: %s", program, out)
			for _, word := range words {
				require.Contains(t, out, word, program)
			}
		}
	}
	t.Run("TablesOfOneMigrationLess", func(t *testing.T) {
		t.Parallel()
		database := testdb.URL(t)
		refuses(t, next, database, "older than this binary", "it lacks "+nextName(last), `run "api migrate"`)
		out, err := next.run(t, database, "api", "migrate")
		require.NoError(t, err, out)
		// And the one before works with them: TestUpgrade. It leaves alone what it does not know.
		out, err = ours.run(t, database, "api", "migrate")
		require.NoError(t, err, out)
		var newest string
		require.NoError(t, testdb.Pool(t, database).QueryRow(t.Context(),
			`SELECT name FROM schema_migrations ORDER BY version DESC LIMIT 1`).Scan(&newest))
		require.Equal(t, nextName(last), newest)
	})
	t.Run("NoTables", func(t *testing.T) {
		t.Parallel()
		refuses(t, ours, testdb.Empty(t), "no schema yet", `run "api migrate"`)
	})
	t.Run("TablesOfAnotherHistory", func(t *testing.T) {
		t.Parallel()
		database := testdb.URL(t)
		_, err := testdb.Pool(t, database).Exec(t.Context(), `UPDATE schema_migrations SET sha256 = 'another' WHERE name = $1`, last)
		require.NoError(t, err)
		refuses(t, ours, database, last+" was changed after it was applied", "put it back as it was")
		out, err := ours.run(t, database, "api", "migrate")
		require.Error(t, err)
		require.Contains(t, out, last+" was changed after it was applied")
	})
}
