package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"go.uber.org/zap"

	"waybill/carrier"
	"waybill/internal/fault"
)

// The states of a label's void.
const (
	VoidNone      = "none"
	VoidRequested = "requested" // the carrier is being asked
	VoidVoided    = "voided"
	VoidRefused   = "refused"
	VoidInDoubt   = "in_doubt" // the carrier has not said for days what became of it
)

// What is written down of a call to void a label.
const (
	voidAnswered Reason = "void_answered"
	voidUnknown  Reason = "void_outcome_unknown"
	voidGivenUp  Reason = "void_given_up"
)

// VoidLabel is the job that asks the carrier to void a label. The label's row says whether that is still
// wanted, so a job that is lost, repeated or late does no harm: to the carrier, "already void" is
// success, so the call may be made again after any outcome, and needs neither key nor lease.
type VoidLabel struct {
	LabelID uuid.UUID `json:"label_id" river:"unique"`
	Carrier string    `json:"carrier"`
}

// Kind names the job in River's table.
func (VoidLabel) Kind() string { return "void_label" }

// InsertOpts allows one live job for a label; inserting another changes nothing.
func (v VoidLabel) InsertOpts() river.InsertOpts { return oneLiveLabelJob(v.Carrier) }

// voidPatience is for how long a carrier is asked that does not say what became of the void. Whoever
// asks for the void again after that, has it asked again.
const voidPatience = 3 * 24 * time.Hour

// longestVoidWait caps the wait between two tries.
const longestVoidWait = time.Hour

// Voider works the jobs that void labels. Any number may run at once.
type Voider struct {
	river.WorkerDefaults[VoidLabel]
	labelWorker
}

// NewVoider makes a Voider for the carriers it knows, by name. Jobs of other carriers wait.
func (o *Outbox) NewVoider(accounts map[string]Account) *Voider {
	return &Voider{labelWorker: labelWorker{outbox: o, accounts: accounts, logger: o.cfg.Logger.Named("voider")}}
}

// NextRetry waits twice as long each time, up to an hour.
func (v *Voider) NextRetry(job *river.Job[VoidLabel]) time.Time {
	return v.retryAt(job.Attempt, longestVoidWait)
}

// Work asks the carrier once, and writes down what it says.
func (v *Voider) Work(ctx context.Context, job *river.Job[VoidLabel]) error {
	wanted, err := v.outbox.voidWanted(ctx, job.Args.LabelID)
	if err != nil || wanted == nil {
		return err
	}
	if wanted.overdue {
		// Before anything that is waited for: what the configuration no longer names may never come back.
		return v.giveUp(ctx, *wanted, job.Args)
	}
	account, err := v.account(job.Args.LabelID, job.Args.Carrier, wanted.account)
	if err != nil {
		return err
	}
	done, err := account.enter()
	if err != nil {
		return err
	}
	defer done()
	result, err := callVoid(ctx, account, wanted.carrierLabelID)
	if err != nil {
		return err
	}
	return v.conclude(ctx, *wanted, result)
}

// giveUp leaves the void to a person, or to whoever asks for it again.
func (v *Voider) giveUp(ctx context.Context, wanted wantedVoid, args VoidLabel) error {
	v.logger.Warn("the carrier does not say whether this label is void: a person must find out",
		zap.Stringer("label_id", args.LabelID), zap.String("carrier", args.Carrier))
	return v.outbox.endVoid(ctx, wanted, VoidInDoubt, voidGivenUp, carrier.VoidResult{State: carrier.VoidUnknown})
}

// callVoid is the call itself. Whatever is no clear answer may be asked again.
func callVoid(ctx context.Context, account Account, carrierLabelID string) (carrier.VoidResult, error) {
	ctx, cancel := context.WithTimeout(ctx, account.Timeout)
	defer cancel()
	if err := fault.Point(ctx, "void", "before_send"); err != nil {
		return carrier.VoidResult{}, err
	}
	result := account.Carrier.Void(ctx, carrierLabelID)
	return result, fault.Point(ctx, "void", "after_answer")
}

// conclude writes down what the carrier said; without a clear word the job comes again.
func (v *Voider) conclude(ctx context.Context, wanted wantedVoid, result carrier.VoidResult) error {
	switch result.State {
	case carrier.Voided:
		return v.outbox.endVoid(ctx, wanted, VoidVoided, voidAnswered, result)
	case carrier.VoidRefused:
		return v.outbox.endVoid(ctx, wanted, VoidRefused, voidAnswered, result)
	default:
		err := v.outbox.endVoid(ctx, wanted, VoidRequested, voidUnknown, result)
		return errors.Join(err, fmt.Errorf("voiding label %s: the carrier does not say what became of it (%q)",
			wanted.labelID, carrier.Sanitise(result.Code)))
	}
}

// wantedVoid is a label that is to be voided.
type wantedVoid struct {
	labelID, intentID       uuid.UUID
	account, carrierLabelID string

	// overdue: the carrier has been asked for long enough.
	overdue bool
}

// voidWanted returns nil if no void of the label is asked for, or the label is not there.
func (o *Outbox) voidWanted(ctx context.Context, labelID uuid.UUID) (*wantedVoid, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	w := wantedVoid{labelID: labelID}
	err := o.db.QueryRow(ctx, `
		SELECT intent_id, account, carrier_label_id, void_requested_at < now() - make_interval(secs => $2)
		FROM labels
		WHERE label_id = $1 AND void_state = 'requested'`, labelID, voidPatience.Seconds()).Scan(
		&w.intentID, &w.account, &w.carrierLabelID, &w.overdue)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, readError("label", err)
	}
	return &w, nil
}

// endVoid writes down what a call came to, in one transaction: the label's new state, if it has one, and
// the evidence. A word that comes when another call has decided changes nothing, but that the label is
// void stands against any other word.
func (o *Outbox) endVoid(
	ctx context.Context, w wantedVoid, state string, reason Reason, result carrier.VoidResult,
) error {
	code, message := carrier.Sanitise(result.Code), carrier.Sanitise(result.Message)
	err := o.inTx(ctx, "void", func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE labels
			SET void_state = $2, void_code = $3, void_message = $4, revision = revision + 1,
				voided_at = CASE WHEN $2 = 'voided' THEN clock_timestamp() END
			WHERE label_id = $1 AND void_state <> $2
				AND (void_state = 'requested' OR ($2 = 'voided' AND void_state <> 'none'))`,
			w.labelID, state, code, message)
		if err != nil {
			return fmt.Errorf("writing the label: %w", err)
		}
		if tag.RowsAffected() == 0 && state != VoidRequested {
			return nil // decided before, perhaps by this very transaction, whose answer was lost
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO carrier_calls (intent_id, kind, outcome, reason, carrier_code, carrier_message)
			VALUES ($1, 'void', $2, $3, $4, $5)`, w.intentID, string(result.State), string(reason), code, message)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing down the void of label %s: %w", w.labelID, err)
	}
	return nil
}
