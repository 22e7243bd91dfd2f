package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// startTimeout is how long a service may take until it says that it listens.
	startTimeout = 30 * time.Second

	// stopTimeout is more than a worker needs to finish its calls under the default lease.
	stopTimeout = 45 * time.Second
)

// process is one running program of ours. What it prints goes to its log.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	tee  *tee

	// ended is closed when it has ended; cmd.ProcessState then says how.
	ended chan struct{}
}

// startProcess starts a program in a process group of its own, so that Ctrl-C in a terminal does not
// reach it: we stop what we have started, in order.
func startProcess(name, program string, args, env []string, log string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	p := &process{name: name, log: log, tee: newTee(file), ended: make(chan struct{})}
	p.cmd = exec.Command(program, args...) //nolint:noctx // ends when it is stopped, not when somebody's context does
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = p.tee, p.tee
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", name, err), file.Close())
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is read from its state
		_ = file.Close() // what could not be written to a log is not worth failing for
		close(p.ended)
	}()
	return p, nil
}

// await returns the first line for which match returns a value.
func (p *process) await(ctx context.Context, match func(line []byte) (string, bool)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	found := p.tee.watch(match)
	select {
	case value := <-found:
		return value, nil
	case <-p.ended:
		return "", fmt.Errorf("%s ended while it was starting (%s): %s", p.name, p.cmd.ProcessState, p.lastWords())
	case <-ctx.Done():
		return "", fmt.Errorf("waiting for %s to start: %w; its log is %s", p.name, ctx.Err(), p.log)
	}
}

// lastWords are the last line of the log, where a program says why it gave up.
func (p *process) lastWords() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(lines[len(lines)-1])
}

// stop asks it to end, and insists if it does not.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.ended:
		return nil
	case <-timer.C:
		p.kill()
		return fmt.Errorf("%s did not stop within %s and was killed; its log is %s", p.name, stopTimeout, p.log)
	}
}

// kill ends it as a power cut would: it cannot finish, store or say anything.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	<-p.ended
}

// pid is its process id.
func (p *process) pid() int { return p.cmd.Process.Pid }

// tee copies lines to a log and shows them to whoever waits for one. Lines that were written before
// somebody began to wait are shown too.
type tee struct {
	mu      sync.Mutex
	file    *os.File
	partial []byte
	lines   [][]byte
	match   func([]byte) (string, bool)
	found   chan string
}

func newTee(file *os.File) *tee { return &tee{file: file, found: make(chan string, 1)} }

// Write implements io.Writer.
func (t *tee) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.found != nil {
		t.partial = append(t.partial, b...)
		for {
			line, rest, whole := bytes.Cut(t.partial, []byte("\n"))
			if !whole {
				break
			}
			t.lines, t.partial = append(t.lines, line), rest
		}
		t.look()
	}
	return t.file.Write(b)
}

// watch may be called once.
func (t *tee) watch(match func([]byte) (string, bool)) <-chan string {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.found
	t.match = match
	t.look()
	return found
}

// look shows the lines that came to whoever waits; once one was found, none is kept any more.
func (t *tee) look() {
	if t.match == nil {
		return
	}
	for _, line := range t.lines {
		if value, ok := t.match(line); ok {
			t.found <- value
			t.found, t.partial = nil, nil
			break
		}
	}
	t.lines = nil
}

// binary is the path of a program that was built together with this one.
func binary(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the programs: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the program %s is not built: run `make build`", path)
	}
	return path, nil
}
