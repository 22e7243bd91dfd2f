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

// The states of a label's document.
const (
	documentStored = "stored"
	documentDue    = "due"  // to be fetched
	documentNone   = "none" // the carrier gives none: a person must get it
)

// documentState is that of a label which has just been bought.
func documentState(l *carrier.Label) string {
	if len(l.Document.Content) > 0 {
		return documentStored
	}
	return documentDue
}

// FetchDocument is the job that fetches the document of a label which was sold without one. The
// label's row says whether it is still due, so a job that is lost, repeated or late does no harm.
type FetchDocument struct {
	LabelID uuid.UUID `json:"label_id" river:"unique"`
	Carrier string    `json:"carrier"`
}

// Kind names the job in River's table.
func (FetchDocument) Kind() string { return "fetch_document" }

// InsertOpts allows one live job for a label; inserting another changes nothing.
func (f FetchDocument) InsertOpts() river.InsertOpts { return oneLiveLabelJob(f.Carrier) }

// documentPatience is for how long a document is asked for. After that a person has printed it, or the
// parcel has left without.
const documentPatience = 7 * 24 * time.Hour

// Fetcher works the jobs that fetch documents. Any number may run at once.
type Fetcher struct {
	river.WorkerDefaults[FetchDocument]
	labelWorker
}

// NewFetcher makes a Fetcher for the carriers it knows, by name. Jobs of other carriers wait.
func (o *Outbox) NewFetcher(accounts map[string]Account) *Fetcher {
	return &Fetcher{labelWorker: labelWorker{outbox: o, accounts: accounts, logger: o.cfg.Logger.Named("fetcher")}}
}

// longestFetchWait caps the wait between two tries: a parcel cannot leave without its label.
const longestFetchWait = time.Minute

// NextRetry waits a little longer each time, up to a minute.
func (f *Fetcher) NextRetry(job *river.Job[FetchDocument]) time.Time {
	return f.retryAt(job.Attempt, longestFetchWait)
}

// Work fetches one document and stores it.
func (f *Fetcher) Work(ctx context.Context, job *river.Job[FetchDocument]) error {
	sold, err := f.outbox.undocumented(ctx, job.Args.LabelID)
	if err != nil || sold == nil {
		return err
	}
	if sold.overdue {
		// Before anything that is waited for: what the configuration no longer names may never come back.
		return f.giveUp(ctx, job.Args)
	}
	account, err := f.account(job.Args.LabelID, job.Args.Carrier, sold.account)
	if err != nil {
		return err
	}
	documents, ok := account.Carrier.(carrier.Documents)
	if !ok {
		return f.giveUp(ctx, job.Args)
	}
	done, err := account.enter()
	if err != nil {
		return err
	}
	defer done()
	doc, err := fetch(ctx, documents, account.Timeout, sold.request)
	switch {
	case errors.Is(err, carrier.ErrNoDocument):
		f.logger.Warn("the carrier has printed what is no document of the label", zap.Error(err))
		return f.giveUp(ctx, job.Args)
	case err != nil:
		return fmt.Errorf("fetching the document of label %s: %w", job.Args.LabelID, err)
	}
	return f.outbox.storeDocument(ctx, job.Args.LabelID, doc)
}

// giveUp leaves the document to a person.
func (f *Fetcher) giveUp(ctx context.Context, args FetchDocument) error {
	f.logger.Warn("the carrier gives no document for this label: a person must get it",
		zap.Stringer("label_id", args.LabelID), zap.String("carrier", args.Carrier))
	return f.outbox.storeDocument(ctx, args.LabelID, carrier.Document{})
}

func fetch(
	ctx context.Context, c carrier.Documents, limit time.Duration, r carrier.DocumentRequest,
) (carrier.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := fault.Point(ctx, "document", "before_send"); err != nil {
		return carrier.Document{}, err
	}
	doc, err := c.Document(ctx, r)
	if err == nil && len(doc.Content) == 0 {
		err = errors.New("the carrier's answer holds no document")
	}
	return doc, err
}

// soldLabel is a label without its document.
type soldLabel struct {
	account string
	request carrier.DocumentRequest

	// overdue: it has been asked for long enough.
	overdue bool
}

// undocumented returns nil if the label's document is not due, or the label is not there.
func (o *Outbox) undocumented(ctx context.Context, labelID uuid.UUID) (*soldLabel, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	var s soldLabel
	err := o.db.QueryRow(ctx, `
		SELECT account, carrier_label_id, tracking_no, carrier_key, label_format,
			bought_at < now() - make_interval(secs => $2)
		FROM labels
		WHERE label_id = $1 AND document_state = 'due'`, labelID, documentPatience.Seconds()).Scan(
		&s.account, &s.request.LabelID, &s.request.TrackingNo, &s.request.CarrierKey, &s.request.Format, &s.overdue)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, readError("label", err)
	}
	return &s, nil
}

// storeDocument stores a document that was due; an empty one says that there is none. The first to
// come stays, so repeating it changes nothing.
func (o *Outbox) storeDocument(ctx context.Context, labelID uuid.UUID, d carrier.Document) error {
	state := documentNone
	if len(d.Content) > 0 {
		state = documentStored
	}
	err := o.inTx(ctx, "document", func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE labels SET document_state = $2
			WHERE label_id = $1 AND document_state = 'due'`, labelID, state)
		if err != nil || tag.RowsAffected() == 0 || state == documentNone {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO label_documents (label_id, format, content) VALUES ($1, $2, $3)`,
			labelID, string(d.Format), d.Content)
		return err
	})
	if err != nil {
		return fmt.Errorf("storing the document of label %s: %w", labelID, err)
	}
	return nil
}
