package pgcluster

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// oldest is the oldest Postgres that the service supports.
const oldest = 14

// ensureServer returns the folder of the newest installed server's programs, after installing one
// if there is none.
func ensureServer(ctx context.Context, log io.Writer) (string, error) {
	return ensure(ctx, postgresPackage, log, func() (string, bool) { return findServer(ctx) })
}

// findServer looks where distributions put Postgres; of several the newest wins.
func findServer(ctx context.Context) (string, bool) {
	var best string
	bestMajor := oldest - 1
	for _, dir := range serverDirs(ctx) {
		if major := serverMajor(ctx, dir); major > bestMajor {
			best, bestMajor = dir, major
		}
	}
	return best, best != ""
}

// serverDirs lists the folders that may hold the server's programs.
func serverDirs(ctx context.Context) []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		// Resolved, because what lies beside a link need not be the server's other programs.
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian and its kin
		"/usr/libexec/postgresql*",          // Alpine
		"/usr/pgsql-*/bin",                  // the PostgreSQL project's RPMs
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		matches, _ := filepath.Glob(pattern) // the only error is a malformed pattern
		dirs = append(dirs, matches...)
	}
	return dirs
}

var majorVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// serverMajor is the major version of the server in dir, or 0 if it holds none.
func serverMajor(ctx context.Context, dir string) int {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return 0
		}
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0
	}
	match := majorVersion.FindSubmatch(out)
	if match == nil {
		return 0
	}
	major, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return 0
	}
	return major
}
