package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// errNoPrevious says why there is no previous build.
var errNoPrevious = errors.New("no commit before this one has other programs that know a part of the same schema")

// programs is what the programs are made of, apart from tests.
var programs = []string{
	"cmd/api", "cmd/worker", "caller", "carrier", "internal", "outbox", "migrations", "go.mod",
	":(exclude)*_test.go", ":(exclude)carrier/sim/simserver",
}

// buildPrevious builds the programs of the newest commit that are others than ours and can work with
// our schema.
func buildPrevious() (string, error) {
	git := func(args ...string) ([]byte, error) {
		return exec.CommandContext(context.Background(), "git", append([]string{"-C", ".."}, args...)...).Output()
	}
	out, err := git(append([]string{"log", "--format=%H", "-n", "100", "--"}, programs...)...)
	if err != nil {
		return "", fmt.Errorf("%w: asking git: %w", errNoPrevious, err)
	}
	for commit := range strings.FieldsSeq(string(out)) {
		if _, err := git(append([]string{"diff", "--quiet", commit, "--"}, programs...)...); err == nil {
			continue // These are our own.
		}
		// A program works with a schema newer than its own, as long as it is the same up to there.
		if _, err := git("diff", "--quiet", "--diff-filter=a", commit, "--", "migrations/[0-9]*.sql"); err != nil {
			break // Whatever is older knows another one.
		}
		return buildCommit(commit)
	}
	return "", errNoPrevious
}

// lastMigration is the name of the newest one.
func lastMigration() (string, error) {
	names, err := filepath.Glob(filepath.Join("..", "migrations", "[0-9]*.sql"))
	if err != nil || len(names) == 0 {
		return "", fmt.Errorf("finding the migrations: %w", err)
	}
	return filepath.Base(slices.Max(names)), nil
}

// buildPreviousSchema builds the programs as they were before the newest migration.
func buildPreviousSchema() (string, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(context.Background(), "git", append([]string{"-C", ".."}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	last, err := lastMigration()
	if err != nil {
		return "", err
	}
	added, err := git("log", "--diff-filter=A", "--format=%H", "-n", "1", "--", "migrations/"+last)
	if err != nil {
		return "", fmt.Errorf("%w: asking git: %w", errNoPrevious, err)
	}
	before := "HEAD" // It is not committed yet.
	if added != "" {
		before = added + "^"
	}
	commit, err := git("rev-parse", "--verify", "--quiet", before+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w: the history ends before %s", errNoPrevious, last)
	}
	if _, err := git("diff", "--quiet", "--diff-filter=a", commit, "--", "migrations/[0-9]*.sql"); err != nil {
		return "", fmt.Errorf("%w: a migration before %s was changed since", errNoPrevious, last)
	}
	return buildCommit(commit)
}

// buildPreviousForAll builds the programs that TestUpgrade needs too, if there are any: building takes longer
// than most tests.
func buildPreviousForAll() (string, error) {
	if dir, err := buildPreviousSchema(); err == nil {
		return dir, nil
	}
	return buildPrevious()
}

var previousBuilds sync.Map // from commit to what buildCommit returned

// buildCommit builds the programs of a commit beside ours, once for all runs.
func buildCommit(commit string) (string, error) {
	type result = func() (string, error)
	once, _ := previousBuilds.LoadOrStore(commit, sync.OnceValues(func() (string, error) {
		dir := filepath.Join(binaries, "previous-"+commit[:12])
		source := filepath.Join(dir, "source")
		if err := os.MkdirAll(source, 0o700); err != nil {
			return "", err
		}
		unpack := exec.CommandContext(context.Background(), "sh", "-c", `git -C .. archive "$1" | tar -x -C "$2"`, "sh", commit, source)
		if out, err := unpack.CombinedOutput(); err != nil {
			return "", fmt.Errorf("unpacking %s: %w: %s", commit, err, out)
		}
		// Without the race detector: whether an old build has races is no question any more, and what it
		// is made of has been compiled like this for other purposes.
		cmd := exec.CommandContext(context.Background(),
			"go", "build", "-ldflags", "-s -w", "-o", dir+string(filepath.Separator), "./cmd/api", "./cmd/worker")
		cmd.Dir = source
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s: %w: %s", commit, err, out)
		}
		return dir, nil
	}))
	return once.(result)()
}
