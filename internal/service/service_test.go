package service_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"waybill/internal/service"
)

func TestPoolConfig(t *testing.T) {
	t.Parallel()
	const url = "postgres://waybill:hunter2@127.0.0.1:1/waybill"
	for name, tt := range map[string]struct {
		database service.Database
		conns    int32
		mode     pgx.QueryExecMode
	}{
		"Defaults":      {service.Database{DatabaseURL: url}, 16, pgx.QueryExecModeCacheStatement},
		"None":          {service.Database{DatabaseURL: url, DBPooler: "none"}, 16, pgx.QueryExecModeCacheStatement},
		"OtherSize":     {service.Database{DatabaseURL: url + "?pool_max_conns=3"}, 3, pgx.QueryExecModeCacheStatement},
		"ThroughPooler": {service.Database{DatabaseURL: url, DBPooler: "transaction"}, 16, pgx.QueryExecModeCacheDescribe},
		"KeywordForm": {
			service.Database{DatabaseURL: "host=127.0.0.1 port=1 user=waybill password=hunter2 pool_max_conns=4"},
			4, pgx.QueryExecModeCacheStatement,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, tt.database.Validate())
			cfg, err := tt.database.PoolConfig()
			require.NoError(t, err)
			require.Equal(t, tt.conns, cfg.MaxConns)
			require.Equal(t, tt.mode, cfg.ConnConfig.DefaultQueryExecMode)
			require.Equal(t, "hunter2", cfg.ConnConfig.Password)
			require.Equal(t, tt.database.DBPooler == "transaction", tt.database.ThroughPooler())
		})
	}
}

// TestNoErrorShowsThePassword: a mistyped address is the moment at which it would be printed.
func TestNoErrorShowsThePassword(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"BadPort":         "postgres://u:hunter2@h:x/",
		"BadPortAndQuery": "postgres://u@h:x/?password=hunter2",
		"BadEscape":       "postgres://u:hunter2%zz@h/",
		"SlashInside":     "postgres://u:hunter2/more@h/db",
		"SlashInsideBad":  "postgres://u:hunter2/more@h:x/db",
		"HashInside":      "postgres://u:hunter2#more@h:x/db",
		"ControlByte":     "postgres://u:hunter2@h:x/\x7f",
		"BadParameter":    "postgres://u:hunter2@h/?pool_max_conns=many",
		"BadTimeout":      "postgres://u:hunter2@h/?connect_timeout=soon",
		"BadSSL":          "postgres://u:hunter2@h/?sslmode=perhaps",
		"KeywordForm":     "host=h port=x user=u password=hunter2",
		"KeywordQuoted":   "host=h port=x user=u password='hunter2 hunter2'",
		"KeywordBroken":   "host=h user=u password='hunter2",
		"KeywordBackTick": "host=h port=x user=u password='`: hunter2'",
		"KeywordSpaced":   "host=h port=x user=u password = hunter2",
		"NoScheme":        "u:hunter2@h/db",
		"OtherScheme":     "mysql://u:hunter2@h/db",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := service.Database{DatabaseURL: url}.Validate()
			require.Error(t, err)
			require.Contains(t, err.Error(), "DATABASE_URL")
			require.NotContains(t, err.Error(), "hunter")
		})
	}

	t.Run("ButSaysWhatIsWrong", func(t *testing.T) {
		t.Parallel()
		for url, says := range map[string]string{
			"postgres://u:hunter2@h/?pool_max_conns=many": "pool_max_conns",
			"postgres://u:hunter2@h/?sslmode=perhaps":     "sslmode",
			"host=h port=x password = hunter2":            "invalid port",
			"postgres://u:hunter2/more@h/db":              "write % as %25",
		} {
			require.ErrorContains(t, service.Database{DatabaseURL: url}.Validate(), says)
		}
	})

	t.Run("NobodyListens", func(t *testing.T) {
		t.Parallel()
		_, err := service.Database{DatabaseURL: "postgres://u:hunter2@127.0.0.1:1/db"}.Open(t.Context())
		require.ErrorContains(t, err, "reaching the database")
		require.NotContains(t, err.Error(), "hunter2")
	})
}

// checked is a readiness over a check and a clock that the test turns.
type checked struct {
	*service.Readiness

	now    time.Time
	asked  int
	result error
	ctx    context.Context //nolint:containedctx // The last one that the check was given.
}

func newChecked() *checked {
	c := &checked{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.Readiness = service.NewReadiness(func(ctx context.Context) error {
		c.asked++
		c.ctx = ctx
		if err := ctx.Err(); err != nil {
			return err
		}
		return c.result
	}, func() time.Time { return c.now })
	return c
}

func TestReadiness(t *testing.T) {
	t.Parallel()

	t.Run("IsAskedOnceASecondHoweverManyAsk", func(t *testing.T) {
		t.Parallel()
		c := newChecked()
		for range 100 {
			require.NoError(t, c.Err(t.Context()))
		}
		require.Equal(t, 1, c.asked)
		c.now = c.now.Add(time.Second - 1)
		require.NoError(t, c.Err(t.Context()))
		require.Equal(t, 1, c.asked)
		c.now = c.now.Add(1)
		require.NoError(t, c.Err(t.Context()))
		require.Equal(t, 2, c.asked)
	})

	t.Run("ANoIsRememberedAsLongAsAYes", func(t *testing.T) {
		t.Parallel()
		c := newChecked()
		c.result = errors.New("no database")
		require.ErrorIs(t, c.Err(t.Context()), c.result)
		was := c.result
		c.result = nil
		require.ErrorIs(t, c.Err(t.Context()), was)
		c.now = c.now.Add(time.Second)
		require.NoError(t, c.Err(t.Context()))
	})

	t.Run("WhoHangsUpSpoilsNobodysAnswer", func(t *testing.T) {
		t.Parallel()
		c := newChecked()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, c.Err(gone))
		deadline, bounded := c.ctx.Deadline()
		require.True(t, bounded, "a database that hangs must not hang whoever asks")
		require.LessOrEqual(t, time.Until(deadline), 2*time.Second)
	})

	t.Run("Stops", func(t *testing.T) {
		t.Parallel()
		c := newChecked()
		require.False(t, c.Stopping())
		c.Stop()
		c.Stop()
		require.True(t, c.Stopping())
	})
}

func TestLogger(t *testing.T) {
	t.Parallel()

	t.Run("WritesOneJSONObjectALine", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		logger, err := service.NewLogger("info", &out)
		require.NoError(t, err)
		logger.Debug("not this")
		logger.Named("outbox").Warn("line\nbreak \x00 \u2028", zap.String("intent_id", `"}`), zap.Error(errors.New("a\nb")))
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		require.Len(t, lines, 1)
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &line))
		require.Equal(t, "warn", line["level"])
		require.Equal(t, "outbox", line["logger"])
		require.Equal(t, "line\nbreak \x00 \u2028", line["msg"])
		require.Equal(t, `"}`, line["intent_id"])
		_, err = time.Parse(time.RFC3339Nano, line["ts"].(string))
		require.NoError(t, err)
	})

	t.Run("KnowsItsLevels", func(t *testing.T) {
		t.Parallel()
		for _, level := range []string{"debug", "info", "warn", "error"} {
			logger, err := service.NewLogger(level, &bytes.Buffer{})
			require.NoError(t, err)
			require.Equal(t, level, logger.Level().String())
		}
		_, err := service.NewLogger("loud", &bytes.Buffer{})
		require.ErrorContains(t, err, "WAYBILL_LOG_LEVEL must be debug, info, warn or error")
	})
}

func TestAdminServer(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	service.RegisterProcess(registry, nil)
	health := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	server := service.AdminServer(registry, health, zaptest.NewLogger(t))
	require.Positive(t, server.ReadHeaderTimeout, "a client that sends no header must not hold a connection for ever")
	require.Positive(t, server.IdleTimeout)
	require.Positive(t, server.MaxHeaderBytes)
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"/metrics":             {http.StatusOK, "go_goroutines"},
		"/debug/pprof/":        {http.StatusOK, "goroutine"},
		"/debug/pprof/cmdline": {http.StatusOK, "service.test"},
		"/healthz":             {http.StatusTeapot, ""},
	} {
		w := httptest.NewRecorder()
		server.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		require.Equal(t, want.status, w.Code, path)
		require.Contains(t, w.Body.String(), want.body, path)
	}
}
