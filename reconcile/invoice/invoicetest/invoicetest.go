// Package invoicetest asks of every dialect what all of them promise, and keeps what they read in golden
// files. It is for tests.
package invoicetest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// update rewrites the golden files: go test ./carrier/ups -update.
var update = flag.Bool("update", false, "write what dialects read to the golden files")

// Kept is a sink that keeps everything.
type Kept struct {
	Lines   []invoice.Line
	Rejects []invoice.Rejection
	Columns []string
}

// Line implements [invoice.Sink].
func (k *Kept) Line(l invoice.Line) error { k.Lines = append(k.Lines, l); return nil }

// Reject implements [invoice.Sink].
func (k *Kept) Reject(r invoice.Rejection) error { k.Rejects = append(k.Rejects, r); return nil }

// Ignored implements [invoice.Sink].
func (k *Kept) Ignored(columns []string) { k.Columns = append(k.Columns, columns...) }

// Read reads a file that its dialect must be able to read.
func Read(t *testing.T, d invoice.Dialect, file string) *Kept {
	t.Helper()
	var k Kept
	require.NoError(t, d.Read(strings.NewReader(file), &k))
	return &k
}

// Refused is the fault and the advice with which a dialect refuses a file.
func Refused(t *testing.T, d invoice.Dialect, file string) *invoice.FileError {
	t.Helper()
	err := d.Read(strings.NewReader(file), &Kept{})
	var refused *invoice.FileError
	require.ErrorAs(t, err, &refused)
	return refused
}

// Golden reads every *.csv of testdata and holds what comes out against the golden file beside it. The
// dialect must know each file by its content.
func Golden(t *testing.T, d invoice.Dialect, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file) //nolint:gosec // G304: a file of testdata.
			require.NoError(t, err)
			require.True(t, d.Detect(content[:min(len(content), 8<<10)]), "known by its content")
			got := Read(t, d, string(content)).String()
			golden := strings.TrimSuffix(file, ".csv") + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden) //nolint:gosec // G304: a file of testdata.
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// String writes everything, one line or rejection a row, for golden files.
func (k *Kept) String() string {
	var b strings.Builder
	for _, l := range k.Lines {
		fmt.Fprintf(&b, "%d %s %s %s %s", l.Source.Row, l.Carrier, l.Account, l.InvoiceNo, l.InvoiceDate)
		if l.Unstated {
			b.WriteString(" total unstated\n")
		} else {
			fmt.Fprintf(&b, " total %s\n", carrier.Money{Cents: l.StatedCents, Currency: l.Amount.Currency}.Decimal())
		}
		fmt.Fprintf(&b, "    %s %s %s", l.Kind, l.Amount.Decimal(), l.Amount.Currency)
		if l.Correction {
			b.WriteString(" correction")
		}
		if l.Informative {
			b.WriteString(" informative")
		}
		for _, f := range []struct{ name, value string }{
			{"line", l.LineNo},
			{"text", l.Text},
			{"tracking", l.TrackingNo},
			{"master", l.MasterTrackingNo},
			{"replaces", l.OriginalTrackingNo},
			{"reference", l.Reference},
			{"shipped", l.ShipDate.String()},
			{"corrects invoice", l.OriginalInvoiceNo},
		} {
			if f.value != "" {
				fmt.Fprintf(&b, "; %s %s", f.name, f.value)
			}
		}
		b.WriteString("\n")
	}
	for _, r := range k.Rejects {
		fmt.Fprintf(&b, "%d rejected: %s %s: %s\n", r.Source.Row, r.Fault, r.Column, r.Advice)
	}
	if k.Columns != nil {
		fmt.Fprintf(&b, "not read: %s\n", strings.Join(k.Columns, ", "))
	}
	return b.String()
}

// Check holds a dialect to its promises whatever it is fed: it ends in an advice or not at all, every line
// can be judged, and every rejection says where and what to do. Fuzz targets call it.
func Check(t *testing.T, d invoice.Dialect, file []byte) {
	t.Helper()
	var k Kept
	err := d.Read(bytes.NewReader(file), &k)
	if refused := new(invoice.FileError); err != nil && (!errors.As(err, &refused) || refused.Advice == "") {
		t.Fatalf("an error that is no advice: %v", err)
	}
	d.Detect(file)
	for _, l := range k.Lines {
		if complaint := unfit(l); complaint != "" {
			t.Fatalf("%s: %+v", complaint, l)
		}
	}
	for _, r := range k.Rejects {
		if r.Source.Row < 1 || r.Advice == "" || r.Fault == "" {
			t.Fatalf("a rejection without place, fault or advice: %+v", r)
		}
	}
}

// unfit says what makes a line one that cannot be judged.
func unfit(l invoice.Line) string {
	if _, known := invoice.ParseKind(string(l.Kind)); !known {
		return "a line of no kind"
	}
	if l.Kind == invoice.VoidCredit && l.Amount.Cents > 0 {
		return "a void credit that charges"
	}
	if !carrier.IsCurrency(l.Amount.Currency) {
		return "a line without a currency"
	}
	if l.Unstated && l.StatedCents != 0 {
		return "a total that is stated and not"
	}
	for name, id := range map[string]string{
		"carrier": l.Carrier, "account": l.Account, "invoice": l.InvoiceNo, "line number": l.LineNo,
	} {
		if id == "" {
			return "a line without " + name
		}
	}
	for _, id := range []string{l.Account, l.InvoiceNo, l.LineNo, l.TrackingNo, l.MasterTrackingNo, l.OriginalTrackingNo, l.Reference} {
		if invoice.Corrupted(id) || invoice.Damaged(id) || len(id) > 64 {
			return "an identifier that is none"
		}
	}
	if invoice.Damaged(l.Text) || l.Source.Row < 1 || l.InvoiceDate == 0 {
		return "a line without text, row or day"
	}
	return ""
}
