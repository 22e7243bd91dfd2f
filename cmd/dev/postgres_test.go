package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// devEnv makes the test binary the program itself.
const devEnv = "WAYBILL_TEST_DEV"

func TestMain(m *testing.M) {
	if os.Getenv(devEnv) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// dev prepares the program with its arguments and no DATABASE_URL but the given one.
func dev(t *testing.T, databaseURL string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), devEnv+"=1", "DATABASE_URL="+databaseURL)
	cmd.Stderr = t.Output()
	return cmd
}

func TestPostgres(t *testing.T) {
	t.Parallel()

	t.Run("RunsTheCommandBesideAServer", func(t *testing.T) {
		t.Parallel()
		cmd := dev(t, "", "postgres", "--", "sh", "-c", `echo "$DATABASE_URL"; read -r _`)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		databaseURL, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		databaseURL = strings.TrimSpace(databaseURL)

		conn, err := pgx.Connect(t.Context(), databaseURL)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		_, err = in.Write([]byte("\n"))
		require.NoError(t, err)
		require.NoError(t, cmd.Wait())
		_, err = pgx.Connect(t.Context(), databaseURL)
		require.Error(t, err, "the server is gone with the command")
	})

	t.Run("UsesTheServerThatIsThere", func(t *testing.T) {
		t.Parallel()
		out, err := dev(t, "postgres://mine/db", "postgres", "--", "sh", "-c", `echo "$DATABASE_URL"`).Output()
		require.NoError(t, err)
		require.Equal(t, "postgres://mine/db\n", string(out))
	})

	for name, want := range map[string]struct {
		script string
		status int
	}{
		"ExitsAsTheCommandDid": {`exit 7`, 7},
		"ExitsAsShellsDo":      {`kill -TERM $$`, 128 + int(syscall.SIGTERM)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := dev(t, "postgres://mine/db", "postgres", "--", "sh", "-c", want.script).Run()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, want.status, exit.ExitCode())
		})
	}

	t.Run("LeavesTheCommandsFlagsAlone", func(t *testing.T) {
		t.Parallel()
		out, err := dev(t, "postgres://mine/db", "postgres", "--durable", "--",
			"printf", "%s ", "--durable", "-v", "--", "x").Output()
		require.NoError(t, err)
		require.Equal(t, "--durable -v -- x ", string(out))
	})

	t.Run("PassesSignalsOn", func(t *testing.T) {
		t.Parallel()
		cmd := dev(t, "postgres://mine/db", "postgres", "--", "sh", "-c",
			`trap 'echo stopping; exit 3' TERM; echo ready; while :; do read -r _; done`)
		_, err := cmd.StdinPipe()
		require.NoError(t, err)
		pipe, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		out := bufio.NewReader(pipe)
		line, err := out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)

		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		line, err = out.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "stopping\n", line)
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, 3, exit.ExitCode())
	})

	t.Run("NeedsACommand", func(t *testing.T) {
		t.Parallel()
		require.Error(t, dev(t, "postgres://mine/db", "postgres").Run())
		require.Error(t, dev(t, "postgres://mine/db", "postgres", "--").Run())
	})
}
