package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"waybill/carrier/sim/simserver"
)

// settings are the command line. Every setting is a flag and an environment variable.
type settings struct {
	Addr          string        `env:"CARRIERSIM_ADDR" default:"127.0.0.1:8090" help:"Address to listen on; port 0 takes a free one."`
	Ledger        string        `env:"CARRIERSIM_LEDGER" default:"run/carriersim.jsonl" help:"File of the ledger. It is read back if it exists, and never shortened."`
	Mode          string        `env:"CARRIERSIM_MODE" default:"keyed" enum:"keyed,lookup,blind" help:"What the carrier honours: keyed (an idempotency key, and look-ups), lookup (look-ups by reference), blind (neither)."`
	Latency       time.Duration `env:"CARRIERSIM_LATENCY" default:"0s" help:"Least time a call takes."`
	LatencySpread time.Duration `env:"CARRIERSIM_LATENCY_SPREAD" default:"0s" help:"What is added to the latency at most, evenly spread."`
	LookupLag     time.Duration `env:"CARRIERSIM_LOOKUP_LAG" default:"0s" help:"Age at which a label is found by a look-up."`
	KeyWindow     time.Duration `env:"CARRIERSIM_KEY_WINDOW" default:"0s" help:"How long a key is honoured; 0 means for ever."`
	Late          time.Duration `env:"CARRIERSIM_LATE" default:"30s" help:"Delay of the charge under the fault charge_late."`
	Fault         []rule        `env:"CARRIERSIM_FAULT" placeholder:"NAME[:PROBABILITY[:COUNT]]" help:"Fail purchases, e.g. reset_after_charge:0.01 or refuse:1:3 (the next three). May be repeated; the first that holds is applied. At run time: PUT /_sim/faults."`
	Seed          uint64        `env:"CARRIERSIM_SEED" default:"1" help:"Seed of the draws of faults and latencies."`
	Carrier       string        `env:"CARRIERSIM_CARRIER" default:"sim" help:"The carrier's name on its invoices."`
	Account       string        `env:"CARRIERSIM_ACCOUNT" default:"SIM-1" help:"The account on invoices."`
	Currency      string        `env:"CARRIERSIM_CURRENCY" default:"USD" help:"The currency of all prices."`
	Secret        string        `env:"CARRIERSIM_SECRET" help:"What callers must show: the bearer token, the API key or the client secret, as the carrier has it; none if empty. Better given by the environment than by flag, which others can see."`
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

// Validate refuses faults that cannot be, before anything is opened.
func (s settings) Validate() error { return s.faults().Validate() }

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

func (s settings) config(now func() time.Time, log *zap.Logger) simserver.Config {
	return simserver.Config{
		LedgerPath: s.Ledger,
		Carrier:    s.Carrier,
		Account:    s.Account,
		Currency:   s.Currency,
		Secret:     s.Secret,
		Faults:     s.faults(),
		Seed:       s.Seed,
		Now:        now,
		Logger:     log,
	}
}
