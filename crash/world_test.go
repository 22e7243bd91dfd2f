//go:build faultinject

package crash

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"waybill/outbox"
)

// Times of the service. Nobody waits for them: the world's clock is turned instead.
const (
	lease   = 12 * time.Second
	timeout = 8 * time.Second

	// nap outlasts a lease, and stays within what the promise for look-up carriers allows between
	// the last look at the lease and the send: what is left of it and a quiet period.
	nap = lease + quiet/2

	// idleLimit is how long the server lets a transaction be idle: all that sleep, lose theirs.
	idleLimit = 5 * time.Second

	// moment is how long a process that is merely slow is held up.
	moment = 15 * time.Millisecond

	// hung is how long an event may take on a busy machine before the cell has failed.
	hung = 60 * time.Second
)

// world is a database, a carrier and the processes between them, under one clock that the world
// turns. One story is played in it, by one goroutine.
type world struct {
	t      require.TestingT
	url    string
	db     *pgxpool.Pool // for the eyes of the test alone
	caller string
	class  string
	now    func() time.Time
	turned *atomic.Int64 // how far the clock was turned, in nanoseconds
	log    *logged
	logger *zap.Logger

	patience  time.Duration
	witness   *witness
	started   int
	processes []*process

	// current is the process that everything is asked of; first and next are broken as told.
	current     *process
	first, next []breakage
	sleepers    []*sleeper
	mode        mode

	// rival is what another process does at the moment in which one is held up.
	rival func(*process)

	// troubled is when the last fault happened, by the turned clock.
	troubled time.Duration
}

// mode says what the world does while a process sleeps.
type mode string

const (
	// napping: others do what they can in the time of a nap, then the sleeper wakes.
	napping mode = "nap"

	// oversleeping: the sleeper wakes when all is over.
	oversleeping mode = "oversleep"

	// dawdling: others act on the same intent at the same time.
	dawdling mode = "dawdle"

	// crossing: whoever takes over is held up too, and meanwhile the first wakes.
	crossing mode = "cross"
)

// sleeper is an event that a process sleeps in.
type sleeper struct {
	process *process
	result  chan error
	ended   bool
}

// logged keeps what the processes log, to be shown of a story that failed.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newLogger(l *logged) *zap.Logger {
	cfg := zapcore.EncoderConfig{MessageKey: "msg", NameKey: "logger", EncodeName: zapcore.FullNameEncoder}
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(cfg), zapcore.AddSync(l), zap.InfoLevel))
}

// errNoAnswer is what the one who asks a process sees of its death or its sleep.
var errNoAnswer = errors.New("no answer")

// ask carries out one event in the current process, as far as the process lives.
func (w *world) ask(event func(*process) error) error {
	w.require().LessOrEqual(w.started, 30, "processes die all the time")
	if w.current == nil {
		w.current = w.start(w.first...)
		w.first, w.next = w.next, nil
	}
	p := w.current
	result := make(chan error, 1)
	go func() { result <- event(p) }()
	asleep := p.asleep
	for _, s := range w.sleepers {
		if s.process == p {
			asleep = nil // It has slept already.
		}
	}
	select {
	case err := <-result:
		return err
	case <-p.died:
		w.current = nil
		w.note(p, "died")
		return errNoAnswer
	case <-asleep:
		return w.slept(&sleeper{process: p, result: result})
	case <-time.After(hung):
		w.require().Fail("an event hangs")
		return nil
	}
}

func (w *world) slept(s *sleeper) error {
	w.note(s.process, "sleeps")
	w.sleepers = append(w.sleepers, s)
	switch {
	case w.mode == dawdling:
		return w.overtake(s)
	case w.mode == crossing && len(w.sleepers) == 2:
		return w.cross(w.sleepers[0], s)
	}
	w.current = nil
	w.exec(`
		SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
		WHERE application_name = $1 AND state LIKE 'idle in transaction%'`, s.process.name)
	w.turn(nap)
	return errNoAnswer
}

// note logs what becomes of a process; peace begins anew.
func (w *world) note(p *process, what string) {
	w.logger.Info(p.name + " " + what + "; its last points: " + last(p.points()))
	w.troubled = time.Duration(w.turned.Load())
}

func last(points []string) string {
	var text string
	for _, p := range points[max(0, len(points)-3):] {
		text += p + " "
	}
	return text
}

// overtake lets another process do the same while the first is held up for a moment.
func (w *world) overtake(s *sleeper) error {
	other := w.start()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.rival(other)
	}()
	select {
	case <-done:
	case <-time.After(moment): // The other may wait for a lock that the sleeper holds.
	}
	err := w.wake(s)
	select {
	case <-done:
	case <-time.After(hung):
		w.require().Fail("the other process hangs")
	}
	return err
}

// cross wakes the first sleeper while the second, which took over from it, is held up. The first may
// have to wait for the second's lease.
func (w *world) cross(first, second *sleeper) error {
	close(first.process.awake)
	select {
	case err := <-first.result:
		first.result <- err
	case <-time.After(20 * moment):
	}
	return w.wake(second)
}

// wake wakes a sleeper and waits for the end of its event; time goes by meanwhile.
func (w *world) wake(s *sleeper) error {
	select {
	case <-s.process.awake:
	default:
		close(s.process.awake)
	}
	deadline := time.After(hung)
	for {
		select {
		case err := <-s.result:
			s.ended = true
			return err
		case <-time.After(10 * moment):
			if w.mode != dawdling {
				w.turn(time.Second)
			}
		case <-deadline:
			w.require().Fail("a sleeper does not come to an end")
		}
	}
}

// wakeAll wakes whoever still sleeps, and tells whether anybody did.
func (w *world) wakeAll() bool {
	woken := false
	for _, s := range w.sleepers {
		if !s.ended {
			_ = w.wake(s) // What it came to, it has told its own client.
			woken = true
		}
	}
	return woken
}

// turn turns the clock: everything that the database remembers moves into the past, and the
// processes' clocks run ahead.
func (w *world) turn(d time.Duration) {
	w.turned.Add(int64(d))
	batch := &pgx.Batch{}
	batch.Queue(`
		UPDATE idempotency_keys SET
			created_at = created_at - $2::interval, locked_until = locked_until - $2::interval,
			expires_at = expires_at - $2::interval
		WHERE caller_id = $1`, w.caller, d.String())
	batch.Queue(`
		UPDATE label_intents SET
			created_at = created_at - $2::interval, first_called_at = first_called_at - $2::interval,
			last_call_until = last_call_until - $2::interval, last_lookup_at = last_lookup_at - $2::interval,
			not_before = not_before - $2::interval
		WHERE caller_id = $1`, w.caller, d.String())
	batch.Queue(`
		UPDATE river_job SET
			created_at = created_at - $1::interval, attempted_at = attempted_at - $1::interval,
			scheduled_at = scheduled_at - $1::interval`, d.String())
	batch.Queue(`
		UPDATE recoveries SET
			lost_since = lost_since - $1::interval, began_at = began_at - $1::interval,
			ended_at = ended_at - $1::interval`, d.String())
	w.require().NoError(w.db.SendBatch(ctx, batch).Close())
}

func (w *world) exec(sql string, args ...any) {
	_, err := w.db.Exec(ctx, sql, args...)
	w.require().NoError(err)
}

func (w *world) require() *require.Assertions { return require.New(w.t) }

// job is a row of River's table that is being worked.
type job struct {
	ID      int64
	Kind    string
	Attempt int
	Args    []byte
}

// fetch takes a job that is due, as River does.
func (w *world) fetch() (job, bool) {
	rows, err := w.db.Query(ctx, `
		UPDATE river_job
		SET state = 'running', attempt = attempt + 1, attempted_at = clock_timestamp(), attempted_by = '{crash}'
		WHERE id = (
			SELECT id FROM river_job
			WHERE state IN ('available', 'scheduled', 'retryable') AND scheduled_at <= clock_timestamp()
			ORDER BY id LIMIT 1
		)
		RETURNING id, kind, attempt, args`)
	w.require().NoError(err)
	j, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[job])
	if errors.Is(err, pgx.ErrNoRows) {
		return j, false
	}
	w.require().NoError(err)
	return j, true
}

// work has a process work a job, and does with it what River does after that.
func (w *world) work(p *process, j job) error {
	err := j.run(p)
	if p.grave() {
		return errGrave
	}
	state, delay, final := "completed", time.Duration(0), true
	if snooze, ok := errors.AsType[*rivertype.JobSnoozeError](err); ok {
		state, delay, final = "scheduled", snooze.Duration, false
	} else if err != nil {
		state, delay, final = "retryable", time.Second, false
	}
	_, err = w.db.Exec(ctx, `
		UPDATE river_job
		SET state = $3::river_job_state, scheduled_at = clock_timestamp() + $4::interval,
			finalized_at = CASE WHEN $5 THEN clock_timestamp() END
		WHERE id = $1 AND attempt = $2 AND state = 'running'`,
		j.ID, j.Attempt, state, delay.String(), final)
	return err
}

func (j job) run(p *process) error {
	row := &rivertype.JobRow{ID: j.ID, Attempt: j.Attempt}
	switch j.Kind {
	case outbox.FetchDocument{}.Kind():
		return workWith(p.ctx, p.fetcher, row, j.Args)
	case outbox.VoidLabel{}.Kind():
		return workWith(p.ctx, p.voider, row, j.Args)
	default:
		return workWith(p.ctx, p.buyer, row, j.Args)
	}
}

func workWith[T river.JobArgs](ctx context.Context, worker river.Worker[T], row *rivertype.JobRow, encoded []byte) error {
	var args T
	if err := json.Unmarshal(encoded, &args); err != nil {
		return err
	}
	return worker.Work(ctx, &river.Job[T]{JobRow: row, Args: args})
}

// round is what workers do all the time: see to lost jobs, and work one. It tells whether there was
// something to do.
func (w *world) round() bool {
	err := w.ask(func(p *process) error {
		_, err := p.box.Ring(p.ctx)
		return err
	})
	if err != nil {
		return true
	}
	j, due := w.fetch()
	if !due {
		return false
	}
	_ = w.ask(func(p *process) error { return w.work(p, j) }) // What it came to is in the tables.
	return true
}
