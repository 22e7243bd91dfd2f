package outbox

import (
	"cmp"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"go.uber.org/zap"

	"waybill/carrier"
	"waybill/internal/fault"
)

// Account is a carrier as the buyer uses it.
type Account struct {
	Carrier carrier.Carrier

	// Timeout bounds one purchase call. It must leave room in the carrier's lease.
	Timeout time.Duration

	// Gate may hold calls back; nil lets everything through.
	Gate Gate

	// Share is how many of the shared queue's workers the carrier may have at once; 0 is all.
	Share int
}

// Gate is the politeness towards one account: its rate limit and its circuit breaker.
type Gate interface {
	// Enter asks for leave to call. Without it, wait says how long to stay away, and nothing was
	// counted. With it, done must be called with what came of it: "" if no call was made.
	Enter() (done func(carrier.Outcome), wait time.Duration)
}

// Buyer works purchase jobs: it takes a lease, does the one step that the claim planned, and stores
// what came of it. It is safe to run any number of them.
type Buyer struct {
	river.WorkerDefaults[BuyLabel]

	outbox   *Outbox
	accounts map[string]Account
	shares   map[string]*share
	logger   *zap.Logger
}

// NewBuyer makes a Buyer for the carriers it knows, by name. Jobs of other carriers wait.
func (o *Outbox) NewBuyer(accounts map[string]Account) (*Buyer, error) {
	for name, a := range accounts {
		if lease := o.leaseOf(name); a.Timeout+margin(lease) >= lease {
			return nil, fmt.Errorf("carrier %s: timeout %s and a margin of %s do not fit into the lease of %s: "+
				"shorten the timeout or lengthen the lease", name, a.Timeout, margin(lease), lease)
		}
	}
	return &Buyer{
		outbox: o, accounts: accounts, shares: newShares(accounts), logger: o.cfg.Logger.Named("buyer"),
	}, nil
}

// margin is kept free at the end of a lease for storing what the call said.
func margin(lease time.Duration) time.Duration { return lease / 15 }

const (
	// unknownCarrierWait is how long a job of a carrier that this worker does not know stays away:
	// another worker may know it, or the configuration may come.
	unknownCarrierWait = 30 * time.Second

	// maxBackoff caps the back-off, so that a carrier that is back is noticed soon.
	maxBackoff = 30 * time.Second
)

// NextRetry is the schedule after failures: exponential, full jitter, capped.
func (b *Buyer) NextRetry(job *river.Job[BuyLabel]) time.Time {
	schedule := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(500*time.Millisecond),
		backoff.WithRandomizationFactor(1),
		backoff.WithMaxInterval(maxBackoff),
		backoff.WithMaxElapsedTime(0),
	)
	delay := schedule.NextBackOff()
	for range min(len(job.Errors), 20) {
		delay = schedule.NextBackOff()
	}
	return b.outbox.cfg.Now().Add(min(delay, maxBackoff))
}

// Work is one attempt. A step once begun is finished, even if the process is asked to stop.
func (b *Buyer) Work(ctx context.Context, job *river.Job[BuyLabel]) error {
	name, err := b.carrierOf(ctx, job.Args)
	if err != nil {
		return err
	}
	account, known := b.accounts[name]
	if !known {
		b.logger.Warn("carrier is not configured here", zap.String("carrier", name))
		return river.JobSnooze(unknownCarrierWait)
	}
	leave, err := b.shareWorkers(ctx, job.ID, job.Queue, name)
	if err != nil {
		return err
	}
	defer leave()
	if err := fault.Point(ctx, "claim", "before_queue"); err != nil {
		return err
	}
	done := func(carrier.Outcome) {}
	if account.Gate != nil {
		var wait time.Duration
		if done, wait = account.Gate.Enter(); done == nil {
			return river.JobSnooze(wait)
		}
		// On every way out, a panic too: a place at the gate that is not given back is lost for ever.
		var once sync.Once
		tell := done
		done = func(o carrier.Outcome) { once.Do(func() { tell(o) }) }
		defer done("")
	}
	c, err := b.outbox.claim(ctx, job.Args.IntentID, account.Carrier)
	if err != nil {
		done("")
		return err
	}
	if c.status != granted {
		done("")
		return b.stayAway(c)
	}
	if err := fault.Point(ctx, "claim", "lease_granted"); err != nil {
		done("")
		return err
	}
	a := &attempt{
		Buyer:   b,
		account: account,
		claimed: c,
		logger:  b.logger.With(zap.Stringer("intent_id", c.lease.intentID), zap.Int64("job_id", job.ID)),
		done:    done,
	}
	return a.run(context.WithoutCancel(ctx))
}

// carrierOf is the carrier that a job is for. A job of another build may not say, or say it otherwise:
// the intent always does.
func (b *Buyer) carrierOf(ctx context.Context, args BuyLabel) (name string, err error) {
	if _, known := b.accounts[args.Carrier]; known {
		return args.Carrier, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err = b.outbox.db.QueryRow(ctx, `
		SELECT carrier FROM label_intents WHERE intent_id = $1`, args.IntentID).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", river.JobCancel(fmt.Errorf("there is no label intent %s", args.IntentID))
	}
	if err != nil {
		return "", fmt.Errorf("reading the carrier of label intent %s: %w", args.IntentID, err)
	}
	return name, nil
}

func (b *Buyer) stayAway(c claimed) error {
	switch c.status {
	case heldByOther, tooEarly:
		return river.JobSnooze(c.wait)
	case endedAlready, granted:
		return nil
	default:
		return fmt.Errorf("unknown claim status %q", c.status)
	}
}

// claim takes a lease on an intent. It waits for the answer even when the job's context ends: a lease
// that nobody knows of would put an intent in doubt for nothing.
func (o *Outbox) claim(ctx context.Context, id uuid.UUID, account carrier.Carrier) (claimed, error) {
	ctx = context.WithoutCancel(ctx)
	token, err := uuid.NewRandom()
	if err != nil {
		return claimed{}, fmt.Errorf("making a lease token: %w", err)
	}
	// While the database is away, the lease may be ours without our knowing: the same claim is
	// repeated until it would have ended anyway.
	item := claimItem{
		intentID: id, token: token,
		carrier: account.Name(), account: account.Account(), caps: account.Capabilities(),
	}
	_, item.twoSteps = account.(carrier.Preparer)
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(100*time.Millisecond),
		backoff.WithMaxInterval(time.Second),
		backoff.WithMaxElapsedTime(o.leaseOf(account.Name())),
	)
	c, err := backoff.RetryWithData(func() (claimed, error) {
		c, err := o.claiming.Do(ctx, item)
		if err != nil && !errors.Is(err, ErrUnavailable) {
			return c, backoff.Permanent(err)
		}
		return c, err
	}, pause)
	if err != nil {
		return claimed{}, fmt.Errorf("claiming label intent %s: %w", id, err)
	}
	if c.status == granted && c.tookOver {
		o.cfg.Metrics.takeovers.Inc()
	}
	return c, nil
}

// attempt is one lease and the one step done under it.
type attempt struct {
	*Buyer
	claimed

	account Account
	logger  *zap.Logger
	done    func(carrier.Outcome)
}

func (a *attempt) run(ctx context.Context) error {
	var ship carrier.Shipment
	if err := json.Unmarshal(a.order.request, &ship); err != nil {
		a.done("")
		err = fmt.Errorf("decoding the request of label intent %s: %w", a.lease.intentID, err)
		a.logger.Error("request cannot be read; another build may", zap.Error(err))
		if a.plan.step != callStep {
			return err
		}
		return errors.Join(err, a.deliver(ctx, concludeNotBegun()))
	}
	concl, err := a.step(ctx, ship)
	if err != nil {
		return err
	}
	if label := concl.label; label != nil {
		label.Service = cmp.Or(label.Service, ship.Service)
		label.Document.Format = cmp.Or(label.Document.Format, ship.Format)
	}
	return a.deliver(ctx, concl)
}

// step does what the claim planned. What goes on to the call goes on under the same lease, and the call
// is journalled first: no queue stands between a look-up's proof, or a preparation, and the send.
func (a *attempt) step(ctx context.Context, ship carrier.Shipment) (conclusion, error) {
	if a.plan.step == callStep {
		return a.call(ctx, ship), nil
	}
	var looked conclusion
	if a.plan.step == lookupStep {
		if looked = a.lookUp(ctx, ship); looked.reason != quietPeriodOver {
			a.done("")
			return looked, nil
		}
	}
	made, unsent := a.prepared(ctx, ship, looked)
	if unsent != nil {
		return *unsent, nil
	}
	held, err := a.outbox.journalCall(ctx, &a.claimed, a.account.Carrier, made.RemoteID)
	if err != nil {
		a.done("")
		return looked, err
	}
	if !held {
		return a.unprepared(looked, leaseGone), nil
	}
	var concl conclusion
	if made.Sold {
		a.done("")
		concl = concludeSoldBefore(a.account.Carrier.Capabilities())
		a.log("preparation", concl)
	} else {
		concl = a.call(ctx, ship)
	}
	concl.evidence = append(looked.evidence, concl.evidence...)
	return concl, nil
}

// purchase is the order as the carrier gets it.
func (a *attempt) purchase(ship carrier.Shipment) carrier.Purchase {
	return carrier.Purchase{
		CarrierKey: carrierKey(a.lease.slot, a.order.generation),
		Reference:  a.order.reference,
		RemoteID:   a.order.remoteID,
		Shipment:   ship,
	}
}

// call sends the purchase that is journalled.
func (a *attempt) call(ctx context.Context, ship carrier.Shipment) conclusion {
	switch {
	case a.timeLeft() < a.account.Timeout:
		return a.notBegun(leaseTooShort)
	case a.keyRanOut():
		return a.notBegun(keyTooOld)
	}
	ctx, cancel := context.WithTimeout(ctx, a.account.Timeout)
	defer cancel()
	sent := a.outbox.cfg.Now()
	res := a.buy(ctx, a.purchase(ship))
	took := a.outbox.cfg.Now().Sub(sent)
	a.done(health(res))
	a.outbox.cfg.Metrics.carrierCalls.
		WithLabelValues(a.order.carrier, string(res.Outcome)).Observe(took.Seconds())
	concl := concludeCall(a.before, res, a.account.Carrier.Capabilities(), a.outbox.cfg.Policy)
	a.log("purchase call", concl, zap.String("outcome", string(res.Outcome)),
		zap.String("carrier_code", res.Code), zap.Duration("took", took))
	return concl
}

// keyRanOut tells whether a call that was planned because the carrier knows its key comes too late for
// that. A claim may take long, and a lease be much longer than the margin of the key's window.
func (a *attempt) keyRanOut() bool {
	if a.before.openCalls == 0 {
		return false
	}
	age := a.before.now.Sub(a.before.firstCalledAt) + a.outbox.cfg.Now().Sub(a.began)
	return a.account.Carrier.Capabilities().Class(age) != carrier.Keyed
}

// timeLeft is how much of the lease is left for calls, its margin kept free.
func (a *attempt) timeLeft() time.Duration {
	return a.deadline.Sub(a.outbox.cfg.Now()) - margin(a.outbox.leaseOf(a.order.carrier))
}

// buy is the call itself. A fault around it is an answer that never came.
func (a *attempt) buy(ctx context.Context, p carrier.Purchase) carrier.Result {
	if err := fault.Point(ctx, "call", "before_send"); err != nil {
		return carrier.Result{Outcome: carrier.Unknown, Message: err.Error()}
	}
	res := a.account.Carrier.Buy(ctx, p)
	if err := fault.Point(ctx, "call", "after_answer"); err != nil {
		return carrier.Result{Outcome: carrier.Unknown, Message: err.Error()}
	}
	return plain(res)
}

// plain makes an adapter's words fit to be stored, logged and counted, should it have forgotten to.
func plain(res carrier.Result) carrier.Result {
	switch res.Outcome {
	case carrier.Bought, carrier.Rejected, carrier.NotBought, carrier.Unknown:
	default:
		res.Outcome = carrier.Unknown // an adapter that answers something else has told us nothing
	}
	res.Code, res.Message = carrier.Sanitise(res.Code), carrier.Sanitise(res.Message)
	return res
}

// lookUp asks the carrier what it holds under our reference.
func (a *attempt) lookUp(ctx context.Context, ship carrier.Shipment) conclusion {
	ctx, cancel := context.WithTimeout(ctx, a.account.Timeout)
	defer cancel()
	sent := a.outbox.cfg.Now()
	found, err := a.find(ctx)
	took := a.outbox.cfg.Now().Sub(sent)
	lookup := a.account.Carrier.Capabilities().Lookup
	concl := concludeLookup(a.before, ship, a.order.reference, found, err, *lookup, a.outbox.cfg.Policy)
	a.log("look-up", concl, zap.Int("found", len(found)), zap.Duration("took", took), zap.Error(err))
	return concl
}

// find is the look-up itself.
func (a *attempt) find(ctx context.Context) ([]carrier.Label, error) {
	if err := fault.Point(ctx, "look_up", "before_send"); err != nil {
		return nil, err
	}
	found, err := a.account.Carrier.Find(ctx, carrier.Query{Reference: a.order.reference, RemoteID: a.order.remoteID})
	if err == nil {
		err = fault.Point(ctx, "look_up", "after_answer")
	}
	return found, err
}

func (a *attempt) log(step string, c conclusion, fields ...zap.Field) {
	write := a.logger.Info
	if c.state == InDoubt {
		write = a.logger.Warn
	}
	write(step, append(fields,
		zap.String("carrier", a.order.carrier),
		zap.String("state", string(c.state)),
		zap.String("plan", string(a.plan.reason)),
		zap.String("reason", string(c.reason)),
		zap.Bool("takeover", a.tookOver))...)
}
