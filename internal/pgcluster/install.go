package pgcluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A software package by the names that package managers know it under.
type software struct {
	what                    string // for messages
	apt, dnf, apk, homebrew string
}

var (
	postgresPackage = software{
		what: "a PostgreSQL server",
		apt:  "postgresql", dnf: "postgresql-server", apk: "postgresql", homebrew: "postgresql@17",
	}
	pgbouncerPackage = software{
		what: "PgBouncer",
		apt:  "pgbouncer", dnf: "pgbouncer", apk: "pgbouncer", homebrew: "pgbouncer",
	}
)

// manager is one package manager.
type manager struct {
	program string
	command []string // shown to people, and run by install after prepare
	prepare [][]string
	root    bool // works as root only
}

// managers lists how to install s, by the package managers there are.
func (s software) managers() []manager {
	return []manager{
		{
			program: "apt-get", root: true,
			prepare: [][]string{{"apt-get", "update"}},
			command: []string{"apt-get", "install", "-y", "--no-install-recommends", s.apt},
		},
		{program: "dnf", root: true, command: []string{"dnf", "install", "-y", s.dnf}},
		{program: "apk", root: true, command: []string{"apk", "add", s.apk}},
		{program: "brew", command: []string{"brew", "install", s.homebrew}},
	}
}

// available picks this machine's package manager.
func (s software) available() (manager, bool) {
	for _, m := range s.managers() {
		if _, err := exec.LookPath(m.program); err == nil {
			return m, true
		}
	}
	return manager{}, false
}

// missing is the error that says what to do.
func (s software) missing() error {
	m, ok := s.available()
	if !ok {
		return fmt.Errorf("%s is needed, and no package manager was found to install it with: "+
			"install it by hand and put it on the PATH", s.what)
	}
	command := strings.Join(m.command, " ")
	if m.root && os.Geteuid() != 0 {
		command = "sudo " + command
	}
	return fmt.Errorf("%s is needed: run `%s`", s.what, command)
}

// install installs s if this process may, or says what to run. Processes that want something
// installed at the same time take turns.
func install(ctx context.Context, s software, log io.Writer) error {
	m, ok := s.available()
	if !ok || m.root && os.Geteuid() != 0 {
		return s.missing()
	}
	unlock, err := lockInstall()
	if err != nil {
		return err
	}
	defer unlock()
	if m.program == "apt-get" {
		restore, err := withoutMainCluster()
		if err != nil {
			return err
		}
		defer restore()
	}
	for _, argv := range append(m.prepare, m.command) {
		fmt.Fprintf(log, "installing %s: %s\n", s.what, strings.Join(argv, " "))
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("installing %s with `%s`: %w: %s",
				s.what, strings.Join(argv, " "), err, tail(string(out)))
		}
	}
	return nil
}

// lockInstall waits until no other process of ours installs anything.
func lockInstall() (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), "waybill-install.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of installations: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("waiting for other installations: %w", err)
	}
	return func() { _ = f.Close() }, nil
}

// withoutMainCluster keeps Debian's package from making and starting a cluster of its own while
// it is installed: we want the programs. The machine's own configuration is left as it was.
func withoutMainCluster() (restore func(), err error) {
	dir := "/etc/postgresql-common/createcluster.d"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making %s: %w", dir, err)
	}
	path := filepath.Join(dir, "waybill.conf")
	if err := os.WriteFile(path, []byte("create_main_cluster = false\n"), 0o644); err != nil {
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return func() { _ = os.Remove(path) }, nil
}

// tail keeps the end of a program's output, where the reason stands.
func tail(out string) string {
	const most = 2000
	out = strings.TrimSpace(out)
	return out[max(0, len(out)-most):]
}
