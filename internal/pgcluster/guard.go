package pgcluster

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guardScript waits until its standard input ends, which happens when our process dies, whatever
// kills it. Then it ends the server or the pooler and removes the folder, unless that is to be kept. The system's parent-death signal
// would hang on a thread of ours, exists on Linux only, and would leave the folder.
const guardScript = `
read -r _
pidfile="$1/pgbouncer.pid"
[ -f "$pidfile" ] && kill -KILL "$(cat "$pidfile")" 2>/dev/null
pidfile="$1/data/postmaster.pid"
if [ -f "$pidfile" ]; then
	pid=$(head -n 1 "$pidfile")
	kill -QUIT "$pid" 2>/dev/null
	# The server removes the file when it has ended. Its process may stay for longer, as a zombie:
	# not everything that adopts orphans in a container buries them.
	n=0
	while [ -f "$pidfile" ] && [ "$n" -lt 200 ]; do
		sleep 0.05
		n=$((n + 1))
	done
	kill -KILL "$pid" 2>/dev/null
fi
[ "$2" = keep ] || rm -rf "$1"
`

// guard is a shell that cleans up after us if we cannot.
type guard struct {
	cmd   *exec.Cmd
	input io.Closer
}

// startGuard starts the guard of a cluster's folder.
func startGuard(dir string, keep bool) (*guard, error) {
	then := "remove"
	if keep {
		then = "keep"
	}
	cmd := exec.Command("/bin/sh", "-c", guardScript, "waybill-pg-guard", dir, then) //nolint:noctx // outlives every context, that is its purpose
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

// dismiss ends the guard. Our server has ended by then, so there is nothing for it to do; and if a
// kept cluster was somebody else's, it must do nothing.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill()
	_ = g.input.Close()
	_ = g.cmd.Wait()
}
