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

// software is a package by the names that package managers know it under.
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
	faketimePackage = software{
		what: "libfaketime",
		apt:  "faketime", dnf: "libfaketime", apk: "libfaketime", homebrew: "libfaketime",
	}
)

// manager is one package manager.
type manager struct {
	program string
	prepare [][]string // before command, to install and for people to run alike
	command []string
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
	var commands []string
	for _, argv := range append(m.prepare, m.command) {
		if m.root && os.Geteuid() != 0 {
			argv = append([]string{"sudo"}, argv...)
		}
		commands = append(commands, strings.Join(argv, " "))
	}
	command := strings.Join(commands, " && ")
	return fmt.Errorf("%s is needed: run `%s`", s.what, command)
}

// Install finds or installs what this package starts, or starts with: PostgreSQL, PgBouncer,
// libfaketime and strace. Without it they are installed when they are first needed.
func Install(ctx context.Context, log io.Writer) error {
	if _, err := ensureServer(ctx, log); err != nil {
		return err
	}
	if _, err := ensurePgBouncer(ctx, log); err != nil {
		return err
	}
	if _, err := ensureFaketime(ctx, log); err != nil {
		return err
	}
	_, err := ensureStrace(ctx, log)
	return err
}

// ensure returns what find finds, after installing s if it finds nothing.
func ensure(
	ctx context.Context, s software, log io.Writer, find func() (string, bool),
) (string, error) {
	if path, ok := find(); ok {
		return path, nil
	}
	m, ok := s.available()
	if !ok || m.root && os.Geteuid() != 0 {
		return "", s.missing()
	}
	unlock, err := lockInstall()
	if err != nil {
		return "", err
	}
	defer unlock()
	// Whoever had the lock before us may have installed it.
	if path, ok := find(); ok {
		return path, nil
	}
	if err := m.install(ctx, s.what, log); err != nil {
		return "", err
	}
	if path, ok := find(); ok {
		return path, nil
	}
	return "", s.missing()
}

// install runs the package manager. The caller holds the lock of installations.
func (m manager) install(ctx context.Context, what string, log io.Writer) error {
	if m.program == "apt-get" {
		restore, err := asleep()
		if err != nil {
			return err
		}
		defer restore()
	}
	for _, argv := range append(m.prepare, m.command) {
		line := strings.Join(argv, " ")
		fmt.Fprintf(log, "installing %s: %s\n", what, line)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("installing %s with `%s`: %w: %s", what, line, err, tail(string(out)))
		}
	}
	return nil
}

// lockInstall waits until no other process of ours installs anything: package managers do not wait
// for each other everywhere.
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

// asleep keeps Debian's packages from making a cluster of their own and from starting services
// while they are installed: we want the programs. The machine's configuration is left as it was.
func asleep() (restore func(), err error) {
	var written []string
	restore = func() {
		for _, path := range written {
			_ = os.Remove(path)
		}
	}
	for _, file := range []struct {
		path, content string
		mode          os.FileMode
	}{
		{"/etc/postgresql-common/createcluster.d/waybill.conf", "create_main_cluster = false\n", 0o644},
		{"/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755}, // 101: start nothing
	} {
		if _, err := os.Lstat(file.path); err == nil {
			continue // the machine's owner has a rule of their own
		}
		if err := os.MkdirAll(filepath.Dir(file.path), 0o755); err != nil {
			restore()
			return nil, fmt.Errorf("making the folder of %s: %w", file.path, err)
		}
		if err := os.WriteFile(file.path, []byte(file.content), file.mode); err != nil {
			restore()
			return nil, fmt.Errorf("writing %s: %w", file.path, err)
		}
		written = append(written, file.path)
	}
	return restore, nil
}

// tail keeps the end of a program's output, where the reason stands.
func tail(out string) string {
	const most = 2000
	out = strings.TrimSpace(out)
	return out[max(0, len(out)-most):]
}
