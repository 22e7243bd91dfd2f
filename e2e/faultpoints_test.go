//go:build faultinject

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/carrier/sim/simserver"
	"waybill/internal/fault"
	"waybill/internal/fault/points"
)

// buildTags: the programs can be broken from their environment.
var buildTags = []string{"-tags", "faultinject"}

// deaths is how a class's first call ends, so that the intent passes every point that the class has.
var deaths = map[simserver.Mode]simserver.Fault{
	simserver.Keyed:  simserver.ErrorAfterCharge,
	simserver.Lookup: simserver.ErrorBeforeCharge,
	simserver.Blind:  simserver.ErrorAfterCharge,
}

// TestEveryPointKillsTheProcess: a program that sends itself SIGKILL at a fault point loses nothing and
// doubles nothing. Every point, every class that reaches it.
func TestEveryPointKillsTheProcess(t *testing.T) {
	t.Parallel()
	inCode, err := points.InCode("..")
	require.NoError(t, err)
	require.NotEmpty(t, inCode)
	var killed atomic.Int64
	t.Run("Points", func(t *testing.T) { //nolint:paralleltest // Its parent counts what it did.
		for _, class := range classes {
			for _, point := range inCode {
				event, _, _ := strings.Cut(point, ".")
				if !reaches(class, event) {
					continue
				}
				t.Run(string(class)+"/"+point, func(t *testing.T) {
					t.Parallel()
					dieAt(t, class, event, point)
					killed.Add(1)
				})
			}
		}
	})
	t.Logf("%d points, %d deaths", len(inCode), killed.Load())
}

// reaches tells whether a class gets to an event: only some look up, and only some need a person.
func reaches(class simserver.Mode, event string) bool {
	switch event {
	case "look_up", "journal":
		return class == simserver.Lookup
	case "settle":
		return class == simserver.Blind
	default:
		return true
	}
}

func dieAt(t *testing.T, class simserver.Mode, event, point string) {
	t.Helper()
	carrier := startCarrier(t, simserver.Faults{
		Mode: class, Rules: []simserver.Rule{{Fault: deaths[class], Count: 1}},
	}, hooks{})
	s := newStack(t, carrier, settings{
		class: class, lease: shortLease, timeout: shortTimeout, processing: time.Second,
	})
	switch event {
	case "accept", "look_up_key", "read_answers":
		dieInAPI(s, event, point)
	case "settle":
		dieInSettling(s, point)
	default:
		dieInWorker(s, event, point)
	}
	got := requireTruth(s)
	want := ended{purchased: 1}
	if class == simserver.Blind && event != "settle" {
		want = ended{inDoubt: 1}
	}
	require.Equal(t, want, got)
	require.LessOrEqual(t, len(carrier.charges()), 1)
}

// broken starts a program that dies at the nth time that it reaches the point.
func (s *stack) broken(point string, n int, start func() *process) *process {
	whole := s.env
	defer func() { s.env = whole }()
	s.env = append(slices.Clone(whole), fmt.Sprintf("%s=%s=kill@%d", fault.Env, point, n))
	return start()
}

// requireKilled waits until the program has killed itself.
func (p *process) requireKilled() {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(startTimeout):
		require.FailNow(p.t, "not killed", "%s lives:\n%s", p.name, p.log)
	}
	requireSIGKILL(p.t, p.cmd)
}

func requireSIGKILL(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.True(t, status.Signaled() && status.Signal() == syscall.SIGKILL, cmd.ProcessState.String())
}

func dieInAPI(s *stack, event, point string) {
	s.t.Helper()
	p := s.broken(point, 1, s.startAPI)
	o := orderOf(1)
	switch event {
	case "read_answers": // The answer is waited for.
		_, err := s.post(s.t.Context(), p, o, "Prefer", "wait=20")
		require.Error(s.t, err)
	case "look_up_key": // A body that is none is looked up by its key.
		_, err := s.post(s.t.Context(), p, o)
		require.NoError(s.t, err)
		_, err = s.do(s.t.Context(), "POST", p.url+"/v1/labels", "{",
			"Idempotency-Key", o.key, "Content-Type", "application/json")
		require.Error(s.t, err)
	default:
		_, err := s.post(s.t.Context(), p, o)
		require.Error(s.t, err)
	}
	p.requireKilled()
	s.startAPI()
	s.startWorker()
	_, err := s.submit(s.t.Context(), o)
	require.NoError(s.t, err)
}

func dieInWorker(s *stack, event, point string) {
	s.t.Helper()
	n := 1
	if event == "ring" || event == "revive" || event == "sweep" {
		n = 2 // The first time comes before the worker says that it is ready.
	}
	s.startAPI()
	p := s.broken(point, n, s.startWorker)
	_, err := s.post(s.t.Context(), s.api(), orderOf(1))
	require.NoError(s.t, err)
	p.requireKilled()
	s.startWorker()
}

func dieInSettling(s *stack, point string) {
	s.t.Helper()
	s.startAPI()
	s.startWorker()
	_, err := s.post(s.t.Context(), s.api(), orderOf(1))
	require.NoError(s.t, err)
	s.awaitSettled()
	i := s.intents()[orderOf(1).key]
	label := s.carrier.charges()[i.Reference][0]
	settle := func(env ...string) (*exec.Cmd, string) {
		cmd := exec.CommandContext(s.t.Context(), filepath.Join(binaries, "api"), "settle", i.ID.String(),
			"--verdict", "bought", "--actor", "ops", "--why", "invoice 4711", "--account", "SIM-1",
			"--carrier-label-id", label.LabelID, "--tracking-no", label.TrackingNo, "--service", "ground",
			"--cost-cents", strconv.FormatInt(label.AmountCents, 10), "--currency", "USD")
		cmd.Env = append(slices.Clone(s.env), env...)
		out, _ := cmd.CombinedOutput() // How it ended, it shows itself.
		return cmd, string(out)
	}
	cmd, _ := settle(fault.Env + "=" + point + "=kill")
	requireSIGKILL(s.t, cmd)
	if s.intents()[orderOf(1).key].State == "in_doubt" {
		cmd, out := settle()
		require.True(s.t, cmd.ProcessState.Success(), fmt.Sprint(out))
	}
}
