package pgcluster

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guardScript waits until its standard input ends, which happens when our process dies, whatever
// kills it. Then it ends the server and removes the folder. Postgres' own parent-death signal
// would hang on a thread of ours, exists on Linux only, and would leave the folder.
const guardScript = `
read -r _
pidfile="$1/data/postmaster.pid"
if [ -f "$pidfile" ]; then
	pid=$(head -n 1 "$pidfile")
	kill -QUIT "$pid" 2>/dev/null
	n=0
	while kill -0 "$pid" 2>/dev/null && [ "$n" -lt 100 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	kill -KILL "$pid" 2>/dev/null
fi
rm -rf "$1"
`

// guard is a shell that cleans up after us if we cannot.
type guard struct {
	cmd   *exec.Cmd
	input io.Closer
}

// startGuard starts the guard of a cluster's folder.
func startGuard(dir string) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "waybill-pg-guard", dir) //nolint:noctx // outlives every context, that is its purpose
	cmd.Dir = "/"
	// A process group of its own: whoever ends our whole group must not end the guard too.
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

// dismiss ends the guard; the folder is gone by then, so there is nothing for it to do.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_ = g.input.Close()
	_ = g.cmd.Wait()
}
