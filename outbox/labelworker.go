package outbox

import (
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"go.uber.org/zap"

	"waybill/carrier"
)

// labelWorker is what the workers have in common that do something for labels that were bought. The
// label's row says whether it is still due, so that their jobs may be lost, repeated or late.
type labelWorker struct {
	outbox   *Outbox
	accounts map[string]Account
	logger   *zap.Logger
}

// oneLiveLabelJob allows one live job of a kind for a label; inserting another changes nothing.
func oneLiveLabelJob(carrierName string) river.InsertOpts {
	opts := oneLiveJob(Queue(carrierName))
	opts.Priority = 2 // after the purchases
	return opts
}

// retryAt waits twice as long each time, up to the longest.
func (w *labelWorker) retryAt(attempt int, longest time.Duration) time.Time {
	wait := min(time.Second<<min(attempt, 12), longest)
	jitter := time.Duration(rand.Int64N(int64(wait))) //nolint:gosec // G404: not a secret.
	return w.outbox.cfg.Now().Add(wait/2 + jitter/2)
}

// account is the one that sold the label. The error has the job come again, while it is not configured.
func (w *labelWorker) account(labelID uuid.UUID, carrierName, soldBy string) (Account, error) {
	account, known := w.accounts[carrierName]
	if !known {
		return Account{}, river.JobSnooze(unknownCarrierWait)
	}
	if soldBy != account.Carrier.Account() {
		w.logger.Warn("label was sold to another account than the configured one; what is due for it waits",
			zap.Stringer("label_id", labelID), zap.String("carrier", carrierName))
		return Account{}, river.JobSnooze(otherAccountWait)
	}
	return account, nil
}

// enter passes the account's gate, if it has one; what it returns must be called when the call is over. The
// error has the job come again.
func (a Account) enter() (done func(), err error) {
	if a.Gate == nil {
		return func() {}, nil
	}
	leave, wait := a.Gate.Enter()
	if leave == nil {
		return nil, river.JobSnooze(wait)
	}
	// What is done for a label that was bought says nothing of the purchases' health.
	return func() { leave(carrier.Outcome("")) }, nil
}

// otherAccountWait is how long a job waits for the configuration to name the account again.
const otherAccountWait = time.Minute
