package main

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"waybill/carrier"
	"waybill/reconcile/invoice"
)

// staging is a connection with an empty table of lines.
func staging(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), setup(t).url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(t.Context())) })
	_, err = conn.Exec(t.Context(), stageTable)
	require.NoError(t, err)
	return conn
}

// TestCopiedLinesAreWhatWasRead: whatever characters they hold, and over several batches.
func TestCopiedLinesAreWhatWasRead(t *testing.T) {
	t.Parallel()
	conn := staging(t)
	odd := []string{"", `\N`, `\.`, `a\tb`, "a\tb", "a\nb", "a\r\nb", `\`, "ä€😀", `"'`, "E'"}
	c := copier{conn: conn}
	// More than two batches.
	const lines = 30_000
	for n := range lines {
		require.NoError(t, c.add(t.Context(), 2, 7, invoice.Line{
			Source: invoice.Source{Row: n}, Account: "A\\1", InvoiceNo: "0012", InvoiceDate: 20_000, LineNo: fmt.Sprint(n),
			Kind: invoice.Fuel, Correction: n%2 == 0, Informative: n%3 == 0, TrackingNo: "1Z", MasterTrackingNo: "M",
			OriginalTrackingNo: "O", Reference: "R", ShipDate: 19_999, Text: odd[n%len(odd)],
			Amount: carrier.Money{Cents: -int64(n), Currency: "USD"}, StatedCents: 1 << 60,
		}))
	}
	require.NoError(t, c.flush(t.Context()))
	rows, err := conn.Query(t.Context(), `
		SELECT
			row_no, charge_text, correction, informative, cents,
			(file_no, bill_no, account, invoice_no, invoice_date, kind, tracking_no, master_no, original_no, reference,
				ship_date, currency, stated_cents)::text
		FROM staged_lines
		ORDER BY row_no`)
	require.NoError(t, err)
	var row, read int
	var text, rest string
	var correction, informative bool
	var cents int64
	_, err = pgx.ForEachRow(rows, []any{&row, &text, &correction, &informative, &cents, &rest}, func() error {
		require.Equal(t, read, row)
		require.Equal(t, odd[row%len(odd)], text)
		require.Equal(t, []bool{row%2 == 0, row%3 == 0}, []bool{correction, informative})
		require.Equal(t, -int64(row), cents)
		require.Equal(t, `(2,7,"A\\1",0012,20000,fuel,1Z,M,O,R,19999,USD,1152921504606846976)`, rest)
		read++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, lines, read)
}

// TestCopyThatFailsSaysSo: an error of an earlier batch comes with a later line, or at the end.
func TestCopyThatFailsSaysSo(t *testing.T) {
	t.Parallel()
	conn := staging(t)
	_, err := conn.Exec(t.Context(), `ALTER TABLE staged_lines ADD CHECK (cents < 5)`)
	require.NoError(t, err)
	c := copier{conn: conn}
	require.NoError(t, c.add(t.Context(), 0, 0, invoice.Line{Amount: carrier.Money{Cents: 5}}))
	require.ErrorContains(t, c.flush(t.Context()), "copying lines")
	require.NoError(t, c.wait())
}
