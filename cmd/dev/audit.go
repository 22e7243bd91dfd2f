package main

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// report is what the demonstration reads of summary.json.
type report struct {
	Invoices []struct {
		Foots bool `json:"foots"`
	} `json:"invoices"`
	Findings []struct {
		Kind       string `json:"kind"`
		Count      int    `json:"count"`
		Currency   string `json:"currency"`
		Difference struct {
			Decimal string `json:"decimal"`
		} `json:"difference"`
	} `json:"findings"`
}

// found are the findings by kind: how many, and of how much money.
func (r report) found() map[string]string {
	found := map[string]string{}
	for _, f := range r.Findings {
		found[f.Kind] = fmt.Sprintf("%d, of %s %s", f.Count, f.Difference.Decimal, f.Currency)
	}
	return found
}

// count is how many findings there are of a kind.
func (r report) count(kind string) (n int) {
	for _, f := range r.Findings {
		if f.Kind == kind {
			n += f.Count
		}
	}
	return n
}

// foots tells whether each invoice's lines add up to the total that it states.
func (r report) foots() bool {
	for _, i := range r.Invoices {
		if !i.Foots {
			return false
		}
	}
	return len(r.Invoices) > 0
}

func (s *story) reconcileHonest(ctx context.Context) error {
	s.step("The carrier's invoice, compared with our records",
		"Every night finance compares what carriers bill with the labels and keys on record.")
	status, r, _, err := s.reconcile(ctx, "invoice", "")
	if err != nil {
		return err
	}
	s.check("exit status (0 means clean)", 0, status)
	for _, f := range r.Findings {
		s.honest += f.Count
	}
	s.check("findings", 0, s.honest)
	s.check("the invoice's lines add up to its total", true, r.foots())
	return nil
}

// orphanCents is what the simulator bills for a label that nobody bought.
const orphanCents = 1234

func (s *story) reconcilePlanted(ctx context.Context) error {
	s.step("An invoice with three mistakes",
		"One label is billed on two lines, one that was given back is billed all the same, and one nobody bought.")
	status, r, lines, err := s.reconcile(ctx, "invoice-planted", "double,after_void,orphan")
	if err != nil {
		return err
	}
	for _, line := range lines {
		s.say("     " + line)
	}
	s.check("exit status (1 means findings)", 1, status)
	for _, f := range r.Findings {
		s.planted += f.Count
	}
	first, found := decode[label](s.first), r.found()
	s.check("findings", 3, s.planted)
	s.check("billed on two lines", "1, of "+money(first.CostCents, first.Currency), found["possible_duplicate_line"])
	s.check("billed after the void", "1, of "+money(s.crowded.CostCents, s.crowded.Currency), found["billed_voided"])
	s.check("billed, and bought by nobody", "1, of "+money(orphanCents, first.Currency), found["billed_no_label"])
	s.check("the invoice's lines add up to its total", true, r.foots())
	return nil
}

// reconcile fetches an invoice of the simulated carrier and has it compared.
func (s *story) reconcile(ctx context.Context, name, plant string) (int, report, []string, error) {
	text, err := s.client.invoice(ctx, plant)
	if err != nil {
		return 0, report{}, nil, err
	}
	file := filepath.Join(s.stack.dir, name+".csv")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return 0, report{}, nil, fmt.Errorf("writing the invoice: %w", err)
	}
	// The second invoice bears the number of the first: it is played, and not to be kept.
	return s.reconcileFile(ctx, "sim", file, "--no-store")
}

// reconcileFile has an invoice compared. It returns the exit status, the report, and the lines about
// findings that it printed.
func (s *story) reconcileFile(ctx context.Context, carrier, file, flag string) (int, report, []string, error) {
	out := file + "-report"
	stdout, status, err := s.stack.run(ctx, "reconcile", "run", "--carrier", carrier,
		flag, "--as-of", time.Now().UTC().Format(time.DateOnly), "--out", out, file)
	if err != nil {
		return 0, report{}, nil, err
	}
	text, err := os.ReadFile(filepath.Join(out, "summary.json"))
	if err != nil {
		return 0, report{}, nil, fmt.Errorf("reconcile ended with status %d and left no report: %w", status, err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return 0, report{}, nil, fmt.Errorf("reading the report: %w", err)
	}
	return status, r, toLookAt(stdout), nil
}

// toLookAt are the lines under the heading of that name.
func toLookAt(stdout []byte) []string {
	_, rest, _ := bytes.Cut(stdout, []byte("\nTo look at\n"))
	section, _, _ := bytes.Cut(rest, []byte("\n\n"))
	var lines []string
	for line := range bytes.Lines(section) {
		lines = append(lines, string(bytes.TrimSpace(line)))
	}
	return lines
}

// summarise holds our records against the carrier's, for the whole story.
func (s *story) summarise(ctx context.Context) error {
	intents, err := s.db.count(ctx, `SELECT count(*) FROM label_intents`)
	if err != nil {
		return fmt.Errorf("counting label intents: %w", err)
	}
	labels, err := s.db.count(ctx, `SELECT count(*) FROM labels`)
	if err != nil {
		return fmt.Errorf("counting labels: %w", err)
	}
	charges, err := s.client.charges(ctx)
	if err != nil {
		return err
	}
	charged := map[string]bool{}
	for _, c := range charges {
		charged[c.Reference] = true
	}
	const parcels = 5
	s.say("", "What is on record now                                     expected   seen")
	for _, row := range []struct {
		what           string
		expected, seen int
	}{
		{"parcels that were to get a label (label intents)", parcels, intents},
		{"labels in our records", parcels, labels},
		{"charges in the carrier's own ledger", parcels, len(charges)},
		{"charged more than once by our doing", 0, len(charges) - len(charged)},
		{"findings on the carrier's honest invoice", 0, s.honest},
		{"findings on the invoice with three planted mistakes", 3, s.planted},
	} {
		s.row(row.what, row.expected, row.seen)
	}
	return nil
}

// row is a line of the summary table, and a check like any other.
func (t *teller) row(what string, expected, seen int) {
	mark := "✓"
	t.checked++
	if expected != seen {
		mark = "✗"
		t.failed++
	}
	fmt.Fprintf(t.out, "%s %-56s %7d %6d\n", mark, what, expected, seen)
}
