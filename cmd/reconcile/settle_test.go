package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// doubt inserts an intent in doubt that was called for an account, as the worker leaves one.
func (b *bundle) doubt(n int, account string) {
	b.t.Helper()
	b.intent(label{n: n}, "in_doubt")
	b.exec(`
		UPDATE label_intents
		SET calls = 1, open_calls = 1, first_called_at = $2, called_account = $3,
			request = '{"service": "ground", "label_format": "pdf", "max_cost_cents": 2000}'
		WHERE intent_id = $1`, label{n: n}.intentID(), bought, account)
	b.exec(`
		INSERT INTO idempotency_keys (caller_id, idem_key, request_hash, created_at)
		VALUES ('fulfilment', $1, decode(repeat('00', 32), 'hex'), $2)`, key(n), bought)
}

func (b *bundle) intentState() (state string) {
	b.t.Helper()
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(),
		`SELECT state FROM label_intents WHERE intent_id = $1`, label{n: 1}.intentID()).Scan(&state))
	return state
}

func TestAnInvoiceLineSettlesAnIntentInDoubt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doubt(1, "SIM-1")
	b.invoiceFile("march.csv", "INV-1", "9.30",
		row{tracking: "SIM000077", ref: reference(1), amount: "8.40"},
		row{kind: "fuel", tracking: "SIM000077", ref: reference(1), amount: "0.90"},
	)
	require.Equal(t, exitFindings, b.run("--no-store").status)
	require.Equal(t, "in_doubt", b.intentState(), "without --settle nothing of the outbox is changed")

	// Once, however often it is run.
	for range 2 {
		got := b.run("--settle")
		require.Equal(t, exitClean, got.status, got.stderr)
		require.Equal(t, []string{"info intent_settled SIM000077 0.00"}, b.exceptions())
	}
	require.Equal(t, "purchased", b.intentState())
	var cost int64
	var account, service, actor, why string
	require.NoError(t, b.pool.QueryRow(t.Context(), `
		SELECT l.cost_cents, l.account, l.service, c.actor, c.carrier_message
		FROM labels l
		JOIN carrier_calls c USING (intent_id)
		WHERE c.kind = 'settle'`).Scan(&cost, &account, &service, &actor, &why))
	require.Equal(t, int64(930), cost)
	require.Equal(t, []string{"SIM-1", "ground", runner}, []string{account, service, actor})
	require.Contains(t, why, "INV-1")
}

// stored is a line of an earlier run's invoice, whose parcel belongs to a shipment or replaced another.
func (b *bundle) stored(invoiceNo, tracking, master, original string) {
	b.t.Helper()
	b.exec(`
		WITH file AS (
			INSERT INTO invoice_files (carrier, sha256, name, format, lines, rejected, first_as_of)
			VALUES ('sim', repeat('0', 64), 'before.csv', 'neutral', 1, 0, '2026-03-01')
			RETURNING file_id
		), invoice AS (
			INSERT INTO invoices (
				carrier, account, invoice_no, currency, invoice_date, stated_cents, lines, cents, foots, digests,
				first_as_of
			) VALUES ('sim', 'SIM-1', $1, 'USD', '2026-03-15', 100, 1, 100, true, '{1}', '2026-03-01')
			RETURNING invoice_id
		)
		INSERT INTO invoice_lines (
			invoice_id, file_id, row_no, line_no, kind, correction, tracking_no, master_no, original_no, reference,
			charge_text, cents
		)
		SELECT invoice_id, file_id, 2, '1', 'fuel', false, $2, $3, $4, '', 'Fuel', 100
		FROM file, invoice`, invoiceNo, tracking, master, original)
}

func TestASettledLabelIsListedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doubt(1, "SIM-1")
	one := row{tracking: "SIM000077", ref: reference(1), amount: "8.40"}
	b.invoiceFile("march.csv", "INV-1", "8.40", one)
	require.Equal(t, exitClean, b.run("--settle").status)
	b.file("april.csv", printInvoiceFile("INV-0", "2026-03-22", "8.40", one))
	require.Equal(t, exitFindings, b.run("--settle").status)
	require.Equal(t, []string{"error billed_twice SIM000077 8.40", "info intent_settled SIM000077 0.00"}, b.exceptions())
	require.Equal(t, "INV-1", b.exceptionRows()[1]["invoice_no"], "the line that proved it")
}

func TestWhatDoesNotProveAPurchaseSettlesNothing(t *testing.T) {
	t.Parallel()
	one := row{tracking: "SIM000077", ref: reference(1), amount: "8.40"}
	for name, tt := range map[string]struct {
		account string
		total   string
		rows    []row
		also    func(*bundle)
	}{
		"ChargedTwice":         {"SIM-1", "16.80", []row{one, one}, nil},
		"ChargedAndCredited":   {"SIM-1", "0.00", []row{one, {kind: "void_credit", tracking: "SIM000077", amount: "-8.40"}}, nil},
		"AnotherAccountCalled": {"SIM-2", "8.40", []row{one}, nil},
		"NoTrackingNumber":     {"SIM-1", "8.40", []row{{ref: reference(1), amount: "8.40"}}, nil},
		"TwoTrackingNumbers": {"SIM-1", "9.30", []row{
			one, {kind: "fuel", tracking: "SIM000078", ref: reference(1), amount: "0.90"},
		}, nil},
		"NoFreight":      {"SIM-1", "8.40", []row{{kind: "fuel", tracking: "SIM000077", ref: reference(1), amount: "8.40"}}, nil},
		"MoreThanItMay":  {"SIM-1", "20.01", []row{{tracking: "SIM000077", ref: reference(1), amount: "20.01"}}, nil},
		"DoesNotFoot":    {"SIM-1", "9.00", []row{one}, nil},
		"AnothersNumber": {"SIM-1", "8.40", []row{one}, func(b *bundle) { b.buy(label{n: 2, tracking: "SIM000077"}) }},
		"ClaimedByTwo": {"SIM-1", "8.40", []row{one}, func(b *bundle) {
			b.doubt(2, "SIM-1")
			b.invoiceFile("b.csv", "INV-2", "8.40", row{tracking: "SIM000077", ref: reference(2), amount: "8.40"})
		}},
		"CalledLongAfter": {"SIM-1", "8.40", []row{one}, func(b *bundle) { b.exec(`UPDATE label_intents SET first_called_at = '2026-03-20T00:00:00Z'`) }},
		"HeldByAWorker": {"SIM-1", "8.40", []row{one}, func(b *bundle) {
			b.exec(`UPDATE idempotency_keys SET lease_token = gen_random_uuid(), locked_until = now() + interval '1 hour'`)
		}},
		"NumberOfAShipment": {"SIM-1", "8.40", []row{one}, func(b *bundle) {
			b.stored("INV-0", "SIM000078", "SIM000077", "")
		}},
		"NumberThatWasReplaced": {"SIM-1", "8.40", []row{one}, func(b *bundle) {
			b.stored("INV-0", "SIM000078", "", "SIM000077")
		}},
		"InTwoCurrencies": {"SIM-1", "8.40", []row{
			one, {kind: "fuel", tracking: "SIM000077", amount: "8.40", currency: "EUR"},
		}, nil},
		"InvoiceContested": {"SIM-1", "8.40", []row{one}, func(b *bundle) {
			b.invoiceFile("other.csv", "INV-1", "0.00", one, row{kind: "void_credit", tracking: "SIM000077", amount: "-8.40"})
		}},
		"LookupMayTell": {"SIM-1", "8.40", []row{one}, func(b *bundle) { b.exec(`UPDATE label_intents SET settled_by = 'lookup'`) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.doubt(1, tt.account)
			b.invoiceFile("march.csv", "INV-1", tt.total, tt.rows...)
			if tt.also != nil {
				tt.also(b)
			}
			got := b.run("--settle")
			require.NotEqual(t, exitInternal, got.status, got.stderr)
			require.Equal(t, "in_doubt", b.intentState())
			require.Equal(t, 0, b.count("carrier_calls"))
		})
	}
}

func TestSettlingIsNoMatterOfALookBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doubt(1, "SIM-1")
	require.Equal(t, exitClean, b.runOver([]string{b.invoiceFile("a.csv", "INV-0", "0.00", row{kind: "tax", amount: "0.00"})}, "--as-of=2026-04-30").status)
	b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: "SIM000077", ref: reference(1), amount: "8.40"})
	require.Equal(t, exitFindings, b.run("--settle").status)
	require.Equal(t, "in_doubt", b.intentState())
}

// TestTheAccountThatWasCalledIsKept: carriers pad accounts with zeros on their invoices.
func TestTheAccountThatWasCalledIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doubt(1, "0SIM-1")
	b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: "SIM000077", ref: reference(1), amount: "8.40"})
	b.run("--settle")
	require.Equal(t, "purchased", b.intentState())
	var account string
	require.NoError(t, b.pool.QueryRow(t.Context(), `SELECT account FROM labels`).Scan(&account))
	require.Equal(t, "0SIM-1", account)
}

func TestSettlingNeedsTheMemory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.doubt(1, "SIM-1")
	b.invoiceFile("march.csv", "INV-1", "8.40", row{tracking: "SIM000077", ref: reference(1), amount: "8.40"})
	got := b.run("--settle", "--no-store")
	require.Equal(t, exitUsage, got.status, got.stderr)
	require.Contains(t, got.stderr, "--no-store")
	require.Equal(t, "in_doubt", b.intentState())
}
