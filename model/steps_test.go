package model_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	mistakes = regexp.MustCompile(`\b(?:BUG|LIMIT)_[A-Z_]+`)

	inlines   = regexp.MustCompile(`(?m)^inline (\w+)\(`)
	stepRow   = regexp.MustCompile("(?m)^\\| (`.+?) \\| (.+?) \\| (.+?) \\|$")
	quoted    = regexp.MustCompile("`([^`]+)`")
	pointCall = regexp.MustCompile(`fault\.Point\(ctx, "(\w+)", "(\w+)"\)`)
	inTx      = regexp.MustCompile(`\.inTx\((?:ctx|context\.WithoutCancel\(ctx\)), "(\w+)"`)
)

// TestStepsAreMapped: the table in docs/model.md has every step of the models; each names functions
// that there are, and fault points that are in the code.
func TestStepsAreMapped(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "model.md"))
	require.NoError(t, err)
	points := faultPoints(t)
	mapped := map[string]bool{}
	for _, row := range stepRow.FindAllStringSubmatch(string(page), -1) {
		for _, step := range quoted.FindAllStringSubmatch(row[1], -1) {
			mapped[step[1]] = true
		}
		for _, function := range quoted.FindAllStringSubmatch(row[2], -1) {
			file, name, ok := strings.Cut(function[1], ":")
			require.True(t, ok, "%s: not a file and a function", function[1])
			require.Regexp(t, `(?m)^func (\([^)]*\) )?`+name+`\(`, read(t, filepath.Join("..", file)), "%s is gone", function[1])
		}
		for _, point := range quoted.FindAllStringSubmatch(row[3], -1) {
			require.Contains(t, points, point[1], "%s: no such fault point", row[1])
		}
	}
	for _, file := range []string{intent, clock} {
		for _, step := range inlines.FindAllStringSubmatch(read(t, file), -1) {
			require.True(t, mapped[step[1]], "%s: the table says nothing of %s", file, step[1])
		}
	}
}

// faultPoints are the points in the code: those that are written out, and the three that every
// transaction has.
func faultPoints(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../outbox/*.go")
	require.NoError(t, err)
	points := map[string]bool{}
	for _, file := range files {
		source := read(t, file)
		for _, p := range pointCall.FindAllStringSubmatch(source, -1) {
			points[p[1]+"."+p[2]] = true
		}
		for _, event := range inTx.FindAllStringSubmatch(source, -1) {
			for _, step := range []string{"before_begin", "before_commit", "after_commit"} {
				points[event[1]+"."+step] = true
			}
		}
	}
	return points
}
