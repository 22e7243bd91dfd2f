package report_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"waybill/reconcile"
	"waybill/reconcile/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares text with a file that a person has read.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), got))
}

func printed(t *testing.T, r *report.Report, dir string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.Print(&out))
	return strings.ReplaceAll(out.String(), dir, "OUT")
}

func TestReportLooksAsAPersonHasReadIt(t *testing.T) {
	t.Parallel()
	r, dir := publish(t, parameters, everything(), told())
	written := files(t, dir)
	require.Equal(t, []string{
		"disputes-sim-0000%2F12.csv", "disputes-sim-SIM-1.csv", "exceptions.csv", "exceptions.xlsx", "invoices.csv",
		"report.html", "summary.json",
	}, slices.Sorted(maps.Keys(written)))
	for name, content := range written {
		if name == report.WorkbookName {
			content = workbookText(t, content)
			name = "exceptions.xlsx.txt"
		}
		golden(t, name, content)
	}
	golden(t, "terminal.txt", printed(t, r, dir))
}

func TestReportIsTheSameBytesEachTime(t *testing.T) {
	t.Parallel()
	_, dir := publish(t, parameters, everything(), told())
	want := files(t, dir)
	for range 5 {
		// Into the folder of the report before, and into a new one.
		publishIn(t, dir, parameters, everything(), told())
		_, other := publish(t, parameters, everything(), told())
		for _, folder := range []string{dir, other} {
			require.Empty(t, cmp.Diff(want, files(t, folder)))
		}
	}
}

func TestReportRemovesDisputeFilesOfTheReportBefore(t *testing.T) {
	t.Parallel()
	_, dir := publish(t, parameters, everything(), told())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "disputes-by-hand.csv"), nil, 0o600))
	publishIn(t, dir, parameters, nil, told())
	require.Equal(t, []string{
		"disputes-by-hand.csv", "exceptions.csv", "exceptions.xlsx", "invoices.csv", "report.html", "summary.json",
	}, slices.Sorted(maps.Keys(files(t, dir))))
}

func TestReportLeavesTheFolderAsItWasUnlessPublished(t *testing.T) {
	t.Parallel()
	_, dir := publish(t, parameters, everything(), told())
	want := files(t, dir)

	r, err := report.Open(dir, parameters)
	require.NoError(t, err)
	require.NoError(t, r.Find(finding(1, reconcile.BilledTwice)))
	run := told()
	run.Bought[0].Labels++
	require.ErrorContains(t, r.Publish(run), "3 labels for 2480 JPY were bought, of which 1 for 0 are not accounted for")
	require.NoError(t, r.Close())
	require.Empty(t, cmp.Diff(want, files(t, dir)))
}
