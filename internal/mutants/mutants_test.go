package mutants_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	plantAll = flag.Bool("plant", false, "plant every mutant and expect its test to fail")
	onlyOf   = flag.String("mutants", "", "plant only the mutants whose name matches")
	by       = flag.String("by", "", "see which mutants this test finds, in the packages that have it")
)

const (
	module = "../.."

	// testTimeout ends a mutant that hangs. That is not how a test finds a bug.
	testTimeout = "90s"

	// atOnce is how many mutants are compiled and tested at a time.
	atOnce = 2
)

// TestEveryMutantApplies keeps the table in step with the code: an edit that no longer finds its place
// would be a bug that nobody looks for.
func TestEveryMutantApplies(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, m := range table {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			changed, err := m.apply()
			require.NoError(t, err)
			if strings.HasSuffix(m.file, ".go") {
				_, err := parser.ParseFile(token.NewFileSet(), m.file, changed, parser.AllErrors)
				require.NoError(t, err)
			}
			require.True(t, hasTest(t, m), "%s has no %s", m.pkg, m.red)
		})
		require.False(t, names[m.name], "two mutants are called %q", m.name)
		names[m.name] = true
	}
}

// hasTest tells whether the package has the test that is to turn red.
func hasTest(t *testing.T, m mutant) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(module, m.pkg, "*_test.go"))
	require.NoError(t, err)
	name, _, _ := strings.Cut(m.red, "/")
	return slices.ContainsFunc(files, func(file string) bool {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		return bytes.Contains(source, []byte("func "+name+"("))
	})
}

// apply returns the file with the bug in it.
func (m mutant) apply() ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(module, m.file))
	if err != nil {
		return nil, fmt.Errorf("reading what %q changes: %w", m.name, err)
	}
	for _, e := range m.edits {
		if n := bytes.Count(source, []byte(e.old)); n != 1 {
			return nil, fmt.Errorf("%q: %s holds %d times, not once:\n%s", m.name, m.file, n, e.old)
		}
		source = bytes.Replace(source, []byte(e.old), []byte(e.new), 1)
	}
	return source, nil
}

// TestEveryMutantIsFound plants the bugs, for `make mutants`. A test that fails with a bug must pass
// without it a moment later: a machine too busy for a test is no find.
func TestEveryMutantIsFound(t *testing.T) { //nolint:paralleltest // it takes the whole machine
	if !*plantAll {
		return
	}
	chosen := chosenMutants(t)
	sound := compile(t, chosen)
	verdicts := make([]verdict, len(chosen))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, m := range chosen {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			began := time.Now()
			var err error
			if verdicts[i], err = plant(t.Context(), m, sound[m.pkg], t.TempDir()); err != nil {
				t.Errorf("%q: %v", m.name, err)
			}
			verdicts[i].took = time.Since(began)
			t.Logf("%q: %d tests red after %s", m.name, len(verdicts[i].failed), verdicts[i].took.Round(time.Second))
		})
	}
	wg.Wait()
	report(t, chosen, verdicts)
}

// compile makes the test programs without any bug, by package.
func compile(t *testing.T, mutants []mutant) map[string]string {
	t.Helper()
	programs := map[string]string{}
	for _, m := range mutants {
		if programs[m.pkg] != "" {
			continue
		}
		programs[m.pkg] = filepath.Join(t.TempDir(), "sound.test")
		cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", programs[m.pkg], m.pkg)
		cmd.Dir = module
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return programs
}

func chosenMutants(t *testing.T) []mutant {
	t.Helper()
	pattern, err := regexp.Compile(*onlyOf)
	require.NoError(t, err)
	chosen := slices.DeleteFunc(slices.Clone(table), func(m mutant) bool { return !pattern.MatchString(m.name) })
	if *by != "" {
		for i := range chosen {
			chosen[i].red = *by
		}
		chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return !hasTest(t, m) })
	}
	require.NotEmpty(t, chosen)
	return chosen
}

// verdict is what a package's tests said.
type verdict struct {
	failed []string // by full name
	passed bool
	output string
	took   time.Duration
}

// plant tests one mutant: with its file replaced for the compiler alone.
func plant(ctx context.Context, m mutant, sound, dir string) (verdict, error) {
	changed, err := m.apply()
	if err != nil {
		return verdict{}, err
	}
	mutated := filepath.Join(dir, filepath.Base(m.file))
	overlay := filepath.Join(dir, "overlay.json")
	original, err := filepath.Abs(filepath.Join(module, m.file))
	if err != nil {
		return verdict{}, err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return verdict{}, err
	}
	if err := errors.Join(os.WriteFile(mutated, changed, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return verdict{}, err
	}
	v, err := runTest(ctx, m.pkg, m.red, overlay)
	if err != nil || v.passed {
		return v, err
	}
	cmd := exec.CommandContext(ctx, sound, append(flags(), "-test.run", runPattern(m.red), "-test.timeout", testTimeout)...)
	cmd.Dir = filepath.Join(module, m.pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return v, fmt.Errorf("%s fails without the mutant as well: %w\n%s", m.red, err, out)
	}
	return v, nil
}

// flags are for test programs that draw: one failure is enough.
func flags() []string {
	if *by == "" {
		return nil
	}
	return []string{"-rapid.nofailfile", "-rapid.shrinktime=1ns"}
}

// runTest runs one test of a package, compiled with the overlay.
func runTest(ctx context.Context, pkg, test, overlay string) (verdict, error) {
	args := []string{
		"test", "-json", "-count=1", "-vet=off", "-timeout", testTimeout, "-overlay", overlay,
		"-run", runPattern(test), pkg,
	}
	cmd := exec.CommandContext(ctx, "go", append(args, flags()...)...)
	cmd.Dir = module
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return verdict{}, fmt.Errorf("testing %s: %w", pkg, err)
	}
	v := verdict{passed: err == nil}
	var text strings.Builder
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var event struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return verdict{}, fmt.Errorf("reading what %s says: %w", test, err)
		}
		text.WriteString(event.Output)
		if event.Action == "fail" && event.Test != "" {
			v.failed = append(v.failed, event.Test)
		}
	}
	v.output = text.String()
	if strings.Contains(v.output, "panic: test timed out") {
		return v, fmt.Errorf("%s hangs: a test that times out has found nothing", test)
	}
	if !v.passed && len(v.failed) == 0 {
		return v, fmt.Errorf("%s does not compile, or ends before its tests do:\n%s", pkg, v.output)
	}
	return v, nil
}

// runPattern matches this test and no other, level by level.
func runPattern(test string) string {
	levels := strings.Split(test, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}

// report prints the table, and fails for each mutant that lives.
func report(t *testing.T, mutants []mutant, verdicts []verdict) {
	t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "mutant\tred test\tseconds")
	found := 0
	for i, m := range mutants {
		red := m.pkg + " " + m.red
		if slices.Contains(verdicts[i].failed, m.red) {
			found++
		} else {
			red = "SURVIVES " + red
			t.Errorf("%q survives %s: %s", m.name, m.red, m.why)
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f\n", m.name, red, verdicts[i].took.Seconds())
	}
	fmt.Fprintf(w, "%d of %d found\t\t\n", found, len(mutants))
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
	t.Logf("\n%s", b.String())
}
