package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func script(t *testing.T, text string) *process {
	t.Helper()
	p, err := startProcess("script", "/bin/sh", []string{"-c", text}, os.Environ(), filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(p.kill)
	return p
}

func line(want string) func([]byte) (string, bool) {
	return func(line []byte) (string, bool) { return string(line), bytes.HasPrefix(line, []byte(want)) }
}

func TestAwait(t *testing.T) {
	t.Parallel()

	t.Run("FindsALineInPieces", func(t *testing.T) {
		t.Parallel()
		p := script(t, `echo starting; printf rea; printf 'dy at 1\n'; echo ready at 2; exec sleep 60`)
		found, err := p.await(t.Context(), line("ready"))
		require.NoError(t, err)
		require.Equal(t, "ready at 1", found)
	})

	t.Run("SaysWhyTheProgramGaveUp", func(t *testing.T) {
		t.Parallel()
		p := script(t, `echo noise; echo "no database" >&2; exit 3`)
		_, err := p.await(t.Context(), line("ready"))
		require.ErrorContains(t, err, "exit status 3")
		require.ErrorContains(t, err, "no database")
	})
}

// TestGuard: what runs when we die is ended, what was ended before is left alone.
func TestGuard(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "doomed")
	require.NoError(t, os.Mkdir(dir, 0o700))
	g, err := startGuard(dir)
	require.NoError(t, err)
	watched, forgotten := script(t, `exec sleep 60`), script(t, `exec sleep 60`)
	require.NoError(t, g.watch(forgotten.pid()))
	require.NoError(t, g.watch(watched.pid()))
	require.NoError(t, g.forget(forgotten.pid()))

	require.NoError(t, g.input.Close(), "as our death would")
	require.NoError(t, g.cmd.Wait())

	<-watched.ended
	require.NoDirExists(t, dir)
	require.NoError(t, syscall.Kill(forgotten.pid(), 0))
}

func TestStackLeavesTheEnvironmentsSettingsOut(t *testing.T) {
	t.Setenv("WAYBILL_LEASE", "1h")
	t.Setenv("HOME_OF_NOBODY", "here")
	s := &stack{env: map[string]string{"DATABASE_URL": "ours"}}
	env := "\n" + strings.Join(s.environ(map[string]string{"WAYBILL_API_ADDR": "there"}), "\n") + "\n"
	require.NotContains(t, env, "WAYBILL_LEASE")
	for _, want := range []string{"DATABASE_URL=ours", "HOME_OF_NOBODY=here", "WAYBILL_API_ADDR=there"} {
		require.Contains(t, env, "\n"+want+"\n")
	}
}

func TestCheckCounts(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	teller := &teller{out: &out}
	teller.check("charges", 1, 1)
	teller.check("charges", 1, 2)
	teller.row("labels", 4, 3)
	require.Equal(t, 3, teller.checked)
	require.Equal(t, 2, teller.failed)
	require.Contains(t, out.String(), "✗ charges: expected 1, saw 2")
}

// TestGuide: what a reader is asked to paste is made of the values given, all of them.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := guide(guideValues{
		API: "http://api", APIAdmin: "http://api-admin", WorkerAdmin: "http://worker-admin",
		Carrier: "http://carrier", Key: "the-key", DatabaseURL: "postgres://db", Dir: "state",
	})
	require.NoError(t, err)
	for _, want := range []string{
		"http://api/v1/labels", "http://api-admin/metrics", "http://worker-admin/metrics",
		"http://carrier/_sim/faults", "Bearer the-key", "'postgres://db'", "state/invoice.csv",
	} {
		require.Contains(t, text, want)
	}
}

// TestRunNamesTheTakenPort, and how to choose another.
func TestRunNamesTheTakenPort(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", anyPort)
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	taken := listener.Addr().String()
	run := runCmd{APIAddr: anyPort, APIAdminAddr: anyPort, WorkerAdminAddr: taken, CarrierAddr: anyPort}
	err = run.checkPorts(t.Context())
	require.ErrorContains(t, err, taken)
	require.ErrorContains(t, err, "WAYBILL_WORKER_ADMIN_ADDR=")
	require.NotContains(t, err.Error(), "WAYBILL_API_ADDR")
}
