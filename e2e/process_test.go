package e2e

import (
	"bytes"
	"encoding/json/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// startTimeout covers the start of a program on a busy machine.
	startTimeout = 30 * time.Second

	// stopTimeout is longer than any call and any wait that these tests configure.
	stopTimeout = 30 * time.Second

	// quickExit spares a program with the race detector the second that it would sleep before it ends,
	// lest another goroutine's race be missed: they have all ended by then.
	quickExit = "GORACE=atexit_sleep_ms=0"

	// poll is how often what another process does is looked at.
	poll = 10 * time.Millisecond
)

// process is one running program.
type process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	log  *logged
	done chan struct{} // closed when it has ended

	// url is where callers reach an API; admin is where operators reach either service.
	url, admin string
}

// logged keeps what a program wrote.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// line is the part of a log line that tests look for.
type line struct {
	Msg       string `json:"msg"`
	APIAddr   string `json:"api_addr"`
	AdminAddr string `json:"admin_addr"`
	RequestID string `json:"request_id"`
	Status    int    `json:"status"`
}

// find returns the first line that is looked for.
func (l *logged) find(wanted func(line) bool) (line, bool) {
	for text := range strings.Lines(l.String()) {
		var found line
		if json.Unmarshal([]byte(text), &found) == nil && wanted(found) {
			return found, true
		}
	}
	return line{}, false
}

// start starts a program and sees to its end: every program that a test did not kill must stop
// gracefully, and none may have panicked or raced.
func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(filepath.Join(binaries, name), args...) //nolint:noctx // It is stopped by signals, as in production.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), quickExit}, env...)
	cmd.SysProcAttr = processAttributes()
	p := &process{t: t, name: name, cmd: cmd, log: &logged{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	require.NoError(t, cmd.Start())
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // How it ended stands in its state.
	}()
	t.Cleanup(func() {
		if p.running() {
			_ = p.cmd.Process.Signal(syscall.SIGCONT) // It may be frozen.
			p.terminate()
		}
		p.checkLog()
	})
	return p
}

// checkLog fails the test for what must never be in a log, and shows the log of a test that failed.
func (p *process) checkLog() {
	text := p.log.String()
	for _, bad := range []string{
		"panic", "DATA RACE", "fatal error",
		"prepared statement", // that another session knows: a pooler's clients stumbled over each other
	} {
		if strings.Contains(text, bad) {
			p.t.Errorf("%s logged %q", p.name, bad)
		}
	}
	if p.t.Failed() {
		lines := strings.SplitAfter(text, "\n")
		p.t.Logf("the end of %s's log:\n%s", p.name, strings.Join(lines[max(0, len(lines)-40):], ""))
	}
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// awaitLine waits for a line of the log.
func (p *process) awaitLine(what string, wanted func(line) bool) line {
	p.t.Helper()
	var found line
	eventually(p.t, startTimeout, p.name+" logs "+what, func() bool {
		var ok bool
		found, ok = p.log.find(wanted)
		return ok || !p.running()
	})
	_, ok := p.log.find(wanted)
	require.True(p.t, ok, "%s ended before it logged %s:\n%s", p.name, what, p.log)
	return found
}

// awaitReady waits until the program says that it can serve.
func (p *process) awaitReady() {
	p.t.Helper()
	eventually(p.t, startTimeout, p.name+" is ready", func() bool {
		resp, err := http.Get(p.admin + "/readyz") //nolint:noctx // It has a deadline around it.
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// kill ends the program as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // An error means that it has ended.
	<-p.done
}

// interrupt asks the program to stop, without waiting for it.
func (p *process) interrupt() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// awaitEnd waits for the program, which must end without an error.
func (p *process) awaitEnd() {
	p.t.Helper()
	select {
	case <-p.done:
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			p.t.Errorf("%s ended with status %d: %s", p.name, code, p.cmd.ProcessState)
		}
	case <-time.After(stopTimeout):
		p.t.Errorf("%s did not stop", p.name)
		p.kill()
	}
}

// terminate stops the program gracefully.
func (p *process) terminate() {
	p.interrupt()
	p.awaitEnd()
}

// freeze stops the program's clockwork and returns when it stands still.
func (p *process) freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	return err
}

// thaw lets a frozen program go on.
func (p *process) thaw() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// eventually waits for what another process does.
func eventually(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	if holds() {
		return
	}
	require.Eventually(t, holds, limit, poll, what)
}
