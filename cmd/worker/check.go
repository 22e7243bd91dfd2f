package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"waybill/carrier"
	"waybill/carrier/catalog"
	"waybill/internal/command"
)

// checkCarriers asks every carrier in carriers.yaml for something harmless: it proves that the file, the
// credentials and the way to the carrier are right, and buys nothing.
type checkCarriers struct {
	Carriers string        `env:"WAYBILL_CARRIERS" required:"" placeholder:"FILE" help:"Path of carriers.yaml."`
	Timeout  time.Duration `default:"15s" placeholder:"DURATION" help:"How long one carrier may take to answer (default ${default})."`
}

// errUnreachable ends the command with status 1; what is wrong stands in the table.
var errUnreachable = errors.New("not every carrier can be reached with its credentials")

// Run prints a line for each carrier. It can be repeated at any time, beside a worker too.
func (c checkCarriers) Run(p *command.Process) error {
	carriers, err := catalog.Load(c.Carriers, p.Getenv)
	if err != nil {
		return fmt.Errorf("WAYBILL_CARRIERS: %w", err)
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CARRIER\tACCOUNT\tAFTER AN UNKNOWN\tRESULT")
	var failed error
	for _, name := range carriers.Names() {
		one, _ := carriers.Carrier(name)
		result := "ok"
		if err := probe(p.Ctx, one, c.Timeout); err != nil {
			result, failed = carrier.Sanitise(err.Error()), errUnreachable
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, one.Account(), afterUnknown(one.Capabilities()), result)
	}
	return errors.Join(table.Flush(), failed)
}

func probe(ctx context.Context, c carrier.Carrier, limit time.Duration) error {
	prober, ok := c.(carrier.Prober)
	if !ok {
		return errors.New("this kind of carrier cannot be asked anything harmless")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return prober.Probe(ctx)
}

// afterUnknown says what is done when nobody knows whether a label was bought.
func afterUnknown(c carrier.Capabilities) string {
	switch class := c.Class(0); {
	case class == carrier.Keyed && c.Key.Window > 0:
		return fmt.Sprintf("same key again, for %s", c.Key.Window-c.Key.Margin)
	case class == carrier.Keyed:
		return "same key again"
	case class == carrier.ByLookup:
		return fmt.Sprintf("look up, for %s", c.Lookup.QuietPeriod())
	default:
		return "in doubt, for a person"
	}
}
