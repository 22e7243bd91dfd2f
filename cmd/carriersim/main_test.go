package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/internal/command"
)

// TestMain fails if a test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func environ(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// start runs the program and returns its address once it is ready. Stop returns its exit status.
func start(t *testing.T, args []string, getenv func(string) string) (url string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, out := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, args, getenv, out, io.Discard)
		_ = out.Close() // a reader that waits for a line sees the end
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "carriersim: listening on ")
	require.True(t, ok, line)
	return url, func() int {
		cancel()
		return <-status
	}
}

func request(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

const (
	someone = `{"name": "N", "street1": "S", "city": "C", "postal_code": "P", "country": "US"}`
	order   = `{"reference": "REF1", "service": "ground", "weight_g": 1000, "label_format": "zpl",
		"ship_from": ` + someone + `, "ship_to": ` + someone + `}`
)

func TestRunServesAndRemembers(t *testing.T) {
	t.Parallel()
	ledger := filepath.Join(t.TempDir(), "ledger.jsonl")
	env := environ("CARRIERSIM_ADDR", "127.0.0.1:0", "CARRIERSIM_LEDGER", ledger)

	url, stop := start(t, []string{"--fault", "refuse:1:1", "--account", "SIM-9"}, env)
	status, _ := request(t, "POST", url+"/labels", order)
	require.Equal(t, 422, status)
	status, _ = request(t, "POST", url+"/labels", order)
	require.Equal(t, 201, status)
	require.Equal(t, command.OK, stop())

	url, stop = start(t, []string{"--mode=lookup"}, env)
	_, entries := request(t, "GET", url+"/_sim/ledger", "")
	require.Equal(t, 1, strings.Count(entries, "\n"))
	_, invoice := request(t, "GET", url+"/_sim/invoice?format=neutral", "")
	require.Contains(t, invoice, ",6.00,6.00\n")
	require.Equal(t, command.OK, stop())
}

func TestRunStopsWhileACallHangs(t *testing.T) {
	t.Parallel()
	env := environ("CARRIERSIM_LEDGER", filepath.Join(t.TempDir(), "ledger.jsonl"))
	url, stop := start(t, []string{"--addr=127.0.0.1:0", "--fault=hang_before_charge:1:1"}, env)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/labels", strings.NewReader(order))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	// The rule is spent when the call has begun to hang.
	for rules := "hang"; strings.Contains(rules, "hang"); {
		_, rules = request(t, "GET", url+"/_sim/faults", "")
	}
	require.Equal(t, command.OK, stop())
	require.Error(t, <-ended, "a call that hangs is never answered")
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		env  func(string) string
		want string
	}{
		"UnknownFlag":         {[]string{"--typo"}, environ(), "--typo"},
		"UnknownMode":         {[]string{"--mode=magic"}, environ(), "magic"},
		"UnknownFault":        {[]string{"--fault=explode"}, environ(), "explode"},
		"ProbabilityIsAWord":  {[]string{"--fault=refuse:often"}, environ(), "often"},
		"CountIsAFraction":    {[]string{"--fault=refuse:1:1.5"}, environ(), "1.5"},
		"ProbabilityTooLarge": {[]string{"--fault=refuse:2"}, environ(), "probability"},
		"NegativeLatency":     {[]string{"--latency=-1s"}, environ(), "negative"},
		"BadEnvironment":      {nil, environ("CARRIERSIM_MODE", "magic"), "magic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			require.Equal(t, command.Usage, run(t.Context(), tt.args, tt.env, io.Discard, &stderr))
			require.Contains(t, stderr.String(), tt.want)
		})
	}
}

func TestRunSaysWhatItCannotOpen(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	status := run(t.Context(), []string{"--addr=127.0.0.1:0", "--ledger", t.TempDir()}, environ(), io.Discard, &stderr)
	require.Equal(t, command.Error, status)
	require.Contains(t, stderr.String(), "opening ledger")
}

func TestRunLeavesTheLedgerAloneIfTheAddressIsTaken(t *testing.T) {
	t.Parallel()
	url, stop := start(t, []string{"--addr=127.0.0.1:0"}, environ("CARRIERSIM_LEDGER", filepath.Join(t.TempDir(), "one.jsonl")))
	ledger := filepath.Join(t.TempDir(), "two.jsonl")
	var stderr bytes.Buffer
	taken := strings.TrimPrefix(url, "http://")
	require.Equal(t, command.Error, run(t.Context(), []string{"--addr", taken, "--ledger", ledger}, environ(), io.Discard, &stderr))
	require.Contains(t, stderr.String(), taken)
	require.NoFileExists(t, ledger)
	require.Equal(t, command.OK, stop())
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	require.Equal(t, command.OK, run(t.Context(), []string{"--help"}, environ(), &stdout, io.Discard))
	require.Contains(t, stdout.String(), "--latency-spread")
	require.Contains(t, stdout.String(), "CARRIERSIM_LATENCY_SPREAD")
}

func TestVersion(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	require.Equal(t, command.OK, run(t.Context(), []string{"--version"}, environ(), &stdout, io.Discard))
	require.Equal(t, command.Version+"\n", stdout.String())
}

// TestRunStopsBesideASilentConnection: a client's spare connection is nobody's call under way.
func TestRunStopsBesideASilentConnection(t *testing.T) {
	t.Parallel()
	url, stop := start(t, []string{"--addr=127.0.0.1:0"}, environ("CARRIERSIM_LEDGER", filepath.Join(t.TempDir(), "ledger.jsonl")))
	silent, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	request(t, "GET", url+"/_sim/faults", "") // The server has taken the connection before this one.
	require.Equal(t, command.OK, stop())
}
