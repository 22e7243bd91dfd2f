package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"waybill/carrier"
	"waybill/internal/service"
	"waybill/outbox"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// runner is who has decided where a run did: an intent that an invoice settled, a finding that comes back.
const runner = "reconcile"

// provedQuery reads the intents in doubt that an invoice proves bought: one line for carriage, and only
// one, bears the reference that no other intent has, for the account that was called, with a number that
// is nobody else's, in the time in which a charge can come, on an invoice that foots. Whatever else it
// might be, a second charge, a credit, another's number, a piece of a shipment, is left to a person.
const provedQuery = `
	WITH doubts AS (
		SELECT i.intent_id, i.reference, i.called_account, i.first_called_at, i.request
		FROM label_intents i
		WHERE i.carrier = $1
			AND i.state = 'in_doubt'
			AND i.settled_by = 'person'
			AND i.first_called_at < $2
	), named AS (
		SELECT
			d.intent_id,
			min(s.account) AS account,
			min(s.invoice_no) AS invoice_no,
			min(s.line_no) AS line_no,
			min(s.tracking_no) AS tracking_no,
			min(s.currency) AS currency
		FROM doubts d
		JOIN staged_lines s ON s.reference = d.reference
		GROUP BY d.intent_id
		HAVING count(*) FILTER (WHERE s.kind = 'freight') = 1
			AND count(DISTINCT s.account) = 1
			AND count(DISTINCT s.invoice_no) = 1
			AND count(DISTINCT s.tracking_no) = 1
			AND count(DISTINCT s.currency) = 1
			AND min(s.tracking_no) <> ''
			AND min(s.cents) >= 0
			AND bool_and(s.kind IN ('freight', 'fuel', 'residential', 'area', 'return', 'accessorial', 'tax', 'duty', 'brokerage')
				AND NOT s.correction)
			AND min(CASE WHEN s.ship_date <> 0 THEN s.ship_date ELSE s.invoice_date END)
				BETWEEN min(d.first_called_at AT TIME ZONE $3)::date - date '1970-01-01' - 2
				AND min(d.first_called_at AT TIME ZONE $3)::date - date '1970-01-01' + $4::integer
	)
	SELECT
		n.intent_id::text, d.called_account, n.account, n.invoice_no, n.line_no, n.tracking_no, n.currency,
		coalesce(d.request ->> 'service', ''),
		p.cents
	FROM named n
	JOIN doubts d USING (intent_id)
	CROSS JOIN LATERAL (
		SELECT
			sum(s.cents) FILTER (WHERE s.kind IN ('freight', 'fuel', 'residential', 'area', 'return', 'accessorial'))::bigint AS cents,
			-- Everything that names the number, as its own or as another's, is this one charge.
			bool_and(s.tracking_no = n.tracking_no AND s.master_no IN ('', n.tracking_no) AND s.original_no = ''
				AND s.account = n.account AND s.invoice_no = n.invoice_no AND s.currency = n.currency AND s.reference IN ('', d.reference)
				AND NOT s.correction AND s.cents >= 0) AS alone
		FROM staged_lines s
		WHERE n.tracking_no IN (s.tracking_no, s.master_no, s.original_no)
	) AS p
	WHERE p.alone
		AND ltrim(d.called_account, '0') = ltrim(n.account, '0')
		AND p.cents > 0
		AND p.cents <= coalesce((d.request ->> 'max_cost_cents')::bigint, p.cents)
		AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.carrier = $1 AND l.tracking_no = n.tracking_no)
		-- Two intents that claim one number are both left in doubt.
		AND NOT EXISTS (SELECT 1 FROM named o WHERE o.tracking_no = n.tracking_no AND o.intent_id <> n.intent_id)
	ORDER BY n.intent_id`

// proved is an intent in doubt and the line that proves it bought.
type proved struct {
	intentID, invoiceNo, lineNo string
	// account is the one that was called, billed the one on the invoice: they differ in zeros at most.
	account, billed string
	label           carrier.Label
}

// settleDoubts settles the intents in doubt that the lines prove bought, each in the outbox's own
// transaction and with the line as evidence. One that was settled meanwhile is passed over.
func (r *reconciliation) settleDoubts(ctx context.Context, stderr io.Writer) error {
	if !r.settings.settle || r.state != nil && r.state.lookBack {
		return nil
	}
	all, err := r.provedBought(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	return r.withOutbox(ctx, stderr, func(box *outbox.Outbox) error {
		for _, p := range all {
			err := box.Settle(ctx, p.settlement())
			if err != nil && !errors.Is(err, outbox.ErrNotSettleable) {
				return err
			}
		}
		return nil
	})
}

func (r *reconciliation) provedBought(ctx context.Context) ([]proved, error) {
	foots := make(map[[2]string]bool)
	for _, i := range r.ledger.Invoices() {
		key := [2]string{i.Account, i.InvoiceNo}
		was, seen := foots[key]
		foots[key] = i.Foots() && !i.Contested && (was || !seen)
	}
	late := reconcile.Rules{LateDays: r.settings.rules.LateDays}.LateBy()
	rows, err := r.conn.Query(ctx, provedQuery, r.settings.carrier, r.settings.end(), r.settings.zone.String(), late)
	if err != nil {
		return nil, fmt.Errorf("looking for lines that bear references in doubt: %w", err)
	}
	var all []proved
	var p proved
	_, err = pgx.ForEachRow(rows, []any{
		&p.intentID, &p.account, &p.billed, &p.invoiceNo, &p.lineNo, &p.label.TrackingNo, &p.label.Cost.Currency,
		&p.label.Service, &p.label.Cost.Cents,
	}, func() error {
		if foots[[2]string{p.billed, p.invoiceNo}] {
			all = append(all, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for lines that bear references in doubt: %w", err)
	}
	return all, nil
}

// settlement is the decision. Invoices do not print the carrier's own id of a label: its tracking
// number stands for it.
func (p proved) settlement() outbox.Settlement {
	label := p.label
	label.ID = label.TrackingNo
	return outbox.Settlement{
		IntentID: uuid.MustParse(p.intentID), // a uuid of the database
		Verdict:  outbox.VerdictBought,
		Account:  p.account,
		Label:    &label,
		Actor:    runner,
		Why:      fmt.Sprintf("invoice %s, line %s bears its reference", p.invoiceNo, p.lineNo),
	}
}

// withOutbox opens the outbox for as long as something is done with it.
func (r *reconciliation) withOutbox(ctx context.Context, stderr io.Writer, do func(*outbox.Outbox) error) error {
	alive := context.WithoutCancel(ctx)
	pool, err := (service.Database{DatabaseURL: r.settings.databaseURL}).Open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	logger, err := service.NewLogger("warn", stderr)
	if err != nil {
		return err
	}
	box, err := outbox.New(alive, pool, outbox.Config{
		KeyTTL: r.settings.keyTTL, Logger: logger, Metrics: outbox.NewMetrics(prometheus.NewRegistry()), Now: time.Now,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(box), box.Close(alive))
}

// settledQuery reads the labels that invoices have proved, this run's or an earlier one's, each once, with the
// line that did it: the first that charges for its carriage, because one that came later proved nothing.
const settledQuery = `
	SELECT DISTINCT ON (l.label_id) ` + labelColumns + `,
		s.file_no, s.row_no, s.invoice_no, s.invoice_date, s.line_no, s.charge_text
	FROM carrier_calls c
	JOIN labels l ON l.intent_id = c.intent_id
	JOIN staged_lines s ON s.reference = l.reference AND s.kind = 'freight'
	WHERE l.carrier = $1 AND c.kind = 'settle' AND c.actor = $2 AND c.outcome = 'bought'
	ORDER BY l.label_id, s.invoice_date, s.invoice_no COLLATE "C", s.line_no COLLATE "C", s.file_no, s.row_no`

func (r *reconciliation) settled(ctx context.Context, snap *snapshot) iter.Seq2[reconcile.Finding, error] {
	scan := func(row pgx.CollectableRow) (reconcile.Finding, error) {
		var file int
		var date int32
		var c invoice.Line
		l, err := scanLabel(row, &file, &c.Source.Row, &c.InvoiceNo, &date, &c.LineNo, &c.Text)
		if err != nil {
			return reconcile.Finding{}, err
		}
		c.InvoiceDate, c.Source.File = invoice.Date(date), r.fileName(file)
		return reconcile.AboutSettled(*l, c), nil
	}
	return rows(ctx, snap, "settled_intents", scan, settledQuery, r.settings.carrier, runner)
}
