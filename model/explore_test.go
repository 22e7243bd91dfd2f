package model_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	explore = flag.Bool("explore", false, "explore every variant; needs spin and gcc, and installs them where it can")
	all     = flag.Bool("all", false, "explore the long variants too: some minutes, and 2 GB of memory")
)

const (
	// deepest is the longest path that is followed, by far more than there is: a longer one would end
	// the exploration as an error.
	deepest = "500000"

	// buckets is the size of the table of states, as a power of two.
	buckets = "22"
)

// row is one line of the table that is printed.
type row struct {
	variant
	verdict string
	states  int
	seconds float64
}

// TestEveryVariant has Spin explore the model: what must hold holds in every state there is, and what
// must be refuted is, by the law it breaks.
func TestEveryVariant(t *testing.T) {
	t.Parallel()
	variants := slices.Concat(holds, bugs, limits)
	if !*explore {
		requireSound(t, variants)
		return
	}
	install(t)
	began := time.Now()
	var mu sync.Mutex
	rows := make([]row, len(variants))
	t.Cleanup(func() { require.NoError(t, printTable(rows, time.Since(began))) })
	for i, v := range variants {
		if v.long && !*all {
			continue
		}
		t.Run(v.title(), func(t *testing.T) {
			t.Parallel()
			r := v.explore(t)
			mu.Lock()
			defer mu.Unlock()
			rows[i] = r
		})
	}
}

// requireSound keeps the table and the models together: every mistake that a model knows is a variant,
// and no variant asks for what no model knows.
func requireSound(t *testing.T, variants []variant) {
	t.Helper()
	used := map[string]bool{}
	titles := map[string]bool{}
	for _, v := range variants {
		require.False(t, titles[v.title()], "two variants are called %q", v.title())
		titles[v.title()] = true
		source := read(t, v.file)
		for _, d := range v.define {
			name, _, _ := strings.Cut(d, "=")
			require.Contains(t, source, name, "%s: nothing in %s asks for it", v.title(), v.file)
			used[v.file+" "+name] = true
		}
		if v.law != "" {
			require.Contains(t, source, "#define "+v.law+" ", "%s has no such law", v.file)
		}
	}
	for _, file := range []string{intent, clock} {
		for _, mistake := range mistakes.FindAllString(read(t, file), -1) {
			require.True(t, used[file+" "+mistake], "%s: no variant has %s", file, mistake)
		}
	}
}

// TestVariantsAreTold: the page says of every variant what came of it.
func TestVariantsAreTold(t *testing.T) {
	t.Parallel()
	page := read(t, filepath.Join("..", "docs", "model.md"))
	for _, v := range slices.Concat(holds, bugs, limits) {
		if v.long {
			continue
		}
		require.Contains(t, page, fmt.Sprintf("| %s: %s | ", strings.TrimSuffix(v.file, ".pml"), v.name))
		if v.law != "" {
			require.Contains(t, page, fmt.Sprintf("| %s: %s | `%s` |", strings.TrimSuffix(v.file, ".pml"), v.name, v.law))
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(content)
}

// title names a variant in the output, unlike any other.
func (v variant) title() string {
	return fmt.Sprintf("%s/%s/%d", strings.TrimSuffix(v.file, ".pml"), v.name, v.count())
}

func (v variant) count() int {
	if v.workers == 0 {
		return 2
	}
	return v.workers
}

// flags are the definitions as the preprocessor takes them.
func (v variant) flags() []string {
	flags := []string{"-DW=" + strconv.Itoa(v.count())}
	for _, d := range v.define {
		flags = append(flags, "-D"+d)
	}
	if v.alone {
		flags = append(flags, "-DLAW="+v.law)
	}
	return flags
}

// explore runs one variant in a folder of its own and holds it to what it must do.
func (v variant) explore(t *testing.T) row {
	t.Helper()
	dir := t.TempDir()
	source := read(t, v.file)
	require.NoError(t, os.WriteFile(filepath.Join(dir, v.file), []byte(source), 0o600))
	run(t, dir, "spin", slices.Concat([]string{"-a"}, v.flags(), []string{v.file})...)
	optimise := "-O0" // mostly, compiling is what takes the time
	if v.heavy {
		optimise = "-O2"
	}
	run(t, dir, "gcc", optimise, "-w", "-DSAFETY", "-DNOFAIR", "-o", "pan", "pan.c")
	out, seconds := run(t, dir, "./pan", "-m"+deepest, "-w"+buckets)
	e, err := readPan(out)
	require.NoError(t, err, out)
	r := row{variant: v, states: e.states, seconds: seconds}
	if !e.broken {
		require.Empty(t, v.law, "nothing was found out: the model lets this pass\n%s", out)
		require.Empty(t, e.unreached, "the model has steps that are never taken")
		r.verdict = "holds"
		return r
	}
	trail, _ := run(t, dir, "spin", slices.Concat([]string{"-t", "-p", "-g", "-l"}, v.flags(), []string{v.file})...)
	law, err := readTrail(trail, source)
	require.NoError(t, err, trail)
	if law == "LAW" {
		law = v.law
	}
	require.Equal(t, v.law, law, "this is how it is broken:\n%s", trail)
	r.verdict = "refuted: " + law
	return r
}

// run runs a program and returns what it said, and the processor time it took.
func run(t *testing.T, dir, program string, args ...string) (string, float64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Run(), "%s %s\n%s", program, strings.Join(args, " "), &out)
	return out.String(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// install sees to it that the programs are there.
func install(t *testing.T) {
	t.Helper()
	if found("spin") && found("gcc") {
		return
	}
	const packages = "spin gcc libc6-dev"
	if !found("apt-get") || os.Geteuid() != 0 {
		require.Fail(t, "Spin and gcc are needed",
			"run `sudo apt-get install %s`, or `brew install spin gcc`, or get it from https://spinroot.com", packages)
	}
	run(t, "", "apt-get", "update")
	run(t, "", "env", append([]string{
		"DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends",
	}, strings.Fields(packages)...)...)
}

func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func printTable(rows []row, took time.Duration) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nmodel\tvariant\tworkers\tverdict\tstates\tseconds")
	var refuted, held, total int
	for _, r := range rows {
		if r.verdict == "" {
			continue
		}
		if r.law == "" {
			held++
		} else {
			refuted++
		}
		total += r.states
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%.1f\n",
			strings.TrimSuffix(r.file, ".pml"), r.name, r.count(), r.verdict, r.states, r.seconds)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	fmt.Printf("\n%d variants hold, %d are refuted as they must be; %d states, explored completely, in %.0f s\n",
		held, refuted, total, took.Seconds())
	return nil
}
