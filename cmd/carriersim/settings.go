package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"go.uber.org/zap"

	"waybill/carrier/sim/simserver"
)

// settings are the command line.
type settings struct {
	Addr          string        `default:"127.0.0.1:8090" help:"Address to listen on; port 0 takes a free one."`
	Ledger        string        `default:"run/carriersim.jsonl" help:"File of the ledger. It is read back if it exists, and never shortened."`
	Mode          string        `default:"keyed" enum:"keyed,lookup,blind" help:"What the carrier honours: keyed (an idempotency key, and look-ups), lookup (look-ups by reference), blind (neither)."`
	Latency       time.Duration `default:"0s" help:"Least time a call takes."`
	LatencySpread time.Duration `default:"0s" help:"What is added to the latency at most, evenly spread."`
	LookupLag     time.Duration `default:"0s" help:"Age at which a label is found by a look-up."`
	KeyWindow     time.Duration `default:"0s" help:"How long a key is honoured; 0 means for ever."`
	Late          time.Duration `default:"30s" help:"Delay of the charge under the fault charge_late."`
	Fault         []rule        `placeholder:"NAME[:PROBABILITY[:COUNT]]" help:"Fail purchases, e.g. reset_after_charge:0.01 or refuse:1:3 (the next three). May be repeated; the first that holds is applied. At run time: PUT /_sim/faults."`
	Seed          uint64        `default:"1" help:"Seed of the draws of faults and latencies."`
	Carrier       string        `default:"sim" help:"The carrier's name on its invoices."`
	Account       string        `default:"SIM-1" help:"The account on invoices."`
	Currency      string        `default:"USD" help:"The currency of all prices."`
	Secret        string        `help:"Bearer token that callers must show; none if empty. Better given by CARRIERSIM_SECRET than by flag, which others can see."`
}

// rule is a fault as it is written on the command line.
type rule simserver.Rule

// UnmarshalText reads NAME[:PROBABILITY[:COUNT]].
func (r *rule) UnmarshalText(text []byte) error {
	name, rest, _ := strings.Cut(string(text), ":")
	probability, count, _ := strings.Cut(rest, ":")
	r.Fault = simserver.Fault(name)
	var err error
	if probability != "" {
		if r.Probability, err = strconv.ParseFloat(probability, 64); err != nil {
			return fmt.Errorf("probability %q of fault %s is not a number", probability, name)
		}
	}
	if count != "" {
		if r.Count, err = strconv.Atoi(count); err != nil {
			return fmt.Errorf("count %q of fault %s is not a whole number", count, name)
		}
	}
	return nil
}

// parse reads and validates the settings. If help was asked for, it is on stdout already.
func parse(args []string, getenv func(string) string, stdout, stderr io.Writer) (s settings, help bool, err error) {
	parser, err := kong.New(&s,
		kong.Name("carriersim"),
		kong.Description("A carrier in a box. Every flag can also be given by the environment: "+
			"CARRIERSIM_LATENCY_SPREAD for --latency-spread."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { help = true }),
		kong.Resolvers(environment(getenv)),
	)
	if err != nil {
		return settings{}, false, err
	}
	if _, err = parser.Parse(args); help {
		return settings{}, true, nil
	}
	if err == nil {
		err = s.faults().Validate()
	}
	return s, false, err
}

// environment resolves flags that were not given. Kong's own variables are read from the process's
// environment only.
func environment(getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		name := "CARRIERSIM_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		if value := getenv(name); value != "" && flag.Name != "help" {
			return value, nil
		}
		return nil, nil //nolint:nilnil // kong's way to say "not set here".
	})
}

func (s settings) faults() simserver.Faults {
	f := simserver.Faults{
		Mode:            simserver.Mode(s.Mode),
		LatencyMS:       int(s.Latency.Milliseconds()),
		LatencySpreadMS: int(s.LatencySpread.Milliseconds()),
		LookupLagMS:     int(s.LookupLag.Milliseconds()),
		KeyWindowMS:     int(s.KeyWindow.Milliseconds()),
		LateMS:          int(s.Late.Milliseconds()),
	}
	for _, r := range s.Fault {
		f.Rules = append(f.Rules, simserver.Rule(r))
	}
	return f
}

func (s settings) config(log *zap.Logger) simserver.Config {
	return simserver.Config{
		LedgerPath: s.Ledger,
		Carrier:    s.Carrier,
		Account:    s.Account,
		Currency:   s.Currency,
		Secret:     s.Secret,
		Faults:     s.faults(),
		Seed:       s.Seed,
		Now:        time.Now,
		Logger:     log,
	}
}
