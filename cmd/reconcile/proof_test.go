package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile/invoicegen"
)

var proofSeeds = flag.Int("proof-seeds", 3, "how many worlds of each dialect the command's proof puts into one database")

// TestTheCommandFindsWhatIsPlanted: several worlds of a dialect as accounts of one database, their files in
// one folder, one run; what it reports is what was planted, and nobody's name or street gets out of the files
// into a report, onto a terminal or into a table.
func TestTheCommandFindsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	for _, dialect := range []invoicegen.Dialect{
		invoicegen.Neutral, invoicegen.UPS, invoicegen.FedEx, invoicegen.FedExIntl, invoicegen.DHL, invoicegen.USPS,
	} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			p := &proof{bundle: setup(t), doubts: make(map[string]string)}
			for slot := range *proofSeeds {
				p.add(invoicegen.New(invoicegen.Options{
					Seed: uint64(slot), Slot: slot, Dialect: dialect, Labels: 40, Workbooks: true,
				}))
			}
			got := p.run("--carrier="+dialect.Carrier(), "--format=auto", "--as-of="+p.asOf, "--rules="+p.tolerating(dialect))
			require.Empty(t, got.stderr)
			require.Contains(t, []int{exitFindings, exitInput}, got.status)
			require.Empty(t, invoicegen.Compare(p.want, p.found()), "seeds 0 to %d", *proofSeeds-1)
			p.nobodyIsNamed(got)
		})
	}
}

// proof is a database and a folder that several worlds share.
type proof struct {
	*bundle
	asOf     string
	want     []invoicegen.Finding
	canaries []string
	// doubts are the ids of intents in doubt by the number that an invoice settles them with.
	doubts map[string]string
	labels int
}

// add buys a world's labels and puts its files into the folder.
func (p *proof) add(w invoicegen.World) {
	p.t.Helper()
	p.asOf = w.AsOf.Format(time.DateOnly)
	p.want = append(p.want, w.Findings...)
	p.canaries = append(p.canaries, w.Canaries...)
	for _, f := range w.Files {
		require.NoError(p.t, os.WriteFile(filepath.Join(p.in, f.Name), f.Content, 0o600))
	}
	var intents, labels [][]any
	for _, l := range w.Labels {
		p.labels++
		labelID, intentID := label{n: p.labels}.labelID(), label{n: p.labels}.intentID()
		hash := make([]byte, 32)
		if l.InDoubt {
			p.doubts[l.TrackingNo] = intentID
			intents = append(intents, []any{
				intentID, "fulfilment", l.IdempotencyKey, hash, "r", l.OrderID, l.ParcelNo, l.Version, l.Carrier,
				l.Reference, "{}", "in_doubt", "person", nil, l.BoughtAt, nil,
			})
			continue
		}
		intents = append(intents, []any{
			intentID, "fulfilment", l.IdempotencyKey, hash, "r", l.OrderID, l.ParcelNo, l.Version, l.Carrier,
			l.Reference, "{}", "purchased", nil, labelID, l.BoughtAt, l.BoughtAt,
		})
		state, voidedAt := "none", (*time.Time)(nil)
		if !l.VoidedAt.IsZero() {
			state, voidedAt = "voided", &l.VoidedAt
		}
		labels = append(labels, []any{
			labelID, intentID, "fulfilment", l.OrderID, l.ParcelNo, l.Version, l.Carrier, l.Account, "ground",
			l.TrackingNo, l.Cost.Cents, l.Cost.Currency, "pdf", l.IdempotencyKey, "carrier", l.Reference,
			l.CarrierLabelID, "call", l.BoughtAt, state, voidedAt,
		})
	}
	p.copy(intents, labels)
}

// copy inserts intents and labels together: each refers to the other.
func (p *proof) copy(intents, labels [][]any) {
	p.t.Helper()
	require.NoError(p.t, pgx.BeginFunc(p.t.Context(), p.pool, func(tx pgx.Tx) error {
		_, err := tx.CopyFrom(p.t.Context(), pgx.Identifier{"label_intents"}, strings.Split(
			"intent_id,caller_id,idem_key,request_hash,request_id,order_id,parcel_no,label_version,carrier,"+
				"reference,request,state,settled_by,label_id,created_at,finished_at", ","), pgx.CopyFromRows(intents))
		if err != nil {
			return err
		}
		_, err = tx.CopyFrom(p.t.Context(), pgx.Identifier{"labels"}, strings.Split(
			"label_id,intent_id,caller_id,order_id,parcel_no,label_version,carrier,account,service,tracking_no,"+
				"cost_cents,currency,label_format,created_by_key,carrier_key,reference,carrier_label_id,learned_by,"+
				"bought_at,void_state,voided_at", ","), pgx.CopyFromRows(labels))
		return err
	}))
}

// tolerating is a rules file with the tolerances that the worlds reckon with.
func (p *proof) tolerating(d invoicegen.Dialect) string {
	p.t.Helper()
	return p.rulesFile(fmt.Sprintf(
		"carriers:\n  %s:\n    tolerances:\n      price: {over: {minor: %d}, under: {minor: %d}}\n",
		d.Carrier(), invoicegen.Tolerated, invoicegen.Tolerated))
}

// found are the findings of the report, as the worlds put them.
func (p *proof) found() []invoicegen.Finding {
	p.t.Helper()
	var out []invoicegen.Finding
	for _, e := range p.exceptionRows() {
		if e["kind"] == "tax_or_duty" {
			// For the record, and no fault.
			continue
		}
		f := invoicegen.Finding{
			Kind: e["kind"], Account: e["account"], InvoiceNo: e["invoice_no"], TrackingNo: e["tracking_no"],
			Difference: carrier.Money{Currency: cmp.Or(e["expected_currency"], e["billed_currency"])}, Rows: 1,
		}
		f.File, _, _ = strings.Cut(e["source"], ":")
		if e["difference_minor"] != "" {
			cents, err := strconv.ParseInt(e["difference_minor"], 10, 64)
			require.NoError(p.t, err)
			f.Difference.Cents = cents
		}
		if intent := p.doubts[f.TrackingNo]; intent != "" {
			// Whether it is settled or suggested, it names the intent whose reference the line bears.
			require.Equal(p.t, intent, e["intent_id"])
			f.Kind, f.Difference.Cents = "intent_settled", 0
		}
		out = append(out, f)
	}
	return out
}

// nobodyIsNamed looks for the people of the files everywhere a run writes to.
func (p *proof) nobodyIsNamed(r result) {
	p.t.Helper()
	written := map[string]string{"stdout": r.stdout, "stderr": r.stderr}
	report := os.DirFS(p.out)
	require.NoError(p.t, fs.WalkDir(report, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(report, path)
		written[path] = unpacked(p.t, content)
		return err
	}))
	for _, table := range []string{"invoice_files", "invoices", "invoice_lines", "findings"} {
		rows, err := p.pool.Query(p.t.Context(), "SELECT row::text FROM "+table+" AS row")
		require.NoError(p.t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(p.t, err)
		require.NotEmpty(p.t, lines, table)
		written[table] = strings.Join(lines, "\n")
	}
	require.NotEmpty(p.t, p.canaries)
	for where, text := range written {
		text = strings.ToLower(text)
		for _, c := range p.canaries {
			require.NotContains(p.t, text, strings.ToLower(c), where)
		}
	}
}

// unpacked is a file's text, or that of the parts of a workbook.
func unpacked(t *testing.T, content []byte) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return string(content)
	}
	var out strings.Builder
	for _, part := range archive.File {
		r, err := part.Open()
		require.NoError(t, err)
		_, err = io.Copy(&out, r) //nolint:gosec // G110: our own report.
		require.NoError(t, err)
		require.NoError(t, r.Close())
	}
	return out.String()
}
