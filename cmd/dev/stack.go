package main

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// stack is the service as a person would start it: one program after the other.
type stack struct {
	// dir holds the logs.
	dir string

	// env is what every program gets; a program may get more.
	env map[string]string

	guard   *guard
	running []*process
}

// newStack prepares to start programs. With removeDir, dir goes too if we die without time to clean up.
func newStack(dir string, env map[string]string, removeDir bool) (*stack, error) {
	doomed := ""
	if removeDir {
		doomed = dir
	}
	g, err := startGuard(doomed)
	if err != nil {
		return nil, err
	}
	return &stack{dir: dir, env: env, guard: g}, nil
}

// start starts a program and returns the line with which it says that it serves.
func (s *stack) start(
	ctx context.Context, name, program string, args []string, env map[string]string, ready string,
) (*process, string, error) {
	path, err := binary(program)
	if err != nil {
		return nil, "", err
	}
	p, err := startProcess(name, path, args, s.environ(env), filepath.Join(s.dir, name+".log"))
	if err != nil {
		return nil, "", err
	}
	s.running = append(s.running, p)
	if err := s.guard.watch(p.pid()); err != nil {
		return nil, "", fmt.Errorf("telling the guard of %s: %w", name, err)
	}
	line, err := p.await(ctx, func(line []byte) (string, bool) {
		return string(line), bytes.Contains(line, []byte(ready))
	})
	return p, line, err
}

// startCarrier starts the carrier in a box and returns its base URL.
func (s *stack) startCarrier(ctx context.Context, addr, ledger string) (string, error) {
	const ready = "carriersim: listening on "
	_, line, err := s.start(ctx, "carriersim", "carriersim", nil,
		map[string]string{"CARRIERSIM_ADDR": addr, "CARRIERSIM_LEDGER": ledger}, ready)
	_, base, _ := strings.Cut(line, ready)
	return base, err
}

// startWorker starts a worker. Its name tells its log from that of others.
func (s *stack) startWorker(ctx context.Context, name, adminAddr string) (*process, error) {
	p, _, err := s.start(ctx, name, "worker", nil,
		map[string]string{"WAYBILL_ADMIN_ADDR": adminAddr}, `"msg":"working"`)
	return p, err
}

// startAPI starts the API and returns its base URL.
func (s *stack) startAPI(ctx context.Context, addr, adminAddr string) (string, error) {
	_, line, err := s.start(ctx, "api", "api", []string{"serve"},
		map[string]string{"WAYBILL_API_ADDR": addr, "WAYBILL_ADMIN_ADDR": adminAddr}, `"msg":"listening"`)
	if err != nil {
		return "", err
	}
	var said struct {
		Addr string `json:"api_addr"`
	}
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		return "", fmt.Errorf("reading the API's address from %q: %w", line, err)
	}
	return "http://" + said.Addr, nil
}

// run runs a program to its end. What it prints on standard output is returned, the rest is logged.
// The status is that of its exit; other errors are errors.
func (s *stack) run(ctx context.Context, program string, args ...string) (stdout []byte, status int, err error) {
	path, err := binary(program)
	if err != nil {
		return nil, 0, err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = s.environ(nil)
	cmd.Stderr = &said
	stdout, err = cmd.Output()
	log := filepath.Join(s.dir, program+".log")
	if err := appendFile(log, said.Bytes()); err != nil {
		return nil, 0, err
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return stdout, exit.ExitCode(), nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("running %s: %w", program, err)
	}
	return stdout, 0, nil
}

// api runs a command of the API's program that has to succeed, and returns what it printed.
func (s *stack) api(ctx context.Context, args ...string) ([]byte, error) {
	stdout, status, err := s.run(ctx, "api", args...)
	if err == nil && status != 0 {
		err = fmt.Errorf("api %s ended with status %d; see %s",
			args[0], status, filepath.Join(s.dir, "api.log"))
	}
	return stdout, err
}

// environ is our own environment without the settings of other services, and with these.
func (s *stack) environ(more map[string]string) []string {
	settings := maps.Clone(s.env)
	maps.Copy(settings, more)
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name != "DATABASE_URL" && !strings.HasPrefix(name, "WAYBILL_") && !strings.HasPrefix(name, "CARRIERSIM_") {
			env = append(env, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		env = append(env, name+"="+settings[name])
	}
	return env
}

// killed ends a process the hard way.
func (s *stack) killed(p *process) error {
	p.kill()
	s.running = slices.DeleteFunc(s.running, func(other *process) bool { return other == p })
	return s.guard.forget(p.pid())
}

// stop stops everything, the last that was started first.
func (s *stack) stop() error {
	var errs []error
	for _, p := range slices.Backward(s.running) {
		errs = append(errs, p.stop(), s.guard.forget(p.pid()))
	}
	s.running = nil
	s.guard.dismiss()
	return errors.Join(errs...)
}

// firstToEnd returns the first service that ends, or nil when ctx does.
func (s *stack) firstToEnd(ctx context.Context) *process {
	first := make(chan *process, len(s.running))
	for _, p := range s.running {
		go func() {
			<-p.ended
			first <- p
		}()
	}
	select {
	case p := <-first:
		return p
	case <-ctx.Done():
		return nil
	}
}

func appendFile(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening a log: %w", err)
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// copyFile is for keeping a log whose folder goes away.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
