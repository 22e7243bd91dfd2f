package main

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/internal/command"
	"waybill/internal/testdb"
)

// console is what a command printed; it may be read while the command runs.
type console struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Write(p)
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.String()
}

// execute runs the program with an environment of its own.
func execute(ctx context.Context, env map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, errs console
	code = run(ctx, args, func(name string) string { return env[name] }, &out, &errs)
	return code, out.String(), errs.String()
}

func TestHelp(t *testing.T) {
	t.Parallel()

	t.Run("NamesEverySetting", func(t *testing.T) {
		t.Parallel()
		code, stdout, _ := execute(t.Context(), nil, "serve", "--help")
		require.Equal(t, command.OK, code)
		for _, name := range []string{
			"DATABASE_URL", "WAYBILL_API_ADDR", "WAYBILL_ADMIN_ADDR", "WAYBILL_CARRIERS", "WAYBILL_DB_POOLER",
			"WAYBILL_LOG_LEVEL", "WAYBILL_CALLER_RATE",
		} {
			require.Contains(t, stdout, "$"+name)
		}
	})

	t.Run("NamesEveryCommand", func(t *testing.T) {
		t.Parallel()
		code, stdout, _ := execute(t.Context(), nil, "--help")
		require.Equal(t, command.OK, code)
		for _, name := range []string{"serve", "migrate", "keys create", "keys list", "keys revoke"} {
			require.Contains(t, stdout, "  "+name)
		}
	})
}

func TestSettingsAreCheckedBeforeAnythingIsOpened(t *testing.T) {
	t.Parallel()

	good := map[string]string{
		"DATABASE_URL":     "postgres://waybill:hunter2@127.0.0.1:1/waybill",
		"WAYBILL_CARRIERS": "nowhere.yaml",
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"NoCommand":     {nil, nil, "expected one of"},
		"UnknownFlag":   {nil, []string{"serve", "--fast"}, "unknown flag --fast"},
		"NoDatabase":    {map[string]string{"DATABASE_URL": ""}, []string{"serve"}, "--database-url"},
		"NoCarriers":    {map[string]string{"WAYBILL_CARRIERS": ""}, []string{"serve"}, "--carriers"},
		"BadDatabase":   {map[string]string{"DATABASE_URL": "postgres://u:hunter2@h:x/"}, []string{"serve"}, "DATABASE_URL"},
		"BadAddress":    {map[string]string{"WAYBILL_API_ADDR": "8080"}, []string{"serve"}, "WAYBILL_API_ADDR"},
		"BadAdmin":      {nil, []string{"serve", "--admin-addr", "x"}, "WAYBILL_ADMIN_ADDR"},
		"BadRate":       {map[string]string{"WAYBILL_CALLER_RATE": "0"}, []string{"serve"}, "WAYBILL_CALLER_RATE"},
		"NaNRate":       {map[string]string{"WAYBILL_CALLER_RATE": "NaN"}, []string{"serve"}, "WAYBILL_CALLER_RATE"},
		"BadLevel":      {map[string]string{"WAYBILL_LOG_LEVEL": "loud"}, []string{"serve"}, "log-level"},
		"BadPooler":     {map[string]string{"WAYBILL_DB_POOLER": "session"}, []string{"migrate"}, "db-pooler"},
		"NoCaller":      {nil, []string{"keys", "create", "--scopes", "labels:read"}, "missing flags: --caller"},
		"BadCaller":     {nil, []string{"keys", "create", "--caller", "A B", "--scopes", "labels:read"}, "caller's name"},
		"BadScope":      {nil, []string{"keys", "create", "--caller", "a", "--scopes", "admin"}, "unknown scope"},
		"NothingRevoke": {nil, []string{"keys", "revoke"}, "<key-id>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			for _, m := range []map[string]string{good, tt.env} {
				for k, v := range m {
					env[k] = v
				}
			}
			code, stdout, stderr := execute(t.Context(), env, tt.args...)
			require.Equal(t, command.Usage, code, stderr)
			require.Contains(t, stderr, tt.want)
			require.NotContains(t, stdout+stderr, "hunter2")
		})
	}

	t.Run("NoCarriersFile", func(t *testing.T) {
		t.Parallel()
		code, _, stderr := execute(t.Context(), good, "serve")
		require.Equal(t, command.Error, code)
		require.Contains(t, stderr, "WAYBILL_CARRIERS")
		require.Contains(t, stderr, "nowhere.yaml")
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()

	t.Run("ServeSaysWhatToDoWithoutTables", func(t *testing.T) {
		t.Parallel()
		env := map[string]string{"DATABASE_URL": testdb.Empty(t), "WAYBILL_CARRIERS": carriersFile(t)}
		code, _, stderr := execute(t.Context(), env, "serve", "--api-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0")
		require.Equal(t, command.Error, code)
		require.Contains(t, stderr, "api migrate")
	})

	t.Run("KeysFromCreationToRevocation", func(t *testing.T) {
		t.Parallel()
		env := map[string]string{"DATABASE_URL": testdb.Empty(t)}
		for range 2 {
			code, _, stderr := execute(t.Context(), env, "migrate")
			require.Equal(t, command.OK, code, stderr)
		}
		code, stdout, stderr := execute(t.Context(), env, "keys", "create", "--caller", "fulfilment", "--scopes", "labels:read,labels:write")
		require.Equal(t, command.OK, code, stderr)
		require.Regexp(t, `^wb_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}\n$`, stdout, "the key alone")
		secret := strings.TrimSpace(stdout)
		id := strings.Split(secret, "_")[2]
		require.NotContains(t, stderr, secret)

		code, stdout, _ = execute(t.Context(), env, "keys", "list")
		require.Equal(t, command.OK, code)
		require.Regexp(t, `(?m)^`+id+` +fulfilment +labels:write,labels:read +\S+ +-$`, stdout)
		require.NotContains(t, stdout, secret)

		code, _, stderr = execute(t.Context(), env, "keys", "revoke", id)
		require.Equal(t, command.OK, code, stderr)
		_, stdout, _ = execute(t.Context(), env, "keys", "list")
		require.Regexp(t, `(?m)^`+id+` .* 20\S+Z$`, stdout)

		code, _, stderr = execute(t.Context(), env, "keys", "revoke", "nobody00")
		require.Equal(t, command.Error, code)
		require.Contains(t, stderr, "unknown API key")
	})

	t.Run("ServeFromStartToGracefulStop", func(t *testing.T) {
		t.Parallel()
		env := map[string]string{
			"DATABASE_URL": testdb.URL(t), "WAYBILL_CARRIERS": carriersFile(t),
			"WAYBILL_API_ADDR": "127.0.0.1:0", "WAYBILL_ADMIN_ADDR": "127.0.0.1:0",
		}
		_, key, _ := execute(t.Context(), env, "keys", "create", "--caller", "fulfilment", "--scopes", "labels:write")
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var stderr console
		exited := make(chan int, 1)
		go func() {
			exited <- run(ctx, []string{"serve"}, func(name string) string { return env[name] }, io.Discard, &stderr)
		}()
		apiAddr, adminAddr := listening(t, &stderr)

		for _, url := range []string{
			"http://" + apiAddr + "/healthz", "http://" + apiAddr + "/readyz",
			"http://" + adminAddr + "/healthz", "http://" + adminAddr + "/readyz", "http://" + adminAddr + "/debug/pprof/",
		} {
			status, body := fetch(t, url)
			require.Equal(t, http.StatusOK, status, "%s: %s", url, body)
		}
		status, _ := fetch(t, "http://"+apiAddr+"/metrics")
		require.Equal(t, http.StatusNotFound, status, "metrics are the operator's")

		// A request that waits is let in, the process is stopped, and the request gets its answer.
		waiting := make(chan int, 1)
		go func() { waiting <- postWaiting(t, apiAddr, strings.TrimSpace(key)) }()
		require.Eventually(t, func() bool {
			_, body := fetch(t, "http://"+adminAddr+"/metrics")
			return strings.Contains(body, "waybill_accept_seconds_count 1")
		}, 20*time.Second, 10*time.Millisecond)
		_, body := fetch(t, "http://"+adminAddr+"/metrics")
		for _, name := range []string{
			"waybill_requests_total{code=\"200\",route=\"GET /healthz\"}", "waybill_replays_total",
			"waybill_parcel_conflicts_total", "waybill_late_repeats_total", "waybill_replay_caller_mismatch_total 0",
			"waybill_db_connections_open", "go_goroutines",
		} {
			require.Contains(t, body, name)
		}
		stop()
		require.Equal(t, http.StatusAccepted, <-waiting)
		require.Equal(t, command.OK, <-exited, stderr.String())
	})
}

func carriersFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "carriers.yaml")
	require.NoError(t, os.WriteFile(path, []byte(carriersYAML), 0o600))
	return path
}

// listening waits for the line that says where the service listens.
func listening(t *testing.T, stderr *console) (apiAddr, adminAddr string) {
	t.Helper()
	var line struct {
		Message string `json:"msg"`
		API     string `json:"api_addr"`
		Admin   string `json:"admin_addr"`
	}
	require.Eventually(t, func() bool {
		for text := range strings.Lines(stderr.String()) {
			if json.Unmarshal([]byte(text), &line) == nil && line.Message == "listening" {
				return true
			}
		}
		return false
	}, 20*time.Second, 10*time.Millisecond, "%s", stderr)
	return line.API, line.Admin
}

func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

func postWaiting(t *testing.T, addr, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+labelsPath, strings.NewReader(validBody))
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
		keyHeader: {"label:1"}, "Prefer": {"wait=30"},
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}
