package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// shipmentTable says which numbers are judged together with others: parcels with their shipment, and a
// number with the one that it replaced. It is empty where no line names any, as on most invoices.
const shipmentTable = `
	CREATE TEMPORARY TABLE staged_shipments AS
	SELECT tracking_no, min(shipment COLLATE "C") AS shipment
	FROM (
		SELECT tracking_no, CASE WHEN master_no <> '' THEN master_no ELSE original_no END AS shipment
		FROM staged_lines
		WHERE tracking_no <> '' AND (master_no <> '' OR original_no <> '')
	) AS named
	WHERE shipment <> tracking_no
	GROUP BY tracking_no`

// stageShipments makes that table, and the one of numbers, which [snapshot.match] fills. A number whose
// shipment is itself a part of another goes with that one: two steps are all that carriers print.
func (r *reconciliation) stageShipments(ctx context.Context) error {
	for _, sql := range []string{
		shipmentTable,
		`UPDATE staged_shipments AS s
		SET shipment = t.shipment
		FROM staged_shipments AS t
		WHERE t.tracking_no = s.shipment AND t.shipment <> s.tracking_no`,
		`ANALYZE staged_shipments`,
		// The numbers whose labels have to be looked at, whenever they were bought; '' stands for lines without any.
		`CREATE TEMPORARY TABLE staged_numbers (
			tracking_no text NOT NULL,
			plain       boolean NOT NULL,
			bill_no     bigint,
			lines       bigint,
			cents       bigint
		)`,
	} {
		if _, err := r.conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("gathering shipments: %w", err)
		}
	}
	return nil
}

// matchQuery gathers the numbers that lines bear, and tells which are plain: one bill asks for exactly what
// the one label of the number cost, on its account and in its time, and nothing else bears the number. The
// rules have one verdict about such a number, and most are: they need not be read to be judged.
//
// It is stricter than the rules, which know accounts padded with zeros, credits, zones. What it leaves out
// they judge; what it takes they must judge alike, which TestPlainNumbersAreWhatTheRulesSay holds.
const matchQuery = `
	INSERT INTO staged_numbers (tracking_no, plain, bill_no, lines, cents)
	WITH billed AS (
		SELECT
			coalesce(nullif(tracking_no, ''), master_no) AS tracking_no,
			min(bill_no) AS bill_no,
			count(*) AS lines,
			sum(cents)::bigint AS cents,
			min(CASE WHEN ship_date <> 0 THEN ship_date ELSE invoice_date END) AS first_day,
			max(CASE WHEN ship_date <> 0 THEN ship_date ELSE invoice_date END) AS last_day,
			min(bill_no) = max(bill_no)
				AND bool_or(kind = $2)
				AND bool_and(kind = ANY ($3) AND NOT correction AND (cents >= 0 OR kind = $6))
				-- No discount is so large that it could give a surcharge back.
				AND coalesce(min(cents) FILTER (WHERE kind = $6 AND cents > 0)
					> max(-cents) FILTER (WHERE kind = $6 AND cents < 0), true)
				AND bool_and(tracking_no <> '' AND master_no IN ('', tracking_no) AND original_no IN ('', tracking_no))
				AS plain
		FROM staged_lines
		GROUP BY 1
	), shipped AS (
		SELECT tracking_no, true AS together FROM staged_shipments
		UNION
		SELECT shipment, true FROM staged_shipments
	)
	SELECT
		tracking_no,
		count(*) = 1 AND coalesce(bool_and(
			n.plain
			AND s.together IS NULL
			AND l.account = b.account
			AND l.currency = b.currency
			AND l.cost_cents = n.cents
			AND l.voided_at IS NULL
			-- A day less either way than the rules allow: no time zone is further from UTC.
			AND n.first_day - l.bought_on >= $4
			AND n.last_day - l.bought_on <= $5
		), false),
		n.bill_no,
		n.lines,
		n.cents
	FROM billed n
	FULL JOIN shipped s USING (tracking_no)
	LEFT JOIN staged_bills b USING (bill_no)
	LEFT JOIN (
		SELECT
			tracking_no, account, currency, cost_cents, voided_at,
			(bought_at AT TIME ZONE 'UTC')::date - date '1970-01-01' AS bought_on
		FROM labels
		WHERE carrier = $1
	) AS l USING (tracking_no)
	GROUP BY tracking_no, n.bill_no, n.lines, n.cents`

// match gathers the numbers that lines bear, and those that are plain.
func (s *snapshot) match(ctx context.Context, set settings) error {
	if _, err := s.tx.Exec(ctx, matchQuery, set.carrier, string(invoice.Freight), kindNames(invoice.PriceKinds()),
		1-reconcile.EarlyDays, set.judging().LateBy()-1, string(invoice.Accessorial)); err != nil {
		return fmt.Errorf("matching numbers: %w", err)
	}
	// Without statistics the planner takes the table for small.
	if _, err := s.tx.Exec(ctx, `ANALYZE staged_numbers`); err != nil {
		return fmt.Errorf("counting the numbers: %w", err)
	}
	return nil
}

func kindNames(kinds []invoice.Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return names
}

// plainQuery adds up what is plain, by invoice.
const plainQuery = `
	SELECT
		b.account,
		b.invoice_no,
		b.currency,
		count(*),
		sum(n.lines)::bigint,
		sum(n.cents)::bigint
	FROM staged_numbers n
	JOIN staged_bills b USING (bill_no)
	WHERE n.plain
	GROUP BY b.account, b.invoice_no, b.currency`

// takePlain takes what is plain as the rules would: every line in its place, every label billed.
func (r *reconciliation) takePlain(ctx context.Context, snap *snapshot) error {
	rows, err := snap.tx.Query(ctx, plainQuery)
	if err != nil {
		return fmt.Errorf("adding up what is plain: %w", err)
	}
	key := reconcile.InvoiceKey{Carrier: r.settings.carrier}
	var labels, lines, cents int64
	_, err = pgx.ForEachRow(rows, []any{&key.Account, &key.InvoiceNo, &key.Currency, &labels, &lines, &cents}, func() error {
		r.progress.Add(int(lines))
		r.totals.StandAll(key.Currency, reconcile.Billed, reconcile.Sum{Count: labels, Cents: cents})
		return r.ledger.PlaceAll(key, reconcile.Matched, reconcile.Sum{Count: lines, Cents: cents})
	})
	if err != nil {
		return fmt.Errorf("adding up what is plain: %w", err)
	}
	return nil
}
