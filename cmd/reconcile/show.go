package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/internal/command"
	"waybill/reconcile"
)

// showCommand shows a finding and what became of it.
type showCommand struct {
	ID          string `arg:"" name:"finding-id" help:"The finding, as exceptions.csv and findings list name it."`
	DatabaseURL string `env:"DATABASE_URL" placeholder:"postgres://USER:PASSWORD@HOST/NAME" help:"The Postgres database."`

	status int
}

// Run shows the finding as it was found last, and who changed it since, the oldest change first.
func (c *showCommand) Run(p *command.Process) error {
	err := onConnection(p.Ctx, c.DatabaseURL, func(conn *pgx.Conn) error {
		out := bufio.NewWriter(p.Stdout)
		return errors.Join(c.show(p.Ctx, conn, out), out.Flush())
	})
	c.status = statusOf(err)
	return err
}

func (c *showCommand) show(ctx context.Context, conn *pgx.Conn, out io.Writer) error {
	rows, err := conn.Query(ctx, `SELECT `+storedFinding+` FROM findings f WHERE f.finding_id = $1`, c.ID)
	if err != nil {
		return fmt.Errorf("reading finding %s: %w", c.ID, err)
	}
	f, err := pgx.CollectExactlyOneRow(rows, scanFinding)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return usageError(fmt.Errorf("there is no finding %s", c.ID))
	case err != nil:
		return err
	}
	for _, field := range shown(f) {
		if field[1] != "" {
			fmt.Fprintf(out, "%-13s %s\n", field[0], carrier.Sanitise(field[1]))
		}
	}
	return c.history(ctx, conn, out)
}

func (c *showCommand) history(ctx context.Context, conn *pgx.Conn, out io.Writer) error {
	rows, err := conn.Query(ctx, `
		SELECT changed_at, actor, state, why
		FROM finding_changes
		WHERE finding_id = $1
		ORDER BY change_id`, c.ID)
	if err != nil {
		return fmt.Errorf("reading the changes of finding %s: %w", c.ID, err)
	}
	var at time.Time
	var actor, state, why string
	_, err = pgx.ForEachRow(rows, []any{&at, &actor, &state, &why}, func() error {
		_, err := fmt.Fprintf(out, "%s  %s by %s: %s\n", at.UTC().Format(time.RFC3339), state, actor, why)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the changes of finding %s: %w", c.ID, err)
	}
	return nil
}

// shown are a finding's fields, called as in exceptions.csv.
func shown(f reconcile.Finding) [][2]string {
	money := func(m carrier.Money) string {
		if m.Currency == "" {
			return ""
		}
		return m.Decimal() + " " + m.Currency
	}
	expected, difference := money(f.Expected), ""
	if f.Kind == reconcile.CurrencyMismatch {
		// What is stored has one currency, that of the bill.
		expected = ""
	}
	if f.Difference.Cents != 0 {
		difference = money(f.Difference)
	}
	order := ""
	if f.OrderID != 0 {
		order = strconv.FormatInt(f.OrderID, 10)
	}
	return [][2]string{
		{"finding_id", f.ID},
		{"kind", string(f.Kind)},
		{"severity", string(f.Severity)},
		{"why", string(f.Why)},
		{"state", string(f.State)},
		{"first_seen", f.FirstSeen.String()},
		{"carrier", f.Carrier},
		{"account", f.Account},
		{"invoice_no", f.InvoiceNo},
		{"invoice_date", f.InvoiceDate.String()},
		{"line_no", f.LineNo},
		{"tracking_no", f.TrackingNo},
		{"order_id", order},
		{"label_id", f.LabelID},
		{"intent_id", f.IntentID},
		{"billed", money(f.Billed)},
		{"expected", expected},
		{"difference", difference},
		{"charge_text", f.Text},
		{"dispute_by", f.DisputeBy.String()},
	}
}
