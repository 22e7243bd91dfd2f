package e2e

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// player is one place in the cast: a program that is started again whenever it ends, as a
// supervisor does in production.
type player struct {
	name, program string
	args, env     []string
	dir           string // of logs

	// apart is true for a program in a session of its own, as a service manager starts it: Linux shares
	// the processors out among sessions first, and only then within each.
	apart bool

	// first is true for a program apart that gets its processor before the others: see goesFirst.
	first bool

	mu       sync.Mutex
	binaries string // the build to start next
	current  *life
	lives    []*life
	closing  bool
	ended    chan struct{} // closed when the last life is over
}

// life is one run of a player's program, from its start to its end.
type life struct {
	player string
	cmd    *exec.Cmd
	log    string
	done   chan struct{}

	mu         sync.Mutex
	url, admin string // known once it says where it listens
	killed     bool   // by us, with SIGKILL
	asked      bool   // by us, to stop
}

// restartDelay is what a supervisor waits before it starts a program again.
const restartDelay = 50 * time.Millisecond

func newPlayer(dir, name, program string, env []string, args ...string) *player {
	return &player{
		name: name, program: program, args: args, env: env, dir: dir, binaries: binaries,
		ended: make(chan struct{}),
	}
}

// supervise keeps the program running until close.
func (m *player) supervise() {
	defer close(m.ended)
	for {
		l, err := m.begin()
		if err != nil {
			return // It is closing, or nothing can be started any more: no life will be ready.
		}
		if m.program != "carriersim" { // Its address was chosen for it, so it logs none.
			go l.announce()
		}
		<-l.done
		timer := time.NewTimer(restartDelay)
		<-timer.C
	}
}

// errClosing ends the supervision.
var errClosing = fmt.Errorf("the cast is closing")

func (m *player) begin() (*life, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing {
		return nil, errClosing
	}
	path := filepath.Join(m.dir, fmt.Sprintf("%s-%d.log", m.name, len(m.lives)+1))
	log, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()                                   // it was only read
	cmd := exec.Command(filepath.Join(m.binaries, m.program), m.args...) //nolint:noctx // It is stopped by signals, as in production.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + m.dir, quickExit}, m.env...)
	cmd.SysProcAttr = processAttributes()
	if m.apart {
		cmd.SysProcAttr.Setsid = true
	}
	// Straight into the file: what a killed program wrote last is there too.
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if m.first {
		_ = goesFirst(cmd.Process.Pid) // Where the system has no such thing, everybody waits alike.
	}
	l := &life{player: m.name, cmd: cmd, log: path, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		_ = cmd.Wait() // How it ended stands in its state.
	}()
	m.current = l
	m.lives = append(m.lives, l)
	return l, nil
}

// now is the present life; nil before the first.
func (m *player) now() *life {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current
}

// all is every life so far.
func (m *player) all() []*life {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*life(nil), m.lives...)
}

// use makes every later life one of another build.
func (m *player) use(binaries string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.binaries = binaries
}

// close stops the program gracefully, for good.
func (m *player) close() {
	m.mu.Lock()
	m.closing = true
	l := m.current
	m.mu.Unlock()
	if l != nil {
		_ = l.cmd.Process.Signal(syscall.SIGCONT)
		l.stop(stopTimeout)
	}
	<-m.ended
}

// address is where the present life can be reached by callers, or "".
func (m *player) address() string {
	l := m.now()
	if l == nil || !l.running() {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.url
}

func (l *life) running() bool {
	select {
	case <-l.done:
		return false
	default:
		return true
	}
}

// kill ends the program as a crash would, and tells whether that is what it died of.
func (l *life) kill() bool {
	l.mu.Lock()
	l.killed = true
	l.mu.Unlock()
	if l.cmd.Process.Kill() != nil {
		return false
	}
	<-l.done
	status, known := l.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return known && status.Signal() == syscall.SIGKILL
}

// stop asks the program to stop, and kills it if it does not.
func (l *life) stop(limit time.Duration) {
	l.mu.Lock()
	l.asked = true
	l.mu.Unlock()
	_ = l.cmd.Process.Signal(syscall.SIGTERM) // An error means that it has ended.
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-l.done:
	case <-timer.C:
		l.kill()
	}
}

// byItself tells whether the program had begun to serve and then ended though nobody ended it.
func (l *life) byItself() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.running() && !l.killed && !l.asked && l.admin != ""
}

// announce waits for the line that says where the program listens.
func (l *life) announce() {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if l.findAddresses() {
			return
		}
		select {
		case <-l.done:
			l.findAddresses()
			return
		case <-ticker.C:
		}
	}
}

func (l *life) findAddresses() bool {
	found := false
	_ = l.lines(func(text string) bool {
		var said line
		if json.Unmarshal([]byte(text), &said) != nil || said.AdminAddr == "" {
			return true
		}
		found = true
		l.mu.Lock()
		defer l.mu.Unlock()
		l.admin = "http://" + said.AdminAddr
		if said.APIAddr != "" {
			l.url = "http://" + said.APIAddr
		}
		return false
	})
	return found
}

// lines reads the log so far, until told to stop.
func (l *life) lines(each func(text string) bool) error {
	f, err := os.Open(l.log)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	reader := bufio.NewReader(f)
	for {
		text, err := reader.ReadString('\n')
		if err != nil {
			return nil
		}
		if !each(text) {
			return nil
		}
	}
}

// ready tells whether the program says that it can serve.
func (l *life) ready(ctx context.Context) bool {
	l.mu.Lock()
	admin := l.admin
	l.mu.Unlock()
	if admin == "" || !l.running() {
		return false
	}
	resp, err := get(ctx, admin+"/readyz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// vitals are what a program takes up.
type vitals struct {
	goroutines, descriptors int
	resident                int64
}

// measure reads a program's vitals and one more of its gauges.
func (l *life) measure(ctx context.Context) (vitals, map[string]float64, error) {
	l.mu.Lock()
	admin := l.admin
	l.mu.Unlock()
	resp, err := get(ctx, admin+"/metrics")
	if err != nil {
		return vitals{}, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return vitals{}, nil, err
	}
	values := map[string]float64{}
	for text := range strings.Lines(string(text)) {
		if match := sample.FindStringSubmatch(text); match != nil {
			values[match[1]], _ = strconv.ParseFloat(match[2], 64) // Prometheus wrote it.
		}
	}
	return vitals{
		goroutines:  int(values["go_goroutines"]),
		descriptors: int(values["process_open_fds"]),
		resident:    int64(values["process_resident_memory_bytes"]),
	}, values, nil
}

var sample = regexp.MustCompile(`^([a-z_]+(?:\{[^}]*\})?) (\S+)\s*$`)

func get(ctx context.Context, url string) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	// A connection of its own: a kept one would count as a descriptor of the program.
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	cancel()
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	return resp, err
}
