package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"waybill/carrier/sim/simserver"
	"waybill/internal/pgcluster"
)

const (
	// acceptedPerDeed is how many orders must have been accepted for each deed before the next, half
	// of what an idle machine does; progressMost is how long that is waited for.
	acceptedPerDeed = 3
	progressMost    = 5 * time.Second

	// urgeMost is how long, after the plan, is waited for what must happen and has not.
	urgeMost = 30 * time.Second

	// takeoverTime is more than a lease and the time until its end is noticed.
	takeoverTime = 5 * time.Second

	// urgent is how likely a carrier fault is that has not happened yet and is the last thing missing.
	urgent = 0.3

	// deedTries is for how long a deed is tried that cannot be done yet: nobody can be killed who is
	// not there.
	deedTries = 8 * time.Second

	// spentCalls and spentDeferrals leave an intent one call: the worker gives up at fifty, once the
	// carrier has asked five hundred times to be left alone.
	spentCalls, spentDeferrals = 49, 500
)

// nemesis does what the plan says, and keeps book of what really happened.
type nemesis struct {
	*chaos

	mu     sync.Mutex
	fired  map[deed]int
	toxics map[toxic]int
	clocks map[time.Duration]int
	kills  map[string]int // by program

	// echo is until when what was written while the clock of Postgres was ahead lies in its future. A
	// clock that leapt is a fault that lasts as long.
	echo time.Time

	lastInACall time.Time
	noPrevious  string // why a rolling restart was to the same build

	failed []string // deeds that could not be done in time
	undone []stepOf // the same
}

// run does what is planned up to the run's end, and goes on for as long as something that must happen
// has not. Deeds that last overlap with those that follow.
func (n *nemesis) run(ctx context.Context, plan []stepOf) {
	var lasting sync.WaitGroup
	begin := time.Now()
	begun := map[deed]bool{}
	for i, s := range plan {
		if s.at > n.duration {
			if len(n.missing(playing)) == 0 {
				break
			}
			n.urge(ctx)
			if n.share.short && begun[s.deed] {
				continue // Once is enough; what it began may take longer.
			}
		}
		begun[s.deed] = true
		pause(ctx, s.at-time.Since(begin))
		n.awaitProgress(ctx, i*acceptedPerDeed)
		if ctx.Err() != nil {
			break
		}
		lasting.Go(func() {
			if err := n.try(ctx, s); err != nil {
				n.mu.Lock()
				defer n.mu.Unlock()
				n.failed = append(n.failed, fmt.Sprintf("%s at %s: %s", s.deed, s.at.Round(time.Millisecond), err))
				n.undone = append(n.undone, s)
			}
		})
	}
	lasting.Wait()
	// A machine with much else to do may not have come to it yet.
	for _, s := range n.undone {
		// Each trouble counts by itself: another one's does not stand for it.
		if n.fired[s.deed] == 0 || s.deed == networkTrouble && n.toxics[s.toxic] == 0 {
			_ = n.try(ctx, s) // Else it is missing, and the run unknown.
		}
	}
	for begin := time.Now(); time.Since(begin) < urgeMost && ctx.Err() == nil && len(n.missing(playing)) > 0; {
		n.urge(ctx)
		pause(ctx, deedEvery)
	}
}

// leadsTo is the carrier fault that ends an intent in a state.
var leadsTo = map[string]simserver.Fault{"rejected": simserver.Refuse, "in_doubt": simserver.ErrorBeforeCharge}

// urge sees to what chance has left out so far: carrier faults, ends of intents, and a lease that a dead
// worker holds.
func (n *nemesis) urge(ctx context.Context) {
	seen := n.look()
	var rules []simserver.Rule
	for _, fault := range n.share.faults {
		if seen.faults[fault] == 0 {
			rules = append(rules, simserver.Rule{Fault: fault, Probability: urgent, Count: 1})
		}
	}
	for state, fault := range leadsTo {
		// A refusal, for one, ends no intent that has a call open.
		if slices.Contains(n.share.states, state) && seen.states[state] == 0 {
			rules = append(rules, simserver.Rule{Fault: fault, Probability: urgent, Count: 1})
		}
	}
	if len(rules) == 0 && n.share.takeover && seen.takeovers == 0 {
		n.killInACall(ctx)
	} else if len(rules) > 0 {
		_ = n.tellCarrier(ctx, rules) // It may be dead: then it is told again.
	}
}

// killInACall kills the workers while the carrier keeps them waiting.
func (n *nemesis) killInACall(ctx context.Context) {
	if time.Since(n.lastInACall) < takeoverTime ||
		n.tellCarrier(ctx, []simserver.Rule{{Fault: simserver.HangAfterCharge, Probability: 1, Count: 4}}) != nil {
		return
	}
	n.lastInACall = time.Now()
	ctx, cancel := context.WithTimeout(ctx, takeoverTime)
	defer cancel()
	for held := 0; held == 0 && ctx.Err() == nil; pause(ctx, poll) {
		_ = n.db.QueryRow(ctx, `
			SELECT count(*) FROM idempotency_keys WHERE locked_until > clock_timestamp()`).Scan(&held) // Else not yet.
	}
	for _, p := range n.workers {
		_ = n.kill(p) // It may be dead already.
	}
}

// awaitProgress lets a machine that has more to do than this keep up: where nobody is ever up, nothing
// is proved. It does not wait for ever, because trouble may be what keeps clients from being served.
func (n *nemesis) awaitProgress(ctx context.Context, accepted int) {
	ctx, cancel := context.WithTimeout(ctx, progressMost)
	defer cancel()
	for ctx.Err() == nil && n.witness.accepted.Load() < int64(accepted) {
		pause(ctx, 5*poll)
	}
}

// errNotYet marks a deed that may be possible in a moment.
var errNotYet = errors.New("not possible yet")

// try does a deed as soon as it is possible.
func (n *nemesis) try(ctx context.Context, s stepOf) error {
	deadline := time.Now().Add(deedTries)
	for {
		err := n.do(ctx, s)
		if err == nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.fired[s.deed]++
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func (n *nemesis) do(ctx context.Context, s stepOf) error {
	n.witness.mu.Lock()
	n.witness.note(map[string]any{"nemesis": s.deed, "which": s.which, "toxic": s.toxic.String(), "lasts": s.lasts.Seconds()})
	n.witness.mu.Unlock()
	switch s.deed {
	case killAPI:
		return n.kill(n.apis[s.which])
	case killWorker:
		return n.kill(n.workers[s.which])
	case killCarrier:
		return n.kill(n.box)
	case killBackend:
		return n.killBackend(ctx)
	case endSessions:
		return n.sql(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
	case crashPostgres:
		return n.cluster.Restart(ctx, pgcluster.Immediate)
	case freezeAPI:
		return n.freeze(ctx, n.apis[s.which], s.lasts)
	case freezeWorker:
		return n.freeze(ctx, n.workers[s.which], s.lasts)
	case emptyJobs:
		return n.sql(ctx, `DELETE FROM river_job`)
	case ageKeys:
		return n.age(ctx, s.which)
	case carrierAway:
		return n.away(ctx, s.lasts)
	case spendCalls:
		return n.spend(ctx, s.lasts)
	case previousBuild:
		return n.roll(ctx, s.lasts)
	case stepClock:
		return n.step(ctx, s)
	case carrierFaults:
		return n.tellCarrier(ctx, s.rules)
	case networkTrouble:
		return n.trouble(s)
	default:
		return fmt.Errorf("unknown deed %q", s.deed)
	}
}

func (n *nemesis) kill(p *player) error {
	l := p.now()
	if l == nil || !l.running() || !l.kill() {
		return fmt.Errorf("%w: %s does not run", errNotYet, p.name)
	}
	n.count(p.program)
	return nil
}

func (n *nemesis) count(program string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kills[program]++
}

// sql is what the nemesis does to the database, by a connection of its own.
func (n *nemesis) sql(ctx context.Context, query string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_, err := n.db.Exec(ctx, query)
	return err
}

// age lets two days pass for half of the keys that are completed.
func (n *nemesis) age(ctx context.Context, half int) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	tag, err := n.db.Exec(ctx, `
		UPDATE idempotency_keys SET expires_at = expires_at - interval '2 days'
		WHERE state = 'completed' AND hashtext(idem_key) % 2 = $1`, half)
	if err == nil && tag.RowsAffected() == 0 {
		err = fmt.Errorf("%w: no key is completed", errNotYet)
	}
	return err
}

// killBackend kills one session of a program. Postgres ends all others then and recovers.
func (n *nemesis) killBackend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var pid int
	err := n.db.QueryRow(ctx, `
		SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
		ORDER BY state = 'active' DESC, query_start DESC LIMIT 1`).Scan(&pid)
	if err != nil {
		return fmt.Errorf("%w: finding a session: %w", errNotYet, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("%w: killing a session: %w", errNotYet, err)
	}
	n.count("postgres backend")
	return nil
}

// freeze stops a program's clockwork for longer than the lease.
func (n *nemesis) freeze(ctx context.Context, p *player, lasts time.Duration) error {
	l := p.now()
	if l == nil || !l.ready(ctx) {
		return fmt.Errorf("%w: %s is not ready", errNotYet, p.name)
	}
	if err := l.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("%w: %w", errNotYet, err)
	}
	pause(ctx, lasts)
	_ = l.cmd.Process.Signal(syscall.SIGCONT) // It may have been killed meanwhile.
	if !l.running() {
		return fmt.Errorf("%w: %s did not live to be thawed", errNotYet, p.name)
	}
	return nil
}

// away makes the carrier refuse connections for a while.
func (n *nemesis) away(ctx context.Context, lasts time.Duration) error {
	n.links[workerCarrier].shut()
	pause(ctx, lasts)
	return n.links[workerCarrier].open(ctx)
}

// spend makes the carrier too busy for every second call, which proves that nothing was bought, and
// puts intents that it turned away to their last call. Fifty real ones would take a quarter of an hour.
func (n *nemesis) spend(ctx context.Context, lasts time.Duration) error {
	before, _ := n.countFailed(ctx) // Unknown is none: then it goes on for as long as it may.
	for ends := time.Now().Add(lasts); time.Now().Before(ends); pause(ctx, 200*time.Millisecond) {
		// Again and again: the carrier may have been killed, and starts without.
		_ = n.tellCarrier(ctx, []simserver.Rule{{Fault: simserver.RateLimited, Probability: 0.5}})
		// As whoever changes an intent does: under the lock of its key. Nothing it knows is lost.
		_ = n.sql(ctx, fmt.Sprintf(`
			WITH locked AS (
				SELECT i.intent_id
				FROM label_intents AS i
				JOIN idempotency_keys AS k USING (caller_id, idem_key)
				WHERE i.state = 'pending' AND i.open_calls = 0 AND i.calls BETWEEN 1 AND %d
					AND k.lease_token IS NULL
				LIMIT 2
				FOR UPDATE OF k, i SKIP LOCKED
			)
			UPDATE label_intents AS i SET calls = %d, deferrals = %d, refusals = %d
			FROM locked WHERE i.intent_id = locked.intent_id`,
			spentCalls-1, spentCalls+spentDeferrals, spentDeferrals, spentCalls))
		if now, err := n.countFailed(ctx); err == nil && now > before {
			return n.tellCarrier(ctx, n.share.rules())
		}
	}
	return fmt.Errorf("%w: no intent has failed", errors.Join(errNotYet, n.tellCarrier(ctx, n.share.rules())))
}

func (n *nemesis) countFailed(ctx context.Context) (failed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	err = n.db.QueryRow(ctx, `SELECT count(*) FROM label_intents WHERE state = 'failed'`).Scan(&failed)
	return failed, err
}

// roll replaces every program by the previous build, and then by this one again: one API and one worker
// at a time.
func (n *nemesis) roll(ctx context.Context, between time.Duration) error {
	previous, err := n.previous()
	switch {
	case errors.Is(err, errNoPrevious):
		// A copy without its history can be restarted all the same. The table says so.
		previous = binaries
		n.mu.Lock()
		n.noPrevious = err.Error()
		n.mu.Unlock()
	case err != nil:
		return err
	}
	n.rolling.Lock()
	defer n.rolling.Unlock()
	for _, build := range []string{previous, binaries} {
		for i := range n.apis {
			var pair sync.WaitGroup
			for _, p := range []*player{n.apis[i], n.workers[i]} {
				pair.Go(func() {
					p.use(build)
					if l := p.now(); l != nil {
						l.stop(stopTimeout)
					}
					n.awaitReady(ctx, p, 5*time.Second)
				})
			}
			pair.Wait()
		}
		pause(ctx, between)
	}
	return nil
}

// awaitReady waits a while for a program; under trouble it may not be ready for long.
func (n *nemesis) awaitReady(ctx context.Context, p *player, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for ctx.Err() == nil {
		if l := p.now(); l != nil && l.ready(ctx) {
			return true
		}
		pause(ctx, 5*poll)
	}
	return false
}

// trouble makes a toxic last, and counts it if any data met it.
func (n *nemesis) trouble(s stepOf) error {
	done := make(chan struct{})
	one := n.troubled[s.toxic.link+s.toxic.direction]
	one.Lock()
	defer one.Unlock()
	time.AfterFunc(s.lasts, func() { close(done) })
	if n.links[s.toxic.link].trouble(s.toxic, s.which, done) == 0 {
		return fmt.Errorf("%w: nothing met %s", errNotYet, s.toxic)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.toxics[s.toxic]++
	return nil
}

// summary is what was done, for the table.
func (n *nemesis) summary() []string {
	var lines []string
	for d := range cycle {
		elsewhere := ""
		if n.share.cycle[d] == 0 {
			elsewhere = " (another class's)"
		}
		lines = append(lines, fmt.Sprintf("%-52s %d%s", d, n.fired[d], elsewhere))
	}
	slices.Sort(lines)
	for _, leap := range leapsOf(n.class) {
		lines = append(lines, fmt.Sprintf("%-52s %d", "  of "+leap.String(), n.clocks[leap]))
	}
	if n.noPrevious != "" {
		lines = append(lines, "rolled to the same build: "+n.noPrevious)
	}
	for _, f := range n.failed {
		lines = append(lines, "not done: "+strings.TrimSpace(f))
	}
	return lines
}
