package report

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"waybill/carrier"
	"waybill/reconcile"
)

// SummaryName is the file with the run's parameters and totals.
const SummaryName = "summary.json"

// summarySchema is raised when a member of summary.json changes its meaning or goes away.
const summarySchema = 1

// summary is summary.json: the run's parameters and totals, for machines.
type summary struct {
	SchemaVersion int               `json:"schema_version"`
	ExitStatus    int               `json:"exit_status"`
	Result        Result            `json:"result"`
	Parameters    summaryParameters `json:"parameters"`
	Files         []summaryFile     `json:"files"`
	Invoices      []summaryInvoice  `json:"invoices"`
	Labels        []summaryLabels   `json:"labels"`
	CompletedKeys int64             `json:"completed_keys_checked"`
	Findings      []summaryFindings `json:"findings"`
}

type summaryParameters struct {
	Carrier   string `json:"carrier"`
	AsOf      string `json:"as_of"`
	Since     string `json:"since,omitzero"`
	Timezone  string `json:"timezone"`
	GraceDays int    `json:"grace_days"`
	KeyTTL    string `json:"key_ttl"`
}

type summaryFile struct {
	Name     string   `json:"name"`
	SHA256   string   `json:"sha256,omitzero"`
	Format   string   `json:"format,omitzero"`
	Lines    int64    `json:"lines"`
	Rejected int64    `json:"rejected_rows"`
	Ignored  []string `json:"ignored_columns"`
	Refused  string   `json:"refused,omitzero"`
}

type summaryMoney struct {
	Minor   int64  `json:"minor"`
	Decimal string `json:"decimal"`
}

type summaryBucket struct {
	Bucket string       `json:"bucket"`
	Lines  int64        `json:"lines"`
	Amount summaryMoney `json:"amount"`
}

type summaryInvoice struct {
	InvoiceNo  string          `json:"invoice_no"`
	Date       string          `json:"invoice_date"`
	Account    string          `json:"account"`
	Currency   string          `json:"currency"`
	Stated     summaryMoney    `json:"stated_total"`
	Buckets    []summaryBucket `json:"buckets"`
	Lines      int64           `json:"lines"`
	Sum        summaryMoney    `json:"sum_of_lines"`
	Difference summaryMoney    `json:"difference"`
	Foots      bool            `json:"foots"`
}

type summaryLabels struct {
	Currency string         `json:"currency"`
	Labels   int64          `json:"labels"`
	Cost     summaryMoney   `json:"cost"`
	States   []summaryState `json:"states"`
}

type summaryState struct {
	State  reconcile.LabelState `json:"state"`
	Labels int64                `json:"labels"`
	Cost   summaryMoney         `json:"cost"`
}

type summaryFindings struct {
	Kind       reconcile.Kind     `json:"kind"`
	Severity   reconcile.Severity `json:"severity"`
	Count      int64              `json:"count"`
	Currency   string             `json:"currency,omitzero"`
	Difference *summaryMoney      `json:"difference,omitzero"`
}

// summarise adds up what was found.
func (r *Report) summarise(run Run) *summary {
	p := run.Parameters
	s := &summary{
		SchemaVersion: summarySchema,
		ExitStatus:    r.Result().ExitStatus(),
		Result:        r.Result(),
		Parameters: summaryParameters{
			Carrier:   p.Carrier,
			AsOf:      p.AsOf.String(),
			Since:     p.Since.String(),
			Timezone:  p.Zone.String(),
			GraceDays: p.GraceDays,
			KeyTTL:    p.KeyTTL,
		},
		CompletedKeys: run.CompletedKeys,
	}
	for _, f := range run.Files {
		s.Files = append(s.Files, summaryFile(f))
	}
	for _, i := range run.Invoices {
		s.Invoices = append(s.Invoices, summariseInvoice(i))
	}
	s.Labels = summariseLabels(run.Labels)
	for _, f := range r.totals.Findings() {
		entry := summaryFindings{Kind: f.Kind, Severity: f.Severity, Count: f.Count, Currency: f.Currency}
		if f.Currency != "" {
			difference := money(f.Cents, f.Currency)
			entry.Difference = &difference
		}
		s.Findings = append(s.Findings, entry)
	}
	return s
}

func summariseInvoice(i *reconcile.Invoice) summaryInvoice {
	out := summaryInvoice{
		InvoiceNo:  i.InvoiceNo,
		Date:       i.Date.String(),
		Account:    i.Account,
		Currency:   i.Currency,
		Stated:     money(i.StatedCents, i.Currency),
		Lines:      i.Lines.Count,
		Sum:        money(i.Lines.Cents, i.Currency),
		Difference: money(i.Difference(), i.Currency),
		Foots:      i.Foots(),
	}
	for b, sum := range i.Buckets {
		out.Buckets = append(out.Buckets, summaryBucket{
			Bucket: reconcile.Bucket(b).String(), Lines: sum.Count, Amount: money(sum.Cents, i.Currency),
		})
	}
	return out
}

// summariseLabels groups the totals, which come sorted by currency.
func summariseLabels(totals []reconcile.LabelTotal) []summaryLabels {
	var out []summaryLabels
	var cost int64
	for _, t := range totals {
		if len(out) == 0 || out[len(out)-1].Currency != t.Currency {
			out = append(out, summaryLabels{Currency: t.Currency})
			cost = 0
		}
		last := &out[len(out)-1]
		cost += t.Cents
		last.Labels += t.Count
		last.Cost = money(cost, t.Currency)
		last.States = append(last.States, summaryState{State: t.State, Labels: t.Count, Cost: money(t.Cents, t.Currency)})
	}
	return out
}

func money(cents int64, currency string) summaryMoney {
	return summaryMoney{Minor: cents, Decimal: carrier.Money{Cents: cents, Currency: currency}.Decimal()}
}

func writeSummary(to *files, s *summary) error {
	file, err := to.create(SummaryName)
	if err != nil {
		return err
	}
	err = json.MarshalWrite(file, s, jsontext.WithIndent("  "))
	if err == nil {
		_, err = file.WriteString("\n")
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", SummaryName, err)
	}
	return nil
}
