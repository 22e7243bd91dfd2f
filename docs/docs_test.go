// Package docs holds the pages that describe the service, and a test of what they refer to.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	faultRow = regexp.MustCompile(`(?m)^\| ([A-H]\d+) \| (.+?) \| (.+?) \| (.+) \|$`)
	testName = regexp.MustCompile("`([a-z0-9/]+):(Test[A-Za-z0-9]+)((?:/[^`]+)?)`")
)

// faults are the ids that known-faults.md goes through. None may be left out, and none comes twice.
var faults = map[string][]int{
	"A": {1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34},
	"B": {1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28},
	"C": {1, 2, 4, 5, 7, 8, 10, 11, 13, 14},
	"D": {1, 2, 4, 5, 7, 8, 10, 11},
	"E": {
		1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34, 35, 37, 38, 40,
		41, 43, 44, 46,
	},
	"F": {1, 2, 4, 5, 7, 8, 10},
	"G": {1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26},
	"H": {1, 2, 4, 5, 7, 8, 10, 11, 13, 14},
}

// TestKnownFaults: every row names tests that there are, or says why it needs none.
func TestKnownFaults(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("known-faults.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, row := range faultRow.FindAllStringSubmatch(string(page), -1) {
		require.NotContains(t, rows, row[1], "a row comes twice")
		rows[row[1]] = row[4]
	}
	for section, numbers := range faults {
		for _, n := range numbers {
			id := fmt.Sprint(section, n)
			require.Contains(t, rows, id)
			tests := testName.FindAllStringSubmatch(rows[id], -1)
			require.Len(t, tests, strings.Count(rows[id], ":Test"), "%s names a test in another form: %s", id, rows[id])
			reason := strings.Trim(testName.ReplaceAllString(rows[id], ""), " ·")
			require.True(t, len(tests) > 0 || reason != "", "%s has neither a test nor a reason", id)
			for _, test := range tests {
				requireTest(t, id, test[1], test[2], strings.TrimPrefix(test[3], "/"))
			}
			delete(rows, id)
		}
	}
	require.Empty(t, rows, "rows that nobody expects")
}

// requireTest looks for a test, and for the name of its case, among a package's tests. The cases of a
// suite that a package runs stand in the suite.
func requireTest(t *testing.T, id, in, name, subtest string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", in, "*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "%s: %s has no tests", id, in)
	tests := read(t, files)
	declared := regexp.MustCompile(`\nfunc ` + name + `\(t \*testing\.T\) \{`)
	require.True(t, declared.MatchString(tests), "%s: %s has no %s", id, in, name)
	if subtest == "" {
		return
	}
	body := tests
	if strings.Contains(tests, "carriertest.Run(") {
		suite, err := filepath.Glob("../carrier/carriertest/*.go")
		require.NoError(t, err)
		body += read(t, suite)
	}
	// A name may be made of parts: the first is written out, one way or the other.
	written := regexp.MustCompile(`"/?` + regexp.QuoteMeta(subtest) + `["/]`)
	require.True(t, written.MatchString(body), "%s: %s:%s has no case %s", id, in, name, subtest)
}

func read(t *testing.T, files []string) string {
	t.Helper()
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}

var (
	suiteRow = regexp.MustCompile(`(?m)^\| ([A-Z]\w+)(?: \(\d+ \w+\))? \| [✓–] `)
	suiteRun = regexp.MustCompile(`(?m)^\t\t"([A-Z]\w+)": +\w+,$|t\.Run\("([A-Z]\w+)", func`)
)

// TestConformanceTable: the table of the carriers has a row for each test of the suite, and no other.
func TestConformanceTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("carriers.md")
	require.NoError(t, err)
	suite, err := os.ReadFile("../carrier/carriertest/bench.go")
	require.NoError(t, err)
	var told, run []string
	for _, row := range suiteRow.FindAllStringSubmatch(string(page), -1) {
		told = append(told, row[1])
	}
	for _, test := range suiteRun.FindAllStringSubmatch(string(suite), -1) {
		run = append(run, test[1]+test[2])
	}
	require.NotEmpty(t, run)
	require.ElementsMatch(t, run, told)
}
