package outbox

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"waybill/carrier"
)

// write collects the rows that a batch of conclusions changes, once their keys are held.
type write struct {
	intents   intentRows
	labels    labelRows
	documents documentRows
	fetches   []FetchDocument
	evidence  evidenceRows

	// ended are the intents that no job will change any more: waiting requests want to hear of them.
	ended []uuid.UUID
}

func (w *write) add(it completeItem) {
	w.intents.add(it)
	if label := it.label(); label != nil {
		w.labels.add(it, label)
		if doc := it.conclusion.label.Document; len(doc.Content) > 0 {
			w.documents.add(label.ID, doc)
		} else {
			w.fetches = append(w.fetches, FetchDocument{LabelID: label.ID, Carrier: label.Carrier})
		}
	}
	for _, ev := range it.conclusion.evidence {
		w.evidence.add(it.lease, ev)
	}
	if status, _ := it.answer(); status != 0 || it.conclusion.settledBy == SettledByPerson {
		w.ended = append(w.ended, it.lease.intentID)
	}
}

// addLost keeps what an attempt saw that may no longer conclude.
func (w *write) addLost(it completeItem, why completion) {
	outcome := string(it.conclusion.state)
	if it.conclusion.state == Purchased {
		outcome = string(carrier.Bought)
	}
	w.evidence.add(it.lease, evidence{
		kind: "buy", outcome: outcome, reason: Reason(why), label: it.conclusion.label,
	})
}

func (w *write) run(ctx context.Context, tx pgx.Tx, jobs *river.Client[pgx.Tx]) error {
	batch := &pgx.Batch{}
	w.labels.queue(batch)
	w.documents.queue(batch)
	w.intents.queue(batch)
	w.evidence.queue(batch)
	notifyEnded(batch, w.ended)
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	return insertJobs(ctx, tx, jobs, w.fetches)
}

// intentRows are the changes of label_intents.
type intentRows struct {
	ids, labelIDs             []*uuid.UUID
	states                    []string
	settlers, codes, messages []*string
	called, refused, deferred []bool
	unbegun, counts           []bool
	lookups, lookupsFailed    []bool
	renewed                   []bool
	closes                    []int32
	began                     []time.Time
	delays                    []float64
}

func (r *intentRows) add(it completeItem) {
	c := it.conclusion
	code, message := it.carrierWords()
	r.ids = append(r.ids, &it.lease.intentID)
	r.states = append(r.states, string(c.state))
	r.settlers = append(r.settlers, nonZero(string(c.settledBy)))
	r.codes = append(r.codes, nonZero(code))
	r.messages = append(r.messages, nonZero(message))
	r.called = append(r.called, slices.ContainsFunc(c.evidence, func(ev evidence) bool { return ev.kind == "buy" }))
	r.closes = append(r.closes, int32(c.closes)) //nolint:gosec // G115: at most the calls that are open, an integer column.
	r.refused = append(r.refused, c.refused)
	r.deferred = append(r.deferred, c.deferred)
	r.renewed = append(r.renewed, c.renew)
	r.unbegun = append(r.unbegun, c.unbegun)
	r.counts = append(r.counts, c.counts)
	r.lookups = append(r.lookups, c.lookedUp)
	r.lookupsFailed = append(r.lookupsFailed, c.reason == lookupFailed)
	r.began = append(r.began, it.began)
	r.delays = append(r.delays, c.delay.Seconds())
	if c.state == Purchased {
		r.labelIDs = append(r.labelIDs, &it.labelID)
	} else {
		r.labelIDs = append(r.labelIDs, nil)
	}
}

func (r *intentRows) queue(batch *pgx.Batch) {
	if len(r.ids) == 0 {
		return
	}
	batch.Queue(`
		UPDATE label_intents AS i
		SET state = t.state,
			settled_by = t.settled_by,
			label_id = t.label_id,
			carrier_code = t.carrier_code,
			carrier_message = t.carrier_message,
			-- A late answer may close a call that a quiet period had closed already.
			open_calls = greatest(0, i.open_calls - t.closes),
			refusals = i.refusals + t.refused::integer,
			deferrals = i.deferrals + t.deferred::integer,
			-- A call was begun, so the lease was long enough: half of what made it longer falls away, and a
			-- machine that stays slow need not climb from nothing. Such calls were never sent, so they are
			-- taken off both counts, and what is spent (calls - deferrals - unbegun) stays as it was.
			unbegun = i.unbegun + t.unbegun::integer - (t.called AND NOT t.unbegun)::integer * ((i.unbegun + 1) / 2),
			calls = i.calls + t.counts::integer - (t.called AND NOT t.unbegun)::integer * ((i.unbegun + 1) / 2),
			first_called_at = CASE
				WHEN t.counts THEN coalesce(i.first_called_at, clock_timestamp())
				ELSE i.first_called_at
			END,
			empty_lookups = i.empty_lookups + t.looked_up::integer,
			failed_lookups = CASE WHEN t.lookup_failed THEN i.failed_lookups + 1 ELSE 0 END,
			last_lookup_at = CASE WHEN t.looked_up THEN t.began ELSE i.last_lookup_at END,
			-- The call has ended: the quiet period counts from now, unless an earlier one is open, whose
			-- process may still sleep before its send.
			last_call_until = CASE
				WHEN t.called AND i.open_calls <= 1 THEN clock_timestamp()
				WHEN t.called THEN greatest(i.last_call_until, clock_timestamp())
				ELSE i.last_call_until
			END,
			not_before = CASE
				WHEN t.deferred AND t.delay > 0 THEN clock_timestamp() + make_interval(secs => t.delay)
			END,
			-- While a call for it is open, it is what look-ups ask about.
			remote_id = CASE WHEN t.renewed AND i.open_calls <= t.closes THEN NULL ELSE i.remote_id END,
			finished_at = CASE WHEN t.state IN ('purchased', 'rejected', 'failed') THEN clock_timestamp() END
		FROM unnest(
			$1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[],
			$7::boolean[], $8::integer[], $9::boolean[], $10::boolean[], $11::boolean[],
			$12::timestamptz[], $13::boolean[], $14::float8[], $15::boolean[],
			$16::boolean[], $17::boolean[]
		) AS t (
			intent_id, state, settled_by, label_id, carrier_code, carrier_message,
			called, closes, refused, deferred, looked_up, began, lookup_failed, delay, unbegun,
			renewed, counts
		)
		WHERE i.intent_id = t.intent_id AND `+unfinished,
		r.ids, r.states, r.settlers, r.labelIDs, r.codes, r.messages,
		r.called, r.closes, r.refused, r.deferred, r.lookups, r.began, r.lookupsFailed, r.delays, r.unbegun, r.renewed, r.counts,
	).Exec(exactly("concluding label intents", len(r.ids)))
}

// labelRows are new rows of labels.
type labelRows struct {
	ids, intentIDs                                     []uuid.UUID
	orders, costs                                      []int64
	parcels, versions                                  []int32
	callers, carriers, accounts, services, trackingNos []string
	currencies, formats, createdBy, carrierKeys        []string
	references, carrierLabelIDs, learnedBy             []string
	documentStates                                     []string
	boughtAt                                           []time.Time
}

func (r *labelRows) add(it completeItem, l *Label) {
	r.ids = append(r.ids, l.ID)
	r.intentIDs = append(r.intentIDs, l.IntentID)
	r.callers = append(r.callers, it.lease.slot.caller)
	r.orders = append(r.orders, l.Parcel.OrderID)
	r.parcels = append(r.parcels, l.Parcel.ParcelNo)
	r.versions = append(r.versions, l.Parcel.LabelVersion)
	r.carriers = append(r.carriers, l.Carrier)
	r.accounts = append(r.accounts, l.Account)
	r.services = append(r.services, l.Service)
	r.trackingNos = append(r.trackingNos, l.TrackingNo)
	r.costs = append(r.costs, l.CostCents)
	r.currencies = append(r.currencies, l.Currency)
	r.formats = append(r.formats, l.Format)
	r.createdBy = append(r.createdBy, it.lease.slot.key)
	r.carrierKeys = append(r.carrierKeys, carrierKey(it.lease.slot, it.order.generation))
	r.references = append(r.references, it.order.reference)
	r.carrierLabelIDs = append(r.carrierLabelIDs, it.conclusion.label.ID)
	r.learnedBy = append(r.learnedBy, it.conclusion.learnedBy)
	r.documentStates = append(r.documentStates, documentState(it.conclusion.label))
	r.boughtAt = append(r.boughtAt, l.BoughtAt)
}

func (r *labelRows) queue(batch *pgx.Batch) {
	if len(r.ids) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO labels (
			label_id, intent_id, caller_id, order_id, parcel_no, label_version,
			carrier, account, service, tracking_no, cost_cents, currency, label_format,
			created_by_key, carrier_key, reference, carrier_label_id, learned_by, bought_at,
			document_state
		)
		SELECT * FROM unnest(
			$1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::integer[], $6::integer[],
			$7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::text[], $13::text[],
			$14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::timestamptz[],
			$20::text[]
		)`,
		r.ids, r.intentIDs, r.callers, r.orders, r.parcels, r.versions,
		r.carriers, r.accounts, r.services, r.trackingNos, r.costs, r.currencies, r.formats,
		r.createdBy, r.carrierKeys, r.references, r.carrierLabelIDs, r.learnedBy, r.boughtAt, r.documentStates,
	).Exec(exactly("storing labels", len(r.ids)))
}

// documentRows are new rows of label_documents.
type documentRows struct {
	ids      []uuid.UUID
	formats  []string
	contents [][]byte
}

func (r *documentRows) add(labelID uuid.UUID, d carrier.Document) {
	r.ids = append(r.ids, labelID)
	r.formats = append(r.formats, string(d.Format))
	r.contents = append(r.contents, d.Content)
}

func (r *documentRows) queue(batch *pgx.Batch) {
	if len(r.ids) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO label_documents (label_id, format, content)
		SELECT * FROM unnest($1::uuid[], $2::text[], $3::bytea[])`,
		r.ids, r.formats, r.contents,
	).Exec(exactly("storing documents", len(r.ids)))
}

// channel is what waiting processes listen on. A notification is sent by the commit, or not at all.
const channel = "waybill_ended"

// idsPerNotification keeps a payload, 23 bytes an id, under Postgres' limit of 8,000 bytes.
const idsPerNotification = 300

// notifyEnded wakes those who wait for these intents: one notification for a batch, because
// NOTIFY takes a lock that all committers share.
func notifyEnded(batch *pgx.Batch, ids []uuid.UUID) {
	for part := range slices.Chunk(ids, idsPerNotification) {
		names := make([]string, len(part))
		for i, id := range part {
			names[i] = base64.RawURLEncoding.EncodeToString(id[:])
		}
		batch.Queue(`SELECT pg_notify($1, $2)`, channel, strings.Join(names, ","))
	}
}

// endedIDs reads a notification's payload; what is not an id is left out.
func endedIDs(payload string) []uuid.UUID {
	var ids []uuid.UUID
	for name := range strings.SplitSeq(payload, ",") {
		b, err := base64.RawURLEncoding.DecodeString(name)
		if err != nil {
			continue
		}
		if id, err := uuid.FromBytes(b); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
