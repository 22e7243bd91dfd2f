package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
	"waybill/reconcile/report"
)

// bundle is a fresh database, a folder of invoices and a place for the report.
type bundle struct {
	t    *testing.T
	url  string
	pool *pgxpool.Pool
	in   string
	out  string
}

func setup(t *testing.T) *bundle {
	t.Helper()
	url := testdb.URL(t)
	return &bundle{t: t, url: url, pool: testdb.Pool(t, url), in: t.TempDir(), out: filepath.Join(t.TempDir(), "report")}
}

// bought is when labels are bought unless a test says otherwise: a month before the as-of day.
var bought = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// label is a label to insert. Its ids follow from n, so that reports can be compared.
type label struct {
	n        int
	cents    int64
	account  string
	tracking string
	boughtAt time.Time
	voidedAt time.Time

	// key says what the key record is like: "", "completed", "started", "refused".
	key string
	// answer replaces the saved answer's body.
	answer string
}

func (l label) labelID() string {
	return fmt.Sprintf("0195a000-0000-7000-8000-%012d", l.n)
}

func (l label) intentID() string {
	return fmt.Sprintf("0195b000-0000-7000-8000-%012d", l.n)
}

func tracking(n int) string { return fmt.Sprintf("SIM%06d", n) }

func reference(n int) string { return fmt.Sprintf("WB%026d", n) }

// buy inserts a label, its intent and its key record as a purchase leaves them.
func (b *bundle) buy(l label) label {
	b.t.Helper()
	if l.cents == 0 {
		l.cents = 840
	}
	if l.account == "" {
		l.account = "SIM-1"
	}
	if l.tracking == "" {
		l.tracking = tracking(l.n)
	}
	if l.boughtAt.IsZero() {
		l.boughtAt = bought
	}
	b.intent(l, "pending")
	state, voidedAt := "none", (*time.Time)(nil)
	if !l.voidedAt.IsZero() {
		state, voidedAt = "voided", &l.voidedAt
	}
	require.NoError(b.t, pgx.BeginFunc(b.t.Context(), b.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(b.t.Context(), `
			INSERT INTO labels (
				label_id, intent_id, caller_id, order_id, parcel_no, label_version, carrier, account, service,
				tracking_no, cost_cents, currency, label_format, created_by_key, carrier_key, reference,
				carrier_label_id, learned_by, bought_at, void_state, voided_at
			) VALUES (
				$1, $2, 'fulfilment', $3, 1, 1, 'sim', $4, 'ground', $5, $6, 'USD', 'pdf', $7, 'carrier', $8,
				$9, 'call', $10, $11, $12
			)`,
			l.labelID(), l.intentID(), 1000+l.n, l.account, l.tracking, l.cents, key(l.n), reference(l.n),
			fmt.Sprint("C", l.n), l.boughtAt, state, voidedAt)
		if err != nil {
			return err
		}
		_, err = tx.Exec(b.t.Context(), `
			UPDATE label_intents
			SET state = 'purchased', label_id = $2, finished_at = $3
			WHERE intent_id = $1`, l.intentID(), l.labelID(), l.boughtAt)
		return err
	}))
	b.saveKey(l)
	return l
}

func key(n int) string { return fmt.Sprintf("label:%d:1:v1", 1000+n) }

// intent inserts an intent that is not final; buy makes it so.
func (b *bundle) intent(l label, state string) {
	b.t.Helper()
	var settledBy *string
	if state == "in_doubt" {
		settledBy = new("person")
	}
	b.exec(`
		INSERT INTO label_intents (
			intent_id, caller_id, idem_key, request_hash, request_id, order_id, parcel_no, label_version,
			carrier, reference, request, state, settled_by, created_at
		) VALUES (
			$1, 'fulfilment', $2, decode(repeat('00', 32), 'hex'), 'r', $3, 1, 1, 'sim', $4,
			'{"ship_to": {"name": "Jane Doe", "street1": "1 Elm Street"}}', $5, $6, $7
		)`, l.intentID(), key(l.n), 1000+l.n, reference(l.n), state, settledBy, bought)
}

// saveKey inserts the key record, if the label shall have one.
func (b *bundle) saveKey(l label) {
	b.t.Helper()
	if l.answer == "" {
		l.answer = fmt.Sprintf(`{"label_id": %q, "tracking_no": %q}`, l.labelID(), l.tracking)
	}
	status := 201
	switch l.key {
	case "":
		return
	case "started":
		b.exec(`
			INSERT INTO idempotency_keys (caller_id, idem_key, request_hash, created_at)
			VALUES ('fulfilment', $1, decode(repeat('00', 32), 'hex'), $2)`, key(l.n), bought)
		return
	case "refused":
		status = 422
	}
	b.exec(`
		INSERT INTO idempotency_keys (
			caller_id, idem_key, request_hash, state, response_status, response_body, created_at, expires_at
		) VALUES ('fulfilment', $1, decode(repeat('00', 32), 'hex'), 'completed', $2, $3, $4::timestamptz, $4::timestamptz + interval '1 day')`,
		key(l.n), status, []byte(l.answer), bought)
}

func (b *bundle) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}

// row is a line of an invoice to print.
type row struct {
	kind     string
	tracking string
	ref      string
	amount   string
	// currency is USD and text Ground where they are empty.
	currency string
	text     string
}

// invoiceFile prints rows as an invoice of 2026-03-15 that states a total.
func (b *bundle) invoiceFile(name, number, total string, rows ...row) string {
	b.t.Helper()
	return b.file(name, printInvoiceFile(number, "2026-03-15", total, rows...))
}

func printInvoiceFile(number, date, total string, rows ...row) string {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write(strings.Split("invoice_no,invoice_date,carrier,account,currency,line_no,kind,tracking_no,"+
		"reference,ship_date,description,amount,invoice_total,recipient", ","))
	for i, r := range rows {
		kind := r.kind
		if kind == "" {
			kind = "freight"
		}
		_ = w.Write([]string{
			number, date, "sim", "SIM-1", cmp.Or(r.currency, "USD"), fmt.Sprint(i + 1), kind, r.tracking, r.ref, "", cmp.Or(r.text, "Ground"),
			r.amount, total, "Jane Doe",
		})
	}
	w.Flush()
	return out.String()
}

func (b *bundle) file(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.in, name)
	require.NoError(b.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// result is what a run told.
type result struct {
	status         int
	stdout, stderr string
}

// run runs the command over the folder of invoices, as of 2026-03-31; more arguments override.
func (b *bundle) run(args ...string) result {
	b.t.Helper()
	return b.runOver([]string{b.in}, args...)
}

func (b *bundle) runOver(files []string, args ...string) result {
	b.t.Helper()
	// The services' own address: it sizes their pools.
	address, err := url.Parse(b.url)
	require.NoError(b.t, err)
	query := address.Query()
	query.Set("pool_max_conns", "3")
	address.RawQuery = query.Encode()
	env := map[string]string{"DATABASE_URL": address.String()}
	all := append([]string{"run", "--carrier=sim", "--as-of=2026-03-31", "--out=" + b.out}, args...)
	var stdout, stderr bytes.Buffer
	status := run(b.t.Context(), append(all, files...), func(name string) string { return env[name] }, &stdout, &stderr)
	return result{status: status, stdout: stdout.String(), stderr: stderr.String()}
}

// exceptions reads the report: "severity kind tracking difference" for each finding.
func (b *bundle) exceptions() []string {
	b.t.Helper()
	var out []string
	for _, e := range b.exceptionRows() {
		out = append(out, strings.TrimSpace(strings.Join([]string{
			e["severity"], e["kind"], e["tracking_no"], e["difference"],
		}, " ")))
	}
	return out
}

func (b *bundle) exceptionRows() []map[string]string {
	b.t.Helper()
	records, err := csv.NewReader(strings.NewReader(b.reported(report.ExceptionsName))).ReadAll()
	require.NoError(b.t, err)
	var out []map[string]string
	for _, r := range records[1:] {
		e := make(map[string]string)
		for i, name := range records[0] {
			e[name] = r[i]
		}
		_, err := uuid.Parse(e["label_id"])
		require.True(b.t, e["label_id"] == "" || err == nil)
		out = append(out, e)
	}
	return out
}

func (b *bundle) reported(name string) string {
	b.t.Helper()
	content, err := os.ReadFile(filepath.Join(b.out, name))
	require.NoError(b.t, err)
	return string(content)
}

// listing is what lies in the report's folder.
func (b *bundle) listing() []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.out)
	require.NoError(b.t, err)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// nothingReported proves that a run left nothing behind.
func (b *bundle) nothingReported() {
	b.t.Helper()
	entries, err := os.ReadDir(b.out)
	if err != nil {
		require.ErrorIs(b.t, err, os.ErrNotExist)
	}
	require.Empty(b.t, entries)
}
