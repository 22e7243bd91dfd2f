package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile/invoice"
	"waybill/reconcile/report"
)

// TestPlainNumbersAreWhatTheRulesSay: thousands of numbers, most of them at the edge of being plain, are
// judged twice: plain ones in the database, and all of them by the rules. The reports are the same, byte
// for byte.
func TestPlainNumbersAreWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := &edges{bundle: b, chance: rand.New(rand.NewPCG(1, 2))}
	e.sow(3000)
	quick, plain := e.report(false)
	whole, none := e.report(true)
	require.Equal(t, whole, quick)
	require.Zero(t, none)
	// Of the simplest numbers, which are a quarter of all, every one; of the others those that are like them.
	require.Greater(t, plain, 700)
	require.Less(t, plain, 2000)
}

// edges are numbers that differ in one thing or another from the simplest.
type edges struct {
	*bundle
	chance *rand.Rand
	labels int
	lines  []invoice.Line
}

// sow makes so many numbers.
func (e *edges) sow(n int) {
	e.t.Helper()
	var intents, labels [][]any
	for i := range n {
		number := fmt.Sprintf("SIM%06d", i)
		cents := e.some(e.rarely(), int64(840), 0, 841, 740, 1680)
		for range e.some(e.rarely(), 1, 0, 2) {
			intent, label := e.label(number, cents)
			intents, labels = append(intents, intent), append(labels, label)
		}
		if e.rarely() {
			e.parts(number)
			continue
		}
		for range e.some(e.rarely(), 1, 2, 3) {
			e.line(number, i, n)
		}
	}
	(&proof{bundle: e.bundle}).copy(intents, labels)
}

// rarely is true for what is not as it is with the simplest. Three numbers of four have something of the kind.
func (e *edges) rarely() bool { return e.chance.IntN(12) == 0 }

// some is the usual, or one of others.
func (e *edges) some(other bool, usual int64, others ...int64) int64 {
	if !other {
		return usual
	}
	return others[e.chance.IntN(len(others))]
}

func (e *edges) text(other bool, usual string, others ...string) string {
	if !other {
		return usual
	}
	return others[e.chance.IntN(len(others))]
}

// printed is the day of every invoice.
var printed = time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)

func (e *edges) label(number string, cents int64) (intent, row []any) {
	e.labels++
	l := label{n: e.labels}
	age := e.some(e.rarely(), 10, -3, -2, -1, 0, 198, 199, 200, 201, 400)
	at := printed.AddDate(0, 0, -int(age)).Add(time.Duration(e.some(e.rarely(), 10, 0, 23)) * time.Hour)
	state, voided := "none", (*time.Time)(nil)
	if e.rarely() {
		state, voided = "voided", new(at.AddDate(0, 0, int(e.some(e.rarely(), 1, 20))))
	}
	return []any{
		l.intentID(), "fulfilment", key(l.n), make([]byte, 32), "r", l.n, 1, 1, "sim", reference(l.n), "{}", "purchased",
		nil, l.labelID(), at, at,
	}, []any{
		l.labelID(), l.intentID(), "fulfilment", l.n, 1, 1, "sim", e.text(e.rarely(), "SIM-1", "0SIM-1", "SIM-2"), "ground",
		number, cents, e.text(e.rarely(), "USD", "EUR"), "pdf", key(l.n), "carrier", reference(l.n),
		fmt.Sprint("C", l.n), "call", at, state, voided,
	}
}

// parts bills a price in parts, with a discount that may look like a credit, a part that may be a correction
// and one that may be on another invoice.
func (e *edges) parts(number string) {
	for i, cents := range [][]int64{{420, 420}, {740, 200, -100}, {840, 100, -100}}[e.chance.IntN(3)] {
		e.line(number, 0, 1)
		l := &e.lines[len(e.lines)-1]
		l.Kind, l.Amount.Cents = invoice.Freight, cents
		l.Correction = i > 0 && e.chance.IntN(4) == 0
		l.InvoiceNo = e.text(i > 0 && e.chance.IntN(4) == 0, "INV-1", "INV-2")
		if i > 0 {
			l.Kind = invoice.Accessorial
		}
	}
}

func (e *edges) line(number string, i, n int) {
	elsewhere := fmt.Sprintf("SIM%06d", (i+1)%n)
	kind := invoice.Freight
	if e.rarely() {
		kind = invoice.Kinds()[e.chance.IntN(len(invoice.Kinds()))]
	}
	l := invoice.Line{
		Source: invoice.Source{Row: len(e.lines) + 1}, Carrier: "sim", Account: e.text(e.rarely(), "SIM-1", "0SIM-1"),
		InvoiceNo: e.text(e.rarely(), "INV-1", "INV-2"), LineNo: fmt.Sprint(len(e.lines)), Kind: kind, Correction: e.rarely(),
		InvoiceDate: invoice.DateOf(printed, time.UTC), TrackingNo: e.text(e.rarely(), number, ""),
		MasterTrackingNo: e.text(e.rarely(), "", number, elsewhere), OriginalTrackingNo: e.text(e.rarely(), "", number, elsewhere),
		Reference: e.text(e.rarely(), "", reference(i+1)), Text: `Ground \N` + "\ta", Unstated: true,
		Amount: carrier.Money{
			Cents: e.some(e.rarely(), 840, 420, 0, 100, -100, -840, 839), Currency: e.text(e.rarely(), "USD", "EUR"),
		},
	}
	if e.rarely() {
		l.ShipDate = l.InvoiceDate - invoice.Date(e.some(true, 0, 1, 9, 10, 12, 13))
	}
	e.lines = append(e.lines, l)
}

// Name, Detect and Read make it a dialect, so that it is read as a file is.
func (*edges) Name() string { return "edges" }

// Detect implements [invoice.Dialect].
func (*edges) Detect([]byte) bool { return true }

// Read implements [invoice.Dialect].
func (e *edges) Read(r io.Reader, sink invoice.Sink) error {
	for _, l := range e.lines {
		if err := sink.Line(l); err != nil {
			return err
		}
	}
	_, err := io.Copy(io.Discard, r)
	return err
}

// report judges all, by the rules alone if so asked, and returns the report's files and how many numbers
// were plain.
func (e *edges) report(byRules bool) (files map[string]string, plain int) {
	e.t.Helper()
	ctx, dir := e.t.Context(), filepath.Join(e.t.TempDir(), "report")
	conn, err := pgx.Connect(ctx, e.url)
	require.NoError(e.t, err)
	defer func() { require.NoError(e.t, conn.Close(ctx)) }()
	asOf, err := invoice.ParseDate("2026-03-31")
	require.NoError(e.t, err)
	s := settings{carrier: "sim", asOf: asOf, grace: 14, zone: time.UTC, keyTTL: time.Hour}
	out, err := report.Open(dir, s.told())
	require.NoError(e.t, err)
	path, sum := e.file("edges.csv", "edges"), sha256.Sum256([]byte("edges"))
	r := newReconciliation(s, []*inputFile{
		{path: path, name: "edges.csv", sha256: hex.EncodeToString(sum[:]), dialect: e},
	}, conn, out, io.Discard)

	snap, err := r.prepare(ctx)
	require.NoError(e.t, err)
	if byRules {
		_, err := snap.tx.Exec(ctx, `UPDATE staged_numbers SET plain = false`)
		require.NoError(e.t, err)
	}
	require.NoError(e.t, snap.tx.QueryRow(ctx, `SELECT count(*) FROM staged_numbers WHERE plain`).Scan(&plain))
	run, err := r.judgeAll(ctx, snap)
	require.NoError(e.t, err)
	require.NoError(e.t, out.Publish(run))
	require.NoError(e.t, out.Close())
	files = make(map[string]string)
	for _, name := range []string{report.ExceptionsName, report.InvoicesName, report.SummaryName} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(e.t, err)
		files[name] = string(content)
	}
	return files, plain
}
