package pgcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// identity is the user that servers run under; nil is whoever we are. Postgres and PgBouncer
// refuse to run as root.
type identity struct{ uid, gid uint32 }

// unprivileged picks the identity: nil unless we are root.
func unprivileged() (*identity, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is the documented "whoever we are"
	}
	var found *user.User
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			found = u
			break
		}
	}
	if found == nil {
		return nil, fmt.Errorf("postgres does not run as root, and this machine has neither a user " +
			"postgres nor nobody: run this as another user")
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the user id of %s: %w", found.Username, err)
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("reading the group id of %s: %w", found.Username, err)
	}
	return &identity{uid: uint32(uid), gid: uint32(gid)}, nil
}

// own gives a folder to the identity.
func (id *identity) own(path string) error {
	if id == nil {
		return nil
	}
	if err := os.Chown(path, int(id.uid), int(id.gid)); err != nil {
		return fmt.Errorf("giving %s to the server's user: %w", path, err)
	}
	return nil
}

// command prepares a program under the identity, with no environment that could lead it astray,
// and in a process group of its own, so that Ctrl-C in a terminal does not reach it: who started
// it decides when it ends.
func (id *identity) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(withoutPG(os.Environ()), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if id != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id.uid, Gid: id.gid}
	}
	return cmd
}

// withoutPG drops PGDATA, PGPORT and their like.
func withoutPG(env []string) []string {
	var kept []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, "PG") {
			kept = append(kept, entry)
		}
	}
	return kept
}
