package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"waybill/carrier"
	"waybill/internal/command"
	"waybill/internal/service"
	"waybill/reconcile"
)

// findingsCommand is how a person takes findings up.
type findingsCommand struct {
	List    listCommand   `cmd:"" help:"List findings that wait for somebody, or all."`
	Show    showCommand   `cmd:"" help:"Show a finding, who changed its state, and why."`
	Ack     changeCommand `cmd:"" help:"Acknowledge: known and accepted. It no longer changes the exit status, and stays in the totals."`
	Dispute changeCommand `cmd:"" help:"Disputed: claimed from the carrier."`
	Credit  changeCommand `cmd:"" help:"Credited: the carrier has given the money back, or promised to."`
	Accept  changeCommand `cmd:"" help:"Accept the content that a finding invoice_changed is about: the next run that has it at hand judges it, in place of what was judged before."`
	Reopen  changeCommand `cmd:"" help:"Open again. What was accepted and not judged yet is not accepted any more."`
}

// listCommand lists findings.
type listCommand struct {
	Carrier     string `placeholder:"NAME" help:"Only this carrier's."`
	State       string `default:"waiting" enum:"waiting,new,open,acknowledged,disputed,credited,cleared,all" placeholder:"STATE" help:"waiting (new and open), new, open, acknowledged, disputed, credited, cleared or all."`
	DatabaseURL string `env:"DATABASE_URL" placeholder:"postgres://USER:PASSWORD@HOST/NAME" help:"The Postgres database."`

	status int
}

// Run lists the findings, the oldest first.
func (c *listCommand) Run(p *command.Process) error {
	states := []string{c.State}
	switch c.State {
	case "waiting":
		states = []string{string(reconcile.New), string(reconcile.Open)}
	case "all":
		states = nil
	}
	err := onConnection(p.Ctx, c.DatabaseURL, func(conn *pgx.Conn) error {
		rows, err := conn.Query(p.Ctx, `
			SELECT `+storedFinding+`
			FROM findings f
			WHERE ($1 = '' OR f.carrier = $1) AND ($2::text[] IS NULL OR f.state = ANY ($2))
			ORDER BY f.first_seen, f.finding_id`, c.Carrier, states)
		if err != nil {
			return fmt.Errorf("reading findings: %w", err)
		}
		out := bufio.NewWriter(p.Stdout)
		for rows.Next() {
			f, err := scanFinding(rows)
			if err != nil {
				rows.Close()
				return err
			}
			fmt.Fprintln(out, listed(f))
		}
		return errors.Join(rows.Err(), out.Flush())
	})
	c.status = statusOf(err)
	return err
}

// listed is a finding on one line, its fields parted by tabs.
func listed(f reconcile.Finding) string {
	fields := []string{
		f.ID, string(f.State), f.FirstSeen.String(), string(f.Severity), string(f.Kind), f.Carrier, f.Account,
		f.InvoiceNo, f.TrackingNo, "", "",
	}
	if f.Difference.Cents != 0 {
		fields[9] = f.Difference.Decimal() + " " + f.Difference.Currency
	}
	if f.DisputeBy != 0 {
		fields[10] = "dispute by " + f.DisputeBy.String()
	}
	return strings.TrimRight(strings.Join(fields, "\t"), "\t")
}

// changeCommand changes the state of findings. Its name says to which.
type changeCommand struct {
	IDs         []string `arg:"" name:"finding-id" help:"The findings, as exceptions.csv and findings list name them."`
	Why         string   `required:"" placeholder:"TEXT" help:"Why, e.g. 'claim 4711 filed'. Kept."`
	Actor       string   `placeholder:"NAME" help:"Who decides; the user of this machine if not given. Kept."`
	DatabaseURL string   `env:"DATABASE_URL" placeholder:"postgres://USER:PASSWORD@HOST/NAME" help:"The Postgres database."`

	to reconcile.State
	// also is what else the command changes about a finding, and tells whether it did; nil for nothing.
	also func(ctx context.Context, tx pgx.Tx, id string) (bool, error)
	// done tells of a cleared finding whether the command, given before, is why; nil for never.
	done   func(ctx context.Context, tx pgx.Tx, id string) (bool, error)
	status int
}

// AfterApply sets what the commands change to.
func (c *findingsCommand) AfterApply() error { //nolint:unparam // The form that kong asks for.
	c.Ack.to, c.Dispute.to, c.Credit.to, c.Accept.to, c.Reopen.to =
		reconcile.Acknowledged, reconcile.Disputed, reconcile.CreditedBack, reconcile.Acknowledged, reconcile.Open
	c.Accept.also, c.Accept.done, c.Reopen.also = acceptContent, contentAccepted, withdrawContent
	return nil
}

// Run changes the findings, all or none. One that is in the state already stays as it is, and nothing is
// noted: repeating the command is harmless.
func (c *changeCommand) Run(p *command.Process) error {
	err := c.change(p)
	c.status = statusOf(err)
	return err
}

func (c *changeCommand) change(p *command.Process) error {
	if c.Actor == "" {
		who, err := user.Current()
		if err != nil {
			return usageError(errors.New("--actor is needed: the machine does not say who you are"))
		}
		c.Actor = who.Username
	}
	if strings.TrimSpace(c.Why) == "" {
		return usageError(errors.New("--why must say why"))
	}
	return onConnection(p.Ctx, c.DatabaseURL, func(conn *pgx.Conn) error {
		changed := 0
		err := pgx.BeginFunc(p.Ctx, conn, func(tx pgx.Tx) error {
			for _, id := range c.IDs {
				moved, err := c.move(p.Ctx, tx, id)
				if err != nil {
					return err
				}
				if moved {
					changed++
				}
			}
			return nil
		})
		if err == nil {
			fmt.Fprintln(p.Stderr, told(changed, len(c.IDs), c.to))
		}
		return err
	})
}

// told says what a command did to so many of all findings.
func told(changed, all int, to reconcile.State) string {
	what := func(n int) string {
		if n == 1 {
			return "1 finding"
		}
		return strconv.Itoa(n) + " findings"
	}
	switch changed {
	case all:
		return fmt.Sprintf("%s: %s.", what(changed), to)
	case 0:
		return fmt.Sprintf("%s: %s already, nothing was changed.", what(all), to)
	default:
		return fmt.Sprintf("%s: %s; %d already.", what(changed), to, all-changed)
	}
}

// move changes one finding, and notes who did it and why.
func (c *changeCommand) move(ctx context.Context, tx pgx.Tx, id string) (bool, error) {
	var was reconcile.State
	err := tx.QueryRow(ctx, `
		SELECT state
		FROM findings
		WHERE finding_id = $1
		-- Another person, or a run, may be at it.
		FOR UPDATE`, id).Scan(&was)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, usageError(fmt.Errorf("there is no finding %s: nothing was changed", id))
	case err != nil:
		return false, fmt.Errorf("reading finding %s: %w", id, err)
	case was == reconcile.Cleared:
		return false, c.cleared(ctx, tx, id)
	}
	changed := was != c.to
	if c.also != nil {
		more, err := c.also(ctx, tx, id)
		if err != nil {
			return false, err
		}
		changed = changed || more
	}
	if !changed {
		return false, nil
	}
	err = inOrder(ctx, tx, changing(id, c.to, carrier.Sanitise(c.Actor), carrier.Sanitise(c.Why)))
	if err != nil {
		return false, fmt.Errorf("changing finding %s: %w", id, err)
	}
	return true, nil
}

// cleared is the error of a command about a finding that is gone; nil where the command did that itself.
func (c *changeCommand) cleared(ctx context.Context, tx pgx.Tx, id string) error {
	if c.done != nil {
		if done, err := c.done(ctx, tx, id); err != nil || done {
			return err
		}
	}
	return usageError(fmt.Errorf("finding %s is cleared, there is nothing to decide: nothing was changed", id))
}

// goodbye bounds how long closing a connection may take.
const goodbye = 5 * time.Second

// onConnection does something on a connection of its own.
func onConnection(ctx context.Context, databaseURL string, do func(*pgx.Conn) error) error {
	if databaseURL == "" {
		return usageError(errNoDatabase)
	}
	pool, err := (service.Database{DatabaseURL: databaseURL}).PoolConfig()
	if err != nil {
		return usageError(err)
	}
	conn, err := pgx.ConnectConfig(ctx, pool.ConnConfig)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		_ = conn.Close(bye)
	}()
	return schemaError(do(conn))
}

var errNoDatabase = errors.New("DATABASE_URL is not set: say where the database is, as postgres://USER:PASSWORD@HOST/NAME")
