package outbox

import (
	"context"
	"regexp"
	"time"

	"go.uber.org/zap"

	"waybill/carrier"
	"waybill/internal/fault"
)

// prepared is what is to be bought: of a two-step carrier what it has made for the intent, now if not
// before; nothing of any other. It also returns what the attempt ends in if it goes no further.
// Nothing was charged then, and nothing is open: the claim has planned a preparation because nothing
// was, or looked has proved it.
func (a *attempt) prepared(ctx context.Context, ship carrier.Shipment, looked conclusion) (carrier.Preparation, *conclusion) {
	preparer, twoSteps := a.account.Carrier.(carrier.Preparer)
	if !twoSteps || a.order.remoteID != "" {
		return carrier.Preparation{RemoteID: a.order.remoteID}, nil
	}
	limit := min(a.timeLeft()-a.account.Timeout, a.account.Timeout)
	if limit <= 0 {
		unsent := a.unprepared(looked, leaseTooShort)
		return carrier.Preparation{}, &unsent
	}
	made, cutOff, err := a.askToPrepare(ctx, limit, preparer, a.purchase(ship))
	switch {
	case made.RemoteID != "" && err == nil:
		return made, nil
	case err != nil, cutOff && limit < a.account.Timeout:
		// The lease had no more to spare, which the carrier cannot be blamed for. The next is longer.
		unsent := a.unprepared(looked, leaseTooShort)
		return carrier.Preparation{}, &unsent
	}
	a.done(health(made.Refusal))
	before := a.before
	before.openCalls = 0
	concl := concludeCall(before, made.Refusal, preparer.Capabilities(), a.outbox.cfg.Policy)
	concl.closes, concl.counts = allCalls, true
	concl.evidence = append(looked.evidence, concl.evidence...)
	a.log("preparation", concl, zap.String("outcome", string(made.Refusal.Outcome)),
		zap.String("carrier_code", made.Refusal.Code))
	return carrier.Preparation{}, &concl
}

// health is what a refusal says of the carrier to its circuit breaker.
func health(refusal carrier.Result) carrier.Outcome {
	if refusal.AboutOrder {
		return carrier.Rejected
	}
	return refusal.Outcome
}

// unprepared ends an attempt that has not got as far as the call. What was looked up stays looked up.
func (a *attempt) unprepared(looked conclusion, why string) conclusion {
	concl := a.notBegun(why)
	concl.counts, concl.closes = true, 0
	if looked.reason == "" {
		return concl
	}
	looked.unbegun, looked.counts = true, true
	return looked
}

// Why a call was not begun, as it is logged.
const (
	leaseTooShort = "call not begun: the lease does not cover it any more"
	leaseGone     = "call not begun: the lease was gone before the call could be journalled"
	keyTooOld     = "call not begun: the carrier may have forgotten the key by now"
)

// notBegun ends an attempt that has sent no purchase.
func (a *attempt) notBegun(why string) conclusion {
	a.done("")
	a.logger.Warn(why, zap.Duration("left", a.timeLeft()),
		zap.Duration("took", a.outbox.cfg.Now().Sub(a.began)), zap.Int("times_before", a.before.unbegun))
	return concludeNotBegun()
}

// remoteID is what [carrier.Preparation] allows.
var remoteID = regexp.MustCompile(`^[!-~]{1,255}$`)

// askToPrepare is the call itself. It costs nothing, so whatever it does not answer well is not bought.
// It also tells whether the limit has cut it off.
func (a *attempt) askToPrepare(
	ctx context.Context, limit time.Duration, preparer carrier.Preparer, p carrier.Purchase,
) (made carrier.Preparation, cutOff bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := fault.Point(ctx, "prepare", "before_send"); err != nil {
		return carrier.Preparation{}, false, err
	}
	made = preparer.Prepare(ctx, p)
	if err := fault.Point(ctx, "prepare", "after_answer"); err != nil {
		return carrier.Preparation{}, false, err
	}
	if remoteID.MatchString(made.RemoteID) {
		return made, false, nil
	}
	made.RemoteID, made.Refusal = "", plain(made.Refusal)
	if made.Refusal.Outcome != carrier.Rejected {
		made.Refusal.Outcome = carrier.NotBought
	}
	return made, ctx.Err() != nil, nil
}
