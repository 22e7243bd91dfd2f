package main

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guardScript keeps the list of running processes and ends them when its standard input does, which
// happens when we die in a way that leaves us no time to.
const guardScript = `
pids=
while read -r op pid; do
	case "$op" in
	+) pids="$pids $pid" ;;
	-) kept=; for p in $pids; do [ "$p" = "$pid" ] || kept="$kept $p"; done; pids=$kept ;;
	esac
done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
[ -z "$1" ] || rm -rf "$1"
`

// guard is a shell that cleans up after us if we cannot.
type guard struct {
	cmd   *exec.Cmd
	input io.WriteCloser
}

// startGuard starts the guard. It removes the folder too, unless that is "".
func startGuard(dir string) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "waybill-dev-guard", dir) //nolint:noctx // outlives every context, that is its purpose
	cmd.Dir = "/"
	// Whoever ends our whole process group must not end the guard too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("making the guard's pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	return &guard{cmd: cmd, input: input}, nil
}

// watch makes the guard end a process if we die; forget takes that back.
func (g *guard) watch(pid int) error {
	_, err := fmt.Fprintln(g.input, "+", pid)
	return err
}

// forget must come before the process's id can belong to another.
func (g *guard) forget(pid int) error {
	_, err := fmt.Fprintln(g.input, "-", pid)
	return err
}

// dismiss ends the guard, with nothing done.
func (g *guard) dismiss() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
}
