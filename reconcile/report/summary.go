package report

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"waybill/reconcile"
)

// SummaryName is the file with the run's parameters and totals, for machines. It is put in its place
// last and says which other files belong to it.
const SummaryName = "summary.json"

// summarySchema is raised when a member of summary.json changes its meaning or goes away. Members may
// be added without. summary.schema.json describes this version.
//
// Version 3: a label whose charge was given back in full is refunded, and no longer called as a finding is
// that a person says was credited.
//
// Version 2: rollforward replaces labels, and holds how the labels stand against what was bought; an
// invoice names its carrier, holds sum_of_buckets in place of sum_of_lines, and may state no total;
// footing, stakes, changes, claims, void_credits and outputs are new.
const summarySchema = 3

// summary is summary.json, and what the other outputs take their totals from.
type summary struct {
	SchemaVersion int                 `json:"schema_version"`
	ExitStatus    int                 `json:"exit_status"`
	Result        Result              `json:"result"`
	Parameters    summaryParameters   `json:"parameters"`
	Files         []summaryFile       `json:"files"`
	Invoices      []summaryInvoice    `json:"invoices"`
	Footing       []summaryFooting    `json:"footing"`
	Rollforward   []rollforward       `json:"rollforward"`
	CompletedKeys int64               `json:"completed_keys_checked"`
	Findings      []summaryFindings   `json:"findings"`
	Urgent        int64               `json:"to_look_at"`
	Stakes        []summaryStake      `json:"stakes"`
	Changes       summaryChanges      `json:"changes"`
	Claims        []summaryClaim      `json:"claims"`
	VoidCredits   []summaryVoidCredit `json:"void_credits"`
	Outputs       []summaryOutput     `json:"outputs"`
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

// summaryInvoice is an invoice. Stated is nil where its file states no total: there is nothing to hold
// the lines against then, and no difference.
type summaryInvoice struct {
	Carrier    string          `json:"carrier"`
	InvoiceNo  string          `json:"invoice_no"`
	Date       string          `json:"invoice_date"`
	Account    string          `json:"account"`
	Currency   string          `json:"currency"`
	Stated     *summaryMoney   `json:"stated_total,omitzero"`
	Buckets    []summaryBucket `json:"buckets"`
	Lines      int64           `json:"lines"`
	Sum        summaryMoney    `json:"sum_of_buckets"`
	Difference summaryMoney    `json:"difference"`
	Foots      bool            `json:"foots"`
}

// summaryFooting is all invoices of one currency together: stated total + unstated - difference = sum of
// buckets. Unstated is what stands on invoices that state no total.
type summaryFooting struct {
	Currency   string `json:"currency"`
	Invoices   int64  `json:"invoices"`
	NotFooting int64  `json:"invoices_not_footing"`
	// WithoutTotal is how many invoices state no total: nothing proves that their lines are all.
	WithoutTotal int64           `json:"invoices_without_total"`
	Stated       summaryMoney    `json:"stated_total"`
	Unstated     summaryMoney    `json:"unstated"`
	Buckets      []summaryBucket `json:"buckets"`
	Lines        int64           `json:"lines"`
	Sum          summaryMoney    `json:"sum_of_buckets"`
	Difference   summaryMoney    `json:"difference"`
}

// summaryFindings is the findings of one kind. Urgent are those that ask somebody to look.
type summaryFindings struct {
	Kind       reconcile.Kind     `json:"kind"`
	Severity   reconcile.Severity `json:"severity"`
	Count      int64              `json:"count"`
	Urgent     int64              `json:"to_look_at"`
	Currency   string             `json:"currency,omitzero"`
	Difference *summaryMoney      `json:"difference,omitzero"`
}

// summaryStake is the money of the findings of a kind that ask somebody to look: asked too much if
// it is positive, not asked if it is negative.
type summaryStake struct {
	Kind     reconcile.Kind `json:"kind"`
	Count    int64          `json:"count"`
	Currency string         `json:"currency"`
	Amount   summaryMoney   `json:"amount"`
}

// summaryChanges is what became of the findings since the run before.
type summaryChanges struct {
	StateKept    bool   `json:"state_kept"`
	Since        string `json:"since,omitzero"`
	New          int64  `json:"new"`
	StillOpen    int64  `json:"still_open"`
	Acknowledged int64  `json:"acknowledged"`
	Disputed     int64  `json:"disputed"`
	Credited     int64  `json:"credited"`
	Cleared      int64  `json:"cleared"`
}

type summaryClaim struct {
	Carrier   string       `json:"carrier"`
	Account   string       `json:"account"`
	Currency  string       `json:"currency"`
	Count     int64        `json:"count"`
	Amount    summaryMoney `json:"amount"`
	DisputeBy string       `json:"first_dispute_by,omitzero"`
	File      string       `json:"file"`
}

// summaryVoidCredit is the void credits that are due since so many days, up to ToDays, or without end.
type summaryVoidCredit struct {
	Currency string       `json:"currency"`
	FromDays int          `json:"from_days"`
	ToDays   int          `json:"to_days,omitzero"`
	Count    int64        `json:"count"`
	Amount   summaryMoney `json:"amount"`
}

type summaryOutput struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

func writeSummary(to *files, s *summary) error {
	o, err := to.create(SummaryName)
	if err != nil {
		return err
	}
	// A file may be called by bytes that are no text; what else is not is mended before.
	err = json.MarshalWrite(o, s, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		_, err = o.Write([]byte("\n"))
	}
	if err = errors.Join(err, o.close()); err != nil {
		return fmt.Errorf("writing %s: %w", SummaryName, err)
	}
	return nil
}
