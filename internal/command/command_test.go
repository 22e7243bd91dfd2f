package command_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/command"
)

// program is a grammar with one of everything.
type program struct {
	Serve serve `cmd:"" help:"Serve."`
	Fail  fail  `cmd:"" help:"Fail."`
}

type serve struct {
	Addr   string        `env:"TEST_ADDR" default:"127.0.0.1:1" help:"Where to listen."`
	Secret string        `env:"TEST_SECRET,TEST_OLD_SECRET" required:"" help:"What nobody may see."`
	Lease  time.Duration `env:"TEST_LEASE" default:"30s" help:"How long."`
}

func (c serve) Run(p *command.Process) error {
	fmt.Fprintf(p.Stdout, "%s %s %s", c.Addr, c.Secret, c.Lease)
	return nil
}

// Validate is called before Run.
func (c serve) Validate() error {
	if c.Lease <= 0 {
		return errors.New("TEST_LEASE must be above zero")
	}
	return nil
}

type fail struct{}

func (fail) Run(*command.Process) error { return errors.New("the disk is full") }

// run runs the program with an environment of its own.
func run(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = command.Run(&command.Process{
		Ctx:    t.Context(),
		Getenv: func(name string) string { return env[name] },
		Stdout: &out,
		Stderr: &errs,
	}, "testprog", "Tests.", &program{}, args)
	return code, out.String(), errs.String()
}

func TestValuesComeFromFlagsThenTheEnvironmentThenDefaults(t *testing.T) {
	t.Parallel()
	secret := map[string]string{"TEST_SECRET": "s"}
	for name, tt := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"Defaults":      {secret, nil, "127.0.0.1:1 s 30s"},
		"Environment":   {map[string]string{"TEST_SECRET": "s", "TEST_ADDR": ":2", "TEST_LEASE": "1m"}, nil, ":2 s 1m0s"},
		"FlagsGoFirst":  {map[string]string{"TEST_SECRET": "s", "TEST_ADDR": ":2"}, []string{"--addr", ":3"}, ":3 s 30s"},
		"EmptyIsUnset":  {map[string]string{"TEST_SECRET": "s", "TEST_ADDR": "", "TEST_LEASE": ""}, nil, "127.0.0.1:1 s 30s"},
		"SecondName":    {map[string]string{"TEST_OLD_SECRET": "old"}, nil, "127.0.0.1:1 old 30s"},
		"FirstNameWins": {map[string]string{"TEST_OLD_SECRET": "old", "TEST_SECRET": "s"}, nil, "127.0.0.1:1 s 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, tt.env, append([]string{"serve"}, tt.args...)...)
			require.Equal(t, command.OK, code, stderr)
			require.Equal(t, tt.want, stdout)
			require.Empty(t, stderr)
		})
	}
}

// TestTheProcessEnvironmentIsNotRead: kong would read it by itself, whatever getenv says.
func TestTheProcessEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("TEST_SECRET", "from the process")
	t.Setenv("TEST_ADDR", ":9")
	code, _, stderr := run(t, nil, "serve")
	require.Equal(t, command.Usage, code)
	require.Contains(t, stderr, "--secret")
	_, stdout, _ := run(t, map[string]string{"TEST_SECRET": "given"}, "serve")
	require.Equal(t, "127.0.0.1:1 given 30s", stdout)
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve", "--help"}, {"--help"}} {
		code, stdout, stderr := run(t, map[string]string{"TEST_SECRET": "hunter2"}, args...)
		require.Equal(t, command.OK, code)
		require.Empty(t, stderr)
		require.NotContains(t, stdout, "hunter2")
	}
	_, stdout, _ := run(t, nil, "serve", "--help")
	stdout = strings.Join(strings.Fields(stdout), " ") // it is wrapped to the terminal's width
	for _, text := range []string{"Where to listen. ($TEST_ADDR)", "($TEST_SECRET, $TEST_OLD_SECRET)", "127.0.0.1:1"} {
		require.Contains(t, stdout, text)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, nil, "--version")
	require.Equal(t, command.OK, code)
	require.Equal(t, command.Version+"\n", stdout)
	require.Empty(t, stderr)
}

// TestMistakes: what is wrong with the arguments is a usage error, what goes wrong later is not; both
// say so on standard error, and nothing on standard output.
func TestMistakes(t *testing.T) {
	t.Parallel()
	secret := map[string]string{"TEST_SECRET": "hunter2"}
	for name, tt := range map[string]struct {
		env  map[string]string
		args []string
		code int
		says string
	}{
		"NoCommand":      {secret, nil, command.Usage, "expected one of"},
		"UnknownCommand": {secret, []string{"dance"}, command.Usage, "dance"},
		"UnknownFlag":    {secret, []string{"serve", "--fast"}, command.Usage, "unknown flag --fast"},
		"MissingFlag":    {nil, []string{"serve"}, command.Usage, "missing flags: --secret"},
		"BadFlag":        {secret, []string{"serve", "--lease", "soon"}, command.Usage, "--lease"},
		"BadEnvironment": {map[string]string{"TEST_SECRET": "hunter2", "TEST_LEASE": "soon"}, []string{"serve"}, command.Usage, "lease"},
		"NotValid":       {map[string]string{"TEST_SECRET": "hunter2", "TEST_LEASE": "-1s"}, []string{"serve"}, command.Usage, "TEST_LEASE must be above zero"},
		"RunFails":       {nil, []string{"fail"}, command.Error, "testprog: the disk is full\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, tt.env, tt.args...)
			require.Equal(t, tt.code, code)
			require.Contains(t, stderr, tt.says)
			require.Contains(t, stderr, "testprog: ")
			require.Empty(t, stdout)
			require.NotContains(t, stderr, "hunter2")
			require.Equal(t, tt.code == command.Usage, bytes.Contains([]byte(stderr), []byte("--help")))
		})
	}
}

// TestAPanicIsNotSwallowed: only kong's own wish to exit is.
func TestAPanicIsNotSwallowed(t *testing.T) {
	t.Parallel()
	var cli struct {
		Crash crash `cmd:""`
	}
	require.PanicsWithValue(t, "crash", func() {
		command.Run(&command.Process{Getenv: func(string) string { return "" }}, "testprog", "", &cli, []string{"crash"})
	})
}

type crash struct{}

func (crash) Run(*command.Process) error { panic("crash") }
