package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"waybill/reconcile"
	"waybill/reconcile/invoice"
)

// carrierRules are what finance decides about one carrier: an entry of the rules file.
type carrierRules struct {
	// GraceDays are days of grace, 0 for none; nil leaves the default.
	GraceDays *int `yaml:"grace_days"`

	// LateDays, DisputeDays and DoubtDays are days; 0 leaves each at its default.
	LateDays    int `yaml:"late_days"`
	DisputeDays int `yaml:"dispute_days"`
	DoubtDays   int `yaml:"doubt_days"`

	// RoundingMinor is by how many minor units a stated total may differ from its lines.
	RoundingMinor int64 `yaml:"rounding_minor"`

	// Accounts are all accounts that we have; none listed is any.
	Accounts []accountRules `yaml:"accounts"`

	// Tolerances are by kind of charge; "price" is a label's price as a whole.
	Tolerances map[string]toleranceRules `yaml:"tolerances"`
}

type accountRules struct {
	Number string `yaml:"number"`
	// EveryDays is the longest time between two invoices; 0 expects none.
	EveryDays int `yaml:"invoice_every_days"`
}

type toleranceRules struct {
	Over  allowanceRules `yaml:"over"`
	Under allowanceRules `yaml:"under"`
}

// allowanceRules bound a difference by an amount in minor units, or by a share such as "1.5".
type allowanceRules struct {
	Minor   int64  `yaml:"minor"`
	Percent string `yaml:"percent"`
}

// readRules reads the rules of one carrier; no file is no rules. A file without the carrier is refused: a
// name spelled otherwise would silently mean no tolerances, no accounts and no days.
func readRules(path, carrier string) (carrierRules, error) {
	if path == "" {
		return carrierRules{}, nil
	}
	content, err := os.ReadFile(path) //nolint:gosec // G304: the operator names it.
	if err != nil {
		return carrierRules{}, err
	}
	var file struct {
		Carriers map[string]carrierRules `yaml:"carriers"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict())
	if err := decoder.Decode(&file); err != nil {
		return carrierRules{}, errors.New(yaml.FormatError(err, false, false))
	}
	for name, r := range file.Carriers {
		if err := r.check(); err != nil {
			return carrierRules{}, fmt.Errorf("carriers.%s: %w", name, err)
		}
	}
	rules, known := file.Carriers[carrier]
	if !known {
		return carrierRules{}, fmt.Errorf("there is no carriers.%s, only %s: add it, `%s: {}` for none",
			carrier, strings.Join(slices.Sorted(maps.Keys(file.Carriers)), ", "), carrier)
	}
	return rules, nil
}

// graceDays is how long a carrier may take to bill or credit where nobody says otherwise.
const graceDays = 14

// grace are the days of grace.
func (c carrierRules) grace() int { return *cmp.Or(c.GraceDays, new(graceDays)) }

const maxDays = 1000

func (c carrierRules) check() error {
	for name, days := range map[string]int{
		"grace_days": c.grace(), "late_days": c.LateDays, "dispute_days": c.DisputeDays, "doubt_days": c.DoubtDays,
	} {
		if days < 0 || days > maxDays {
			return fmt.Errorf("%s must be 0 to %d", name, maxDays)
		}
	}
	if c.RoundingMinor < 0 || c.RoundingMinor > 1 {
		return errors.New("rounding_minor must be 0 or 1: what is more is a line that is missing")
	}
	for _, a := range c.Accounts {
		if a.Number == "" || a.EveryDays < 0 || a.EveryDays > maxDays {
			return errors.New("accounts need a number, in quotation marks, and invoice_every_days of 0 or more")
		}
	}
	_, err := c.tolerances()
	return err
}

// tolerances are the tolerances as the rules take them.
func (c carrierRules) tolerances() (map[invoice.Kind]reconcile.Tolerance, error) {
	out := make(map[invoice.Kind]reconcile.Tolerance, len(c.Tolerances))
	for name, t := range c.Tolerances {
		kind, known := invoice.ParseKind(name)
		if !known && name != string(reconcile.Price) {
			return nil, fmt.Errorf("tolerances.%s is no kind of charge, and not %s", name, reconcile.Price)
		}
		over, err := t.Over.allowance()
		if err != nil {
			return nil, fmt.Errorf("tolerances.%s.over: %w", name, err)
		}
		under, err := t.Under.allowance()
		if err != nil {
			return nil, fmt.Errorf("tolerances.%s.under: %w", name, err)
		}
		out[cmp.Or(kind, reconcile.Price)] = reconcile.Tolerance{Over: over, Under: under}
	}
	return out, nil
}

func (a allowanceRules) allowance() (reconcile.Allowance, error) {
	points, ok := new(big.Rat).SetString(cmp.Or(a.Percent, "0"))
	if !ok {
		return reconcile.Allowance{}, fmt.Errorf("percent %q must be a number such as 1.5", a.Percent)
	}
	points.Mul(points, big.NewRat(100, 1))
	if !points.IsInt() || points.Sign() < 0 || points.Cmp(big.NewRat(10_000, 1)) > 0 || a.Minor < 0 {
		return reconcile.Allowance{}, errors.New("minor must not be negative, and percent be 0 to 100 with two decimals at most")
	}
	return reconcile.Allowance{Cents: a.Minor, BasisPoints: points.Num().Int64()}, nil
}

// judging are the rules that lines and labels are judged by.
func (s settings) judging() reconcile.Rules {
	return reconcile.Rules{
		AsOf:        s.asOf,
		GraceDays:   s.grace,
		Zone:        s.zone,
		Tolerances:  s.tolerances,
		LateDays:    s.rules.LateDays,
		DisputeDays: s.rules.DisputeDays,
		DoubtDays:   s.rules.DoubtDays,
	}
}

// knows tells whether an account is among those listed, zeros in front aside.
func (c carrierRules) knows(account string) bool {
	return len(c.Accounts) == 0 || slices.ContainsFunc(c.Accounts, func(a accountRules) bool {
		return reconcile.SameAccount(a.Number, account)
	})
}

// judgeAccounts reports accounts that nobody listed, and invoices that should have come by now.
func (r *reconciliation) judgeAccounts(rules reconcile.Rules) error {
	invoices := r.ledger.Invoices()
	seen := make(map[string]bool)
	for _, i := range invoices {
		if !seen[i.Account] && !r.settings.rules.knows(i.Account) {
			seen[i.Account] = true
			if err := r.find(reconcile.AboutAccount(i)); err != nil {
				return err
			}
		}
	}
	for _, a := range r.settings.rules.Accounts {
		rhythm := reconcile.Rhythm{Carrier: r.settings.carrier, Account: a.Number, Every: a.EveryDays}
		for _, i := range invoices {
			if reconcile.SameAccount(a.Number, i.Account) && i.Date <= r.settings.asOf {
				rhythm.Last = max(rhythm.Last, i.Date)
			}
		}
		if err := r.findIf(rules.JudgeRhythm(rhythm)); err != nil {
			return err
		}
	}
	return nil
}
