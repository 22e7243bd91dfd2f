//go:build size

package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/testdb"
)

var sizeLines = flag.Int("size.lines", 200_000, "how many lines, and labels, the smaller of the two runs has")

// linesPerInvoice is a week of a large shipper.
const linesPerInvoice = 5000

// TestSize runs the command over so many lines against so many labels, and over twice as many, and says
// how fast it was and how much memory it took. It is no test of speed, which depends on the machine; it
// fails where memory grows with the lines, or time faster than they do.
func TestSize(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "reconcile")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	var took []time.Duration
	for _, lines := range []int{*sizeLines, 2 * *sizeLines} {
		url := testdb.URL(t)
		fill(t, url, lines)
		file := printSize(t, lines)
		for _, args := range [][]string{{"--no-store"}, nil} {
			run := exec.CommandContext(t.Context(), binary, append(append([]string{
				"run", "--carrier=sim", "--as-of=2026-03-31", "--out=" + t.TempDir(),
			}, args...), file)...)
			run.Env = append(os.Environ(), "DATABASE_URL="+url)
			began := time.Now()
			out, err := run.CombinedOutput()
			spent := time.Since(began)
			require.Equal(t, exitFindings, run.ProcessState.ExitCode(), "%s %v", out, err)
			usage, ok := run.ProcessState.SysUsage().(*syscall.Rusage)
			require.True(t, ok)
			t.Logf("%9d lines %-12v %8.1fs  %8.0f lines/s  %4d MB at most", lines, args,
				spent.Seconds(), float64(lines)/spent.Seconds(), usage.Maxrss>>10)
			require.Less(t, usage.Maxrss>>10, int64(256), "memory must not grow with the lines")
			if args != nil {
				took = append(took, spent)
			}
		}
	}
	ratio := took[1].Seconds() / took[0].Seconds()
	t.Logf("twice the lines take %.2f times as long", ratio)
	require.Less(t, ratio, 3.0)
}

// fill buys labels, the database's way.
func fill(t *testing.T, url string, n int) {
	t.Helper()
	pool := testdb.Pool(t, url)
	for _, sql := range []string{
		`INSERT INTO label_intents (
			intent_id, caller_id, idem_key, request_hash, request_id, order_id, parcel_no, label_version,
			carrier, reference, request, created_at
		)
		SELECT
			('0195b000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'fulfilment', 'k' || n,
			decode(repeat('00', 32), 'hex'), 'r', n, 1, 1, 'sim', 'REF' || lpad(n::text, 9, '0'), '{}', '2026-03-01'
		FROM generate_series(1, $1::integer) AS n`,
		`INSERT INTO labels (
			label_id, intent_id, caller_id, order_id, parcel_no, label_version, carrier, account, service,
			tracking_no, cost_cents, currency, label_format, created_by_key, carrier_key, reference,
			carrier_label_id, learned_by, bought_at
		)
		SELECT
			('0195a000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
			('0195b000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'fulfilment', n, 1, 1, 'sim', 'SIM-1',
			'ground', 'SIM' || lpad((n::bigint * 7919 % 1000000007)::text, 12, '0'), 840, 'USD', 'pdf', 'k' || n, 'c',
			'REF' || lpad(n::text, 9, '0'), 'C' || n, 'call', '2026-03-01'
		FROM generate_series(1, $1::integer) AS n`,
		`UPDATE label_intents
		SET state = 'purchased', finished_at = '2026-03-01',
			label_id = ('0195a000-0000-7000-8000-' || lpad(order_id::text, 12, '0'))::uuid
		WHERE order_id <= $1::integer`,
	} {
		_, err := pool.Exec(t.Context(), sql, n)
		require.NoError(t, err)
	}
	_, err := pool.Exec(t.Context(), `ANALYZE`)
	require.NoError(t, err)
}

// printSize prints invoices for the labels: one in a thousand costs too much.
func printSize(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "invoices.csv")
	file, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriterSize(file, 1<<20)
	fmt.Fprintln(w, "invoice_no,invoice_date,carrier,account,currency,line_no,kind,tracking_no,reference,amount,invoice_total")
	price := func(i int) int {
		if i%1000 == 0 {
			return 940
		}
		return 840
	}
	for first := 1; first <= n; first += linesPerInvoice {
		total, last := 0, min(first+linesPerInvoice-1, n)
		for i := first; i <= last; i++ {
			total += price(i)
		}
		for i := first; i <= last; i++ {
			fmt.Fprintf(w, "INV-%06d,2026-03-15,sim,SIM-1,USD,%d,freight,SIM%012d,REF%09d,%d.%02d,%d.%02d\n", first/linesPerInvoice,
				i-first+1, i*7919%1000000007, i, price(i)/100, price(i)%100, total/100, total%100)
		}
	}
	require.NoError(t, w.Flush())
	require.NoError(t, file.Close())
	return path
}
