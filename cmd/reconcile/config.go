package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"waybill/internal/service"
	"waybill/reconcile"
	"waybill/reconcile/invoice"
	"waybill/reconcile/report"
)

// commands is the command line.
type commands struct {
	Run runCommand `cmd:"" help:"Reconcile the invoices of one carrier. Exit status: 0 clean, 1 findings, 2 usage or configuration, 3 an input is unreadable or does not foot, 4 internal."`

	Findings findingsCommand `cmd:"" help:"List what runs found, and say what became of it."`
}

// runCommand is one reconciliation.
type runCommand struct {
	Carrier  string        `required:"" placeholder:"NAME" help:"The carrier, as labels and invoice lines name it."`
	Format   string        `default:"auto" help:"The files' format: auto (by content), neutral, ups, fedex, fedex-intl, dhl-express, usps-eps, easypost-invoice, easypost-payments."`
	Columns  string        `placeholder:"FILE" help:"A YAML file that says which columns of a foreign CSV stand for those of the neutral one. See docs/invoice-formats.md."`
	AsOf     string        `required:"" placeholder:"YYYY-MM-DD" help:"The day as of whose end everything is judged. There is no default: the same command gives the same report on any day."`
	Since    string        `placeholder:"YYYY-MM-DD" help:"The first day whose labels the files must bill. Without it, every label ever bought must be on them."`
	Out      string        `required:"" placeholder:"DIR" help:"The folder for the report; made if it is missing."`
	Grace    int           `default:"-1" help:"Days that the carrier may take to bill a label, and to credit a void. Without it, what the rules file says, or 14."`
	KeyTTL   time.Duration `name:"key-ttl" env:"WAYBILL_KEY_TTL" default:"24h" help:"How long the service keeps completed idempotency keys."`
	Rules    string        `placeholder:"FILE" help:"A YAML file with tolerances, grace days, accounts and the like, by carrier. See docs/reconcile.md."`
	Settle   bool          `help:"Settle intents in doubt that an invoice line proves bought. Without it nothing of the outbox is changed."`
	NoStore  bool          `help:"Read only: keep nothing of this run, and know nothing of earlier ones."`
	Timezone string        `default:"UTC" placeholder:"ZONE" help:"The time zone that turns instants into days, e.g. America/Chicago."`

	DatabaseURL string `env:"DATABASE_URL" placeholder:"postgres://USER:PASSWORD@HOST/NAME" help:"The Postgres database. A temporary table is made: not through a pooler in transaction mode, not on a replica."`

	Files []string `arg:"" name:"file" help:"Invoice files, or folders of them (*.csv, *.txt, *.xlsx)."`

	// status is the exit status, once it ran.
	status int
}

// settings are the command's arguments, understood.
type settings struct {
	carrier string
	// dialect is nil if each file's content decides.
	dialect invoice.Dialect
	asOf    invoice.Date
	since   invoice.Date
	zone    *time.Location
	grace   int
	// store is false for a run that keeps nothing.
	store bool
	// settle lets lines settle intents in doubt, on databaseURL.
	settle      bool
	databaseURL string
	// rules are the carrier's entry of the rules file.
	rules      carrierRules
	tolerances map[invoice.Kind]reconcile.Tolerance
	keyTTL     time.Duration
	database   *pgx.ConnConfig
	out        string
	files      []string
}

// settings checks every argument before anything is opened, and complains about all of them at once.
func (c *runCommand) settings() (settings, error) {
	s := settings{carrier: c.Carrier, grace: c.Grace, keyTTL: c.KeyTTL, out: c.Out, files: c.Files, store: !c.NoStore, settle: c.Settle, databaseURL: c.DatabaseURL}
	var wrong []error
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }

	var err error
	if s.dialect, err = dialectFor(c.Format, c.Columns); err != nil {
		complain("%w", err)
	}
	if s.asOf, err = invoice.ParseDate(c.AsOf); err != nil {
		complain("--as-of: %w", err)
	}
	if c.Since != "" {
		if s.since, err = invoice.ParseDate(c.Since); err != nil {
			complain("--since: %w", err)
		} else if s.since > s.asOf {
			complain("--since must not be after --as-of")
		}
	}
	if s.zone, err = time.LoadLocation(c.Timezone); err != nil || c.Timezone == "Local" {
		complain("--timezone: %q is no time zone of the IANA database, such as America/Chicago", c.Timezone)
	}
	if c.Carrier == "" || strings.TrimSpace(c.Carrier) != c.Carrier {
		complain("--carrier must be a carrier's name")
	}
	if c.Settle && c.NoStore {
		complain("--settle needs the memory of earlier runs, where a credit or a second charge may stand: leave --no-store out")
	}
	if c.Out == "" {
		complain("--out must name a folder")
	}
	if s.rules, err = readRules(c.Rules, c.Carrier); err != nil {
		complain("--rules: %w", err)
	} else {
		s.tolerances, _ = s.rules.tolerances() // checked when they were read
	}
	switch {
	case c.Grace > 366 || c.Grace < -1:
		complain("--grace must be 0 to 366 days")
	case c.Grace == -1:
		s.grace = s.rules.grace()
	}
	if c.KeyTTL <= 0 {
		complain("--key-ttl (WAYBILL_KEY_TTL) must be a duration above zero, such as 24h")
	}
	if c.DatabaseURL == "" {
		complain("%w", errNoDatabase)
	} else if pool, err := (service.Database{DatabaseURL: c.DatabaseURL}).PoolConfig(); err != nil {
		complain("%w", err)
	} else {
		// One connection is enough. It is read as a pool's, because the services' address may size theirs.
		s.database = pool.ConnConfig
	}
	if err := errors.Join(wrong...); err != nil {
		return settings{}, usageError(err)
	}
	return s, nil
}

// told is what the report says of them.
func (s settings) told() report.Parameters {
	return report.Parameters{
		Carrier: s.carrier, AsOf: s.asOf, Since: s.since, Zone: s.zone, GraceDays: s.grace, KeyTTL: s.keyTTL.String(),
	}
}

// end is the first instant after the day as of which everything is judged.
func (s settings) end() time.Time { return (s.asOf + 1).Start(s.zone) }

// begin is the first instant whose labels the files must bill.
func (s settings) begin() time.Time {
	if s.since == 0 {
		return time.Time{}
	}
	return s.since.Start(s.zone)
}
